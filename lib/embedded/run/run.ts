import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ON_THIS_MACHINE } from "../../stack/cluster/access/kubeconfig-file.ts";
import { connect } from "../../stack/cluster/connect.ts";
import { clusterName } from "../../rules/model/ids.ts";
import { lines } from "../../stack/report/printed.ts";
import { DEFAULT_TIMING } from "../../stack/plan/message.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import { drive } from "../engine/event-source.ts";
import { refuseDamaged } from "../folder/damage.ts";
import { dataOption, type FolderLayout, folderLayout } from "../layout.ts";
import { beginFolder, refuseFolder, takeFolder } from "../folder/take-folder.ts";
import { liveView } from "../view/live.ts";
import { onlyShowing, plainView, type View } from "../view/plain-view.ts";
import { type SummaryInput, summaryLines } from "../view/summary.ts";
import { type Closing, closing } from "../host/closing.ts";
import { openRun, type Run } from "./open-run.ts";
import type { RunOptions } from "./options.ts";
import { runActivities } from "./run-activities.ts";
import { folderNameFor, type Setup, setupOf } from "./setup.ts";
import type { Terminal } from "../host/terminal.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import { isObject } from "../../rules/model/json.ts";
import { deploymentsOf } from "./manifest-files.ts";
import type { World } from "./world.ts";

/**
 * Between two refreshes of the view. A real cluster changes once per sync, and the picture of its
 * time once a second.
 */
const REFRESH_MS = { simulated: 250, kubeconfig: 1_000 } as const;

/**
 * One run from start to summary. It ends when its virtual time has passed or the signal aborts,
 * finishing what was begun. A start that is refused leaves everything as it was. Throws `local.*`
 * and what manifests and traces may throw; everything that was opened is closed then too. `closer`
 * closes it from outside, where something throws that nothing can catch.
 */
export const run = async (
  options: RunOptions,
  terminal: Terminal,
  stop: AbortController,
  closer: Closing = closing(),
): Promise<void> => {
  const layout = folderLayout(options.data ?? folderNameFor(options));
  refuseFolder(layout);
  await refuseKubeconfig(setupOf(layout, options));
  try {
    const say = (line: string): void => terminal.write(lines([line]));
    await opened(layout, options, { closer, say }, (begun) =>
      play(begun, { layout, options, terminal, stop }),
    );
  } catch (error) {
    // What failed first says why; what cannot be closed after it is mostly the same again.
    await closer.closeAll().catch(() => undefined);
    throw error;
  }
  await closer.closeAll();
};

const opened = async (
  layout: FolderLayout,
  options: RunOptions,
  { closer, say }: { readonly closer: Closing; readonly say: (line: string) => void },
  work: (run: Run) => Promise<void>,
): Promise<void> => {
  const taken = await takeFolder(layout, closer);
  const setup = setupOf(layout, options);
  if (setup.resumed) refuseDamaged(layout, setup.identity, "run");
  else beginFolder(layout);
  const begun = await openRun(layout, setup, options, { closer, say });
  taken.keep();
  taken.publish({
    tablesEndpoint: begun.tables.endpoint,
    queueEndpoint: begun.queues.endpoint,
    seriesUrl: begun.series.url,
    ...(begun.sourceQueuesUrl !== undefined && { sourceQueuesUrl: begun.sourceQueuesUrl }),
  });
  closer.add(() => taken.publish({}));
  await work(begun);
};

/** A kubeconfig that cannot be used is refused before anything is written. */
const refuseKubeconfig = async ({ identity }: Setup): Promise<void> => {
  if (identity.kind !== "kubeconfig" || identity.kubeconfig === undefined) return;
  const { kubeconfig: path, context, cluster = "" } = identity;
  const connection = {
    kind: "kubeconfig",
    path,
    ...(context !== undefined && { context }),
  } as const;
  const client = await connect(
    { name: clusterName(cluster), connection, kubeSystemUid: undefined },
    { clock: Date.now, trusted: ON_THIS_MACHINE },
  );
  client.close();
};

interface Played {
  readonly layout: FolderLayout;
  readonly options: RunOptions;
  readonly terminal: Terminal;
  readonly stop: AbortController;
}

const play = async (begun: Run, { layout, options, terminal, stop }: Played): Promise<void> => {
  const { clock, setup } = begun;
  const startMs = clock.now();
  const endMs = options.for === undefined ? undefined : startMs + options.for;
  const startedAt = performance.now();
  terminal.write(lines(begun.greeting));
  const view = viewOf(terminal, begun, {
    startMs: setup.identity.startMs,
    dataOption: dataOption(layout.named),
    ...(endMs !== undefined && { endMs }),
  });
  const real = setup.identity.kind === "kubeconfig";
  const { activities, close } = runActivities(
    layout,
    begun,
    view,
    real ? DEFAULT_TIMING.lifeMs : undefined,
  );
  const makeMissing = missingWorkloads(begun, view.say);
  const sending = begun.sender?.start(view.say);
  try {
    await makeMissing();
    const driven = drive({
      activities,
      clock,
      endMs: endMs ?? Number.POSITIVE_INFINITY,
      signal: stop.signal,
      oneAtATime: !real,
      nudge: begun.nudge,
    });
    const look = async (): Promise<void> => {
      await view.refresh();
      await makeMissing();
    };
    await watched(look, driven, { stop, everyMs: REFRESH_MS[setup.identity.kind] });
  } finally {
    await close();
    await sending?.stop();
  }
  await view.end();
  const autoscalers = await begun.reader.autoscalers();
  const statistics = await scaledStatistics(begun, autoscalers);
  const { startMs: beganMs } = setup.identity;
  const ran: SummaryInput = {
    playedMs: clock.now() - startMs,
    endMs: clock.now(),
    autoscalers,
    wallMs: performance.now() - startedAt,
    events: begun.reader.seen(),
    ...(statistics &&
      startMs > beganMs && {
        sinceBeginning: {
          playedMs: clock.now() - beganMs,
          events: await begun.reader.eventsSince(beganMs),
        },
      }),
    tally: begun.counter.tally(),
    pace: clock.pace(),
    ...(statistics && { statistics }),
    deadLetters: begun.queues.dead.counts().visible,
    taken: taken(layout),
  };
  const summary = summaryLines(ran, terminal.live ? terminal.stream.columns : undefined);
  terminal.write(lines(["", ...summary]));
};

const KIBIBYTE = 1_024;

const taken = (layout: FolderLayout): SummaryInput["taken"] => ({
  memoryBytes: process.resourceUsage().maxRSS * KIBIBYTE,
  disk: {
    bytes: bytesIn(layout.dir),
    tablesBytes: bytesIn(layout.tables),
    logBytes: readdirSync(layout.dir).reduce(
      (sum, name) =>
        name.startsWith(basename(layout.log)) ? sum + sizeOf(join(layout.dir, name)) : sum,
      0,
    ),
  },
});

/** Bytes of the files in a folder and in the folders in it. */
const bytesIn = (dir: string): number =>
  readdirSync(dir, { withFileTypes: true, recursive: true }).reduce(
    (sum, entry) => (entry.isFile() ? sum + sizeOf(join(entry.parentPath, entry.name)) : sum),
    0,
  );

/** A file that is removed meanwhile, as LevelDB does, has no size. */
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Statistics of the workloads that have an autoscaler. */
const scaledStatistics = async ({ worlds }: Run, autoscalers: readonly AutoscalerView[]) => {
  const targets = new Set(
    autoscalers.map(({ namespace, target }) => `${namespace}/${target?.name}`),
  );
  const all = await Promise.all(worlds.map(({ statistics }) => statistics()));
  return all.every((of) => of === undefined)
    ? undefined
    : all
        .flatMap((of) => of ?? [])
        .filter(({ namespace, name }) => targets.has(`${namespace}/${name}`));
};

/**
 * Looks at a run again and again until what is driven has ended; if either fails, the other stops.
 */
const watched = async (
  look: () => Promise<void>,
  driven: Promise<void>,
  { stop, everyMs }: { readonly stop: AbortController; readonly everyMs: number },
): Promise<void> => {
  const ended = new AbortController();
  const refreshing = (async () => {
    try {
      while (!ended.signal.aborted) {
        await look();
        await sleep(everyMs, undefined, { signal: ended.signal }).catch(() => undefined);
      }
    } catch (error) {
      stop.abort();
      throw error;
    }
  })();
  try {
    await driven;
  } finally {
    ended.abort();
    await refreshing;
  }
};

/** The view that fits the terminal. */
const viewOf = (
  terminal: Terminal,
  { reader, clock }: Pick<Run, "reader" | "clock">,
  shown: { readonly startMs: number; readonly endMs?: number; readonly dataOption: string },
): View =>
  onlyShowing(
    terminal.live
      ? liveView({ stream: terminal.stream, reader, clock, ...shown })
      : plainView({ write: terminal.write, reader, clock, ...shown }),
  );

/**
 * Real time between two looks. A look that takes long makes the next one wait for so many times as
 * long.
 */
const LOOK_EVERY_MS = 1_000;
const WAIT_FACTOR = 20;

/**
 * Makes the workloads and metrics that autoscalers ask for which were applied during a run, or
 * while it was stopped: in a simulated cluster `apply` is all that a person does. Every edit is
 * looked at once. What cannot be made is said.
 */
const missingWorkloads = (
  {
    worlds: [world],
    reader,
  }: {
    readonly worlds: readonly Pick<World, "name" | "make">[];
    readonly reader: Pick<Run["reader"], "autoscalers">;
  },
  say: (line: string) => void,
): (() => Promise<void>) => {
  const { name: cluster, make } = world ?? {};
  if (!make) return async () => {};
  const looked = new Map<string, number>();
  let nextMs = 0;
  return async () => {
    const beganMs = performance.now();
    if (beganMs < nextMs) return;
    for (const view of await reader.autoscalers()) {
      if (view.cluster !== cluster || looked.get(view.uid) === view.generation) continue;
      looked.set(view.uid, view.generation);
      for (const line of await madeFor(view, make)) say(line);
    }
    const endedMs = performance.now();
    nextMs = endedMs + Math.max(LOOK_EVERY_MS, WAIT_FACTOR * (endedMs - beganMs));
  };
};

const madeFor = async (
  { namespace, name, manifest, problem }: AutoscalerView,
  make: NonNullable<World["make"]>,
): Promise<readonly string[]> => {
  if (problem !== undefined) return [];
  try {
    const said: string[] = [];
    // The manifest was admitted when it was stored.
    const text = JSON.stringify(inNamespace(manifest, namespace));
    for (const deployment of deploymentsOf([{ file: `${namespace}/${name}`, text }], {
      validate: "ignore",
    })) {
      if ((await make(deployment)) === "made")
        said.push(
          `Made ${deployment.kind ?? "Deployment"} ${namespace}/${deployment.name} for ${name}`,
        );
    }
    return said;
  } catch (error) {
    if (!isTidemarkError(error)) throw error;
    return [error.message];
  }
};

/** As it is stored: a manifest need not say its namespace. */
const inNamespace = (manifest: unknown, namespace: string): unknown =>
  isObject(manifest) && isObject(manifest["metadata"])
    ? { ...manifest, metadata: { ...manifest["metadata"], namespace } }
    : manifest;
