import { clusterName } from "../../../lib/rules/model/ids.ts";
import { DAY_MS } from "../../../lib/rules/model/time-text.ts";
import { openService } from "../../../lib/answers/service/open.ts";
import type { Service } from "../../../lib/answers/service/service.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import { getCluster } from "../../../lib/stack/store/records/clusters.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";
import { RESTORED_IDS } from "../restores.ts";
import { listed } from "../watch/ledger.ts";
import { judge } from "./judge.ts";
import type { Observation } from "./observed.ts";
import { act, adoptTables, type DoIt, goBack, manifestOf, partitionsOf, setUp } from "./person.ts";
import { newReaders, OPS } from "./readers.ts";
import type { WeekViolation } from "./shown.ts";
import { FIRST_MAX, newWeekStage, PERIOD_MS, type WeekMistake, type WeekStage } from "./stage.ts";
import { newSyncs, type SyncOnce } from "./syncs.ts";
import { CLUSTERS, DIVIDED, PLACES, pathOf } from "./places.ts";
import {
  type Happening,
  newTimetable,
  type Outage,
  WEEKS_MS,
  WEEKS_START_MS,
  type WeekTimetable,
} from "./timetable.ts";
import type { WeekTruth } from "./truth.ts";

export interface WeekOutcome {
  readonly violation: WeekViolation | undefined;
  readonly completed: number;
  readonly observations: readonly Observation[];
  readonly truth: WeekTruth;
  readonly story: readonly string[];
}

interface WeekOptions {
  readonly told?: boolean;
  readonly mistake?: WeekMistake;
  /** Only so many days of it are played. */
  readonly days?: number;
}

/** Plays a seed of weeks, and judges afterwards what its readers were shown. */
export const playWeeks = async (
  seed: number,
  { told = false, mistake = {}, days = WEEKS_MS / DAY_MS }: WeekOptions = {},
): Promise<WeekOutcome> => {
  const stage = newWeekStage(seed, { told, mistake });
  const { scheduler, nowMs, truth, broken, story } = stage;
  const timetable = newTimetable(seed);
  await fill(stage.direct, truth);
  const observations: Observation[] = [];
  const { newProcess, tablesFor } = stage;
  const readers = newReaders({
    ...{ nowMs, random: stage.settings, newProcess, observations },
    tablesFor: (process) => {
      const { idsForReaders: ids } = mistake;
      return { ...tablesFor(process), ...(ids && { ids: async () => ids }) };
    },
    answering: mistake.answering,
  });
  const people = newPerson(stage);
  const syncOnce = newSyncs(stage, mistake);
  const happen = (happening: Happening): void => {
    if (happening.kind === "ask") readers.ask(happening.reader, happening.question);
    else if (happening.kind === "sync") syncAll(stage, timetable, happening.cluster, syncOnce);
    else if (happening.kind === "load" || happening.kind === "touch") change(stage, happening);
    else people(happening);
    scheduler.resumed();
  };
  for (const { atMs, happening } of timetable.happenings)
    scheduler.at(WEEKS_START_MS + atMs, () => {
      story.tell("happens", () => JSON.stringify(happening));
      happen(happening);
    });
  await scheduler.run(WEEKS_START_MS + days * DAY_MS, () => broken.length > 0);
  const completed = [...truth.completed.values()].reduce((sum, { length }) => sum + length, 0);
  const [violation = judge(truth, observations)] = broken;
  return { violation, completed, observations, truth, story: story.lines };
};

/** Each partition that the cluster has now, unless it is away. */
const syncAll = (
  { direct, scheduler, nowMs, random }: WeekStage,
  timetable: WeekTimetable,
  cluster: string,
  syncOnce: SyncOnce,
): void => {
  const atMs = nowMs() - WEEKS_START_MS;
  void getCluster(direct, clusterName(cluster)).then((found) => {
    for (const [index, { name: partition }] of (found?.partitions ?? []).entries()) {
      const out = outageAt(timetable, cluster, index, atMs);
      const dies = out?.dies === true && atMs === out.fromMs;
      if (!out || dies)
        scheduler.at(nowMs() + random.int(0, 500), () => syncOnce({ cluster, partition }, dies));
    }
  });
};

const change = (
  { clusters, truth, nowMs }: WeekStage,
  happening: Extract<Happening, { kind: "load" | "touch" }>,
): void => {
  const { place } = happening;
  const path = `${place.namespace}/${place.name}`;
  const cluster = clusters.get(place.cluster);
  if (happening.kind === "touch") {
    cluster?.set(path, happening.replicas);
    return;
  }
  const workload = cluster?.workloads.get(path);
  if (!workload) return;
  workload.load = happening.load;
  listed(truth.loads, pathOf(place)).push({ atMs: nowMs(), load: happening.load });
};

/** Another in its first characters, as a random one is. */
const uidOf = (by: string, made: number): string => `${by}${String(made).padStart(7, "0")}-uid`;

const RETRY_MS = 1_000;
const RETRIES_MAX = 200;

/** A person who does one thing after the other, each again until it is answered. */
const newPerson = (stage: WeekStage): ((happening: Happening) => void) => {
  const { scheduler, nowMs, story, truth, broken, broke } = stage;
  let attempts = 0;
  let uids = 0;
  const attempt = (perform: (service: Service) => Promise<unknown>): Promise<boolean> =>
    new Promise((resolve) => {
      const process = stage.newProcess(`person-${++attempts}`);
      const tables = stage.tablesFor(process);
      const service = openService({
        ...{ tables, insert: insertByStatement(tables), clock: tables.clock, by: OPS },
        newUid: () => uidOf("p", ++uids),
      });
      process.onEnd.add(() => resolve(false));
      perform(service).then(
        () => resolve(true),
        (error: unknown) => {
          broke(process.name)(error);
          resolve(false);
        },
      );
      scheduler.resumed();
    });
  const later = (ms: number): Promise<void> =>
    new Promise((resolve) =>
      scheduler.at(nowMs() + ms, () => {
        scheduler.resumed();
        resolve();
      }),
    );
  const doIt: DoIt = async (words, perform) => {
    for (let tries = 0; tries < RETRIES_MAX; tries++) {
      if (await attempt(perform)) return story.tell("person", `${words}: done`);
      await later(RETRY_MS);
    }
    broken.push({ invariant: "nothing breaks", message: `"${words}" was never done` });
  };
  const person = { nowMs, truth, doIt };
  let copied: { readonly undo: () => void; readonly thenMs: number } | undefined;
  const work = async (happening: Happening): Promise<void> => {
    if (happening.kind === "deed") await act(person, happening.deed);
    if (happening.kind === "copy") copied = { undo: stage.copy(), thenMs: nowMs() };
    if (happening.kind === "restore" && copied) restore(stage, copied);
    if (happening.kind === "adopt") await adoptTables(person);
  };
  let doing: Promise<unknown> = Promise.resolve();
  return (happening) => {
    doing = doing.then(() => work(happening)).catch(broke("person"));
  };
};

const restore = (
  { story, ids, truth, nowMs }: WeekStage,
  { undo, thenMs }: { readonly undo: () => void; readonly thenMs: number },
): void => {
  story.tell("RESTORE", `the tables go back to ${new Date(thenMs).toISOString()}`);
  undo();
  ids.now = RESTORED_IDS;
  goBack(truth, thenMs);
  truth.restored.push({ thenMs, atMs: nowMs() });
};

const outageAt = (
  { outages }: WeekTimetable,
  cluster: string,
  partition: number,
  atMs: number,
): Outage | undefined =>
  outages.find(
    (one) =>
      one.cluster === cluster &&
      (one.partition === undefined || one.partition === partition) &&
      atMs >= one.fromMs &&
      atMs < one.untilMs,
  );

/** What is there as the weeks begin, set by a person whose requests meet no fault. */
const fill = async (tables: Tables, truth: WeekTruth): Promise<void> => {
  const service = openService({
    ...{ tables, insert: insertByStatement(tables), clock: tables.clock, by: OPS },
    newUid: (() => {
      let made = 0;
      return () => uidOf("f", ++made);
    })(),
  });
  for (const name of CLUSTERS) {
    await service.addCluster({
      name,
      connection: { kind: "kubeconfig", path: "simulated" },
      syncPeriodMs: PERIOD_MS,
      force: true,
      ...(name === DIVIDED && { partitions: partitionsOf(["a", "rest"]) }),
    });
    const places = PLACES.filter(({ cluster }) => cluster === name);
    const texts = places.map((place) => ({ file: "-", text: manifestOf(place, FIRST_MAX) }));
    await service.apply(texts, { cluster: name, dryRun: false });
  }
  await setUp(service, truth);
};
