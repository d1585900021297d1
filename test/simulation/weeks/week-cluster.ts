import type {
  ClusterClient,
  Observed,
  ScaleAnswer,
  ScaleWrite,
} from "../../../lib/stack/cluster/cluster-client.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import { NO_METRICS, observationOf, scaleRead } from "../../observation.ts";
import { BROKEN } from "../cluster-client.ts";
import type { Network, Process } from "../process.ts";

const LOAD = queryKey({ for: "external", metric: "load", metricSelector: "" });

export interface WeekWorkload {
  replicas: number;
  version: number;
  /** In replicas: what its autoscaler asks for. */
  load: number;
}

/** A cluster of the weeks: counts and loads, and every count that there ever was. */
export interface WeekCluster {
  readonly name: string;
  /** By NAMESPACE/NAME. */
  readonly workloads: Map<string, WeekWorkload>;
  readonly set: (path: string, replicas: number) => void;
  readonly clientFor: (process: Process) => ClusterClient;
}

const SILENT = { code: 0, reason: "Timeout", message: "no answer in time" } as const;

export const weekCluster = (
  name: string,
  paths: readonly string[],
  network: Network,
  onCount: (path: string, replicas: number) => void,
): WeekCluster => {
  const workloads = new Map(paths.map((path) => [path, { replicas: 2, version: 1, load: 2 }]));
  const set = (path: string, replicas: number): void => {
    const found = workloads.get(path);
    if (!found || found.replicas === replicas) return;
    found.replicas = replicas;
    found.version++;
    onCount(path, replicas);
  };
  const read = (path: string): Observed["observation"]["scale"] => {
    const found = workloads.get(path);
    if (!found) return { kind: "failed", failure: { ...SILENT, code: 404, reason: "NotFound" } };
    return scaleRead(found.replicas, {
      selector: `app=${path}`,
      uid: `uid-of-${path}`,
      resourceVersion: String(found.version),
      generation: found.version,
    });
  };
  const observed = (path: string): Observed => ({
    observation: observationOf({
      scale: read(path),
      answers: {
        external: new Map([
          [
            LOAD,
            {
              kind: "answered",
              items: [
                {
                  milli: BigInt(Math.round((workloads.get(path)?.load ?? 0) * 1_000)),
                  timestampMs: 0,
                },
              ],
            },
          ],
        ]),
      },
    }),
    rivals: [],
  });
  const unseen: Observed = {
    observation: observationOf({
      scale: { kind: "failed", failure: SILENT },
      answers: { external: new Map([[LOAD, NO_METRICS]]) },
    }),
    rivals: [],
  };
  const put = (path: string, { resourceVersion, replicas }: ScaleWrite): ScaleAnswer => {
    const found = workloads.get(path);
    if (!found || String(found.version) !== resourceVersion)
      return {
        kind: "conflict",
        failure: { code: 409, reason: "Conflict", message: "the object has been modified" },
      };
    set(path, replicas);
    return {
      kind: "applied",
      resourceVersion: String(found.version),
      generation: found.version,
    };
  };
  return {
    name,
    workloads,
    set,
    clientFor: (process) => ({
      observe: async (watched, { budgetMs }) => ({
        observations: await network.call<ReadonlyMap<(typeof watched)[number]["uid"], Observed>>(
          process,
          {
            ...{ kind: "observe", name: "observe", what: `observe ${name}` },
            ...{ timeoutMs: budgetMs, lateMs: 0 },
            execute: () =>
              new Map(
                watched.map(({ uid, namespace, spec }) => [
                  uid,
                  observed(`${namespace}/${spec.target.name}`),
                ]),
              ),
            unclear: () => new Map(watched.map(({ uid }) => [uid, unseen])),
          },
        ),
        ...{ calls: 1, bytes: 0 },
      }),
      putScale: (write, timeoutMs) =>
        network.call(process, {
          ...{ kind: "put", name: "put", what: `PUT ${write.target.name} to ${write.replicas}` },
          // The server executes a request until the timeout that it was given, and not after.
          ...{ timeoutMs, lateMs: timeoutMs },
          execute: () => put(`${write.namespace}/${write.target.name}`, write),
          unclear: ({ fault }) =>
            fault === "denied" || fault === "copied"
              ? { kind: "refused", failure: { code: 403, reason: "Forbidden", message: "denied" } }
              : { kind: "unclear", failure: fault === "failed after" ? BROKEN : SILENT },
        }),
      readScale: (namespace, target, timeoutMs) =>
        network.call(process, {
          ...{ kind: "read", name: "read scale", what: `GET ${target.name}` },
          ...{ timeoutMs, lateMs: 0 },
          execute: () => read(`${namespace}/${target.name}`),
          unclear: () => ({ kind: "failed", failure: SILENT }),
        }),
      listSpecs: async () => ({ listings: [], calls: 0, bytes: 0 }),
      recommend: async () => ({ kind: "failed", failure: SILENT }),
      close: () => undefined,
    }),
  };
};
