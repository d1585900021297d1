import { isTidemarkError } from "../../../lib/rules/model/errors.ts";
import type { Service } from "../../../lib/answers/service/service.ts";
import { loadManifest } from "../../bench/load-cluster.ts";
import { OPS, TENANT_ARN } from "./readers.ts";
import { TENANT_CLUSTER } from "./observed.ts";
import { NAMESPACES, type Place, pathOf, PLACES } from "./places.ts";
import type { Deed } from "./timetable.ts";
import type { WeekTruth } from "./truth.ts";

/** Repeats what a person does until it is answered: in a new process where the last one died. */
export type DoIt = (
  words: string,
  perform: (service: Service) => Promise<unknown>,
) => Promise<void>;

interface World {
  readonly nowMs: () => number;
  readonly truth: WeekTruth;
  readonly doIt: DoIt;
}

export const manifestOf = ({ namespace, name }: Place, max: number): string => {
  const manifest = JSON.parse(loadManifest(name, namespace)) as {
    metadata: object;
    spec: object;
  };
  return JSON.stringify({
    ...manifest,
    metadata: { ...manifest.metadata, labels: { app: name } },
    spec: { ...manifest.spec, maxReplicas: max },
  });
};

/** The partitions of the divided cluster, by their names: the first has one namespace. */
export const partitionsOf = ([first = "", second = ""]: readonly string[]) => {
  const of = (name: string) => ({
    name,
    ...(name !== "rest" && { namespaces: [NAMESPACES[0] as string] }),
  });
  return [of(first), of(second)];
};

/** Does one thing, and notes since when it may be true, and since when it is. */
export const act = async (world: World, deed: Deed): Promise<void> => {
  const { truth, nowMs, doIt } = world;
  const begunMs = nowMs();
  const edit = async (
    verb: string,
    place: Place,
    after: { readonly max: number; readonly pausedUntilMs?: number } | undefined,
    perform: (service: Service) => Promise<unknown>,
  ): Promise<void> => {
    const path = pathOf(place);
    const told = truth.wanted.get(path);
    const before = told?.now();
    if (!told || (before === undefined && verb !== "apply")) return;
    told.begin(after);
    await doIt(`${verb} ${path}`, perform);
    told.done();
    if (JSON.stringify(before) !== JSON.stringify(after))
      truth.edits.push({ verb, path, begunMs, doneMs: nowMs() });
  };
  switch (deed.verb) {
    case "apply": {
      const { place, max } = deed;
      const { pausedUntilMs } = truth.wanted.get(pathOf(place))?.now() ?? {};
      return edit("apply", place, { max, ...(pausedUntilMs && { pausedUntilMs }) }, (service) =>
        service.apply([{ file: "-", text: manifestOf(place, max) }], {
          cluster: place.cluster,
          dryRun: false,
        }),
      );
    }
    case "delete":
      return edit("delete", deed.place, undefined, (service) => service.delete(deed.place));
    case "pause": {
      const pausedUntilMs = nowMs() + deed.forMs;
      const max = truth.wanted.get(pathOf(deed.place))?.now()?.max ?? 0;
      return edit("pause", deed.place, { max, pausedUntilMs }, (service) =>
        service.pause(deed.place, pausedUntilMs),
      );
    }
    case "resume": {
      const { max = 0, pausedUntilMs = 0 } = truth.wanted.get(pathOf(deed.place))?.now() ?? {};
      // One that has ended is resumed without a change.
      if (pausedUntilMs < nowMs()) return;
      return edit("resume", deed.place, { max }, (service) => service.resume(deed.place));
    }
    case "pause cluster": {
      const told = truth.pausedClusters.get(deed.cluster);
      const untilMs = nowMs() + deed.forMs;
      told?.begin(untilMs);
      await doIt(`pause ${deed.cluster}`, (service) => service.pauseCluster(deed.cluster, untilMs));
      return told?.done();
    }
    case "freeze":
    case "thaw":
      truth.frozen.begin(deed.verb === "freeze");
      await doIt(deed.verb, (service) =>
        deed.verb === "freeze" ? service.freeze("to see what is shown") : service.thaw(),
      );
      return truth.frozen.done();
    case "partitions":
      return doIt(`partitions ${deed.names.join(" ")}`, (service) =>
        service.replaceCluster({ name: deed.cluster, partitions: partitionsOf(deed.names) }),
      );
    case "grant": {
      const before = truth.granted.now();
      truth.granted.begin([...new Set([...before, ...deed.namespaces])]);
      await doIt("grant", (service) => grantAll(service, deed.namespaces));
      truth.granted.done();
      truth.granted.begin(deed.namespaces);
      await doIt("revoke", (service) => revokeOthers(service, deed.namespaces));
      return truth.granted.done();
    }
  }
};

const grantAll = async (service: Service, namespaces: readonly string[]): Promise<void> => {
  for (const namespace of namespaces)
    await service.grantAccess({
      ...{ arn: TENANT_ARN, role: "view", cluster: TENANT_CLUSTER, namespace },
    });
};

const revokeOthers = async (service: Service, namespaces: readonly string[]): Promise<void> => {
  const { grants } = await service.access();
  for (const { id, arn, namespace } of grants)
    if (arn === TENANT_ARN && !namespaces.includes(namespace ?? ""))
      await service.revokeAccess(id).catch(isGone);
};

const isGone = (error: unknown): void => {
  if (!isTidemarkError(error, "service.unknown")) throw error;
};

/** What a person has set up before the weeks begin. */
export const setUp = async (service: Service, truth: WeekTruth): Promise<void> => {
  await service.grantAccess({ arn: OPS, role: "edit", cluster: "*" });
  await grantAll(service, truth.granted.now());
  await service.requireAccess(true);
};

/** After a restore: the tables are adopted, and everything is again as it was wanted. */
export const adoptTables = async ({ truth, doIt, nowMs }: World): Promise<void> => {
  truth.frozen.begin(true);
  await doIt("adopt", (service) =>
    service.adopt().catch((error: unknown) => {
      // An attempt whose answer was lost has adopted them.
      if (!isTidemarkError(error, "service.not-restored")) throw error;
    }),
  );
  truth.frozen.done();
  await act({ truth, doIt, nowMs }, { verb: "thaw" });
};

/** Everything that people can set goes back with the tables. */
export const goBack = (truth: WeekTruth, thenMs: number): void => {
  const all = [...truth.wanted.values(), ...truth.pausedClusters.values()];
  for (const told of [...all, truth.frozen, truth.granted]) told.goBack(thenMs);
};

export const PATHS: readonly string[] = PLACES.map(pathOf);
