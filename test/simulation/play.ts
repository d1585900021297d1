import type { TakeoverPorts } from "../../lib/cli/takeover/take-over-one.ts";
import type { ClusterClient } from "../../lib/cluster/cluster-client.ts";
import type { SyncPorts } from "../../lib/sync/sync-ports.ts";
import { type Build, THIS_BUILD } from "./beside/build.ts";
import type { Coverage } from "./coverage.ts";
import { type Damaged, planDamage } from "./damages.ts";
import { environments } from "./environments.ts";
import { happen } from "./happenings.ts";
import type { Invocation } from "./invocation.ts";
import { LONGEST_WINDOW_SECONDS } from "./manifests/bounds.ts";
import { planMinutes } from "./minutes.ts";
import { QUIET_EDIT_MS } from "./objects/plan-objects.ts";
import { newPerson, type Person } from "./people.ts";
import { newPlatform, type Platform, type Played } from "./platform.ts";
import { portsOf } from "./ports-of.ts";
import type { Process } from "./process.ts";
import { simulatedQueue } from "./queue.ts";
import { siteOf } from "./sites.ts";
import { closeConnections } from "./sockets/connections.ts";
import { warmClient } from "./sockets/sdk-client.ts";
import { warmReader } from "./sockets/socket-cluster.ts";
import { isClusterOverSockets, isOverSockets, newStage, START_MS, type Stage } from "./stage.ts";
import { LATE_MS } from "./tables.ts";
import { playTakeover } from "./takeovers.ts";
import { FAULTS_MS } from "./timetable.ts";
import { watchEnd } from "./watch/history.ts";
import type { Invariant, Violation } from "./watch/ledger.ts";
import { watchLiveness } from "./watch/liveness.ts";
import { planCopies } from "./watch/objects.ts";

/** What was under way when the faults ended comes to its end: leases, and intents whose deadline is over. */
const UNDER_WAY_MS = 60_000;
/** Once no window stands in the way, every limit lets the whole range be crossed in this time. */
const CROSSING_MS = 90_000;
/** Load is constant for so long, and then replicas are those of the run without faults; there nothing waits for what faults have left behind. */
const CALM_QUIET_MS = LONGEST_WINDOW_SECONDS * 1_000 + CROSSING_MS;
const QUIET_MS = UNDER_WAY_MS + CALM_QUIET_MS;

/** What every seed plays at the least, and how long it may go on for it. */
const SYNCS_MIN = 200;
const MORE_MS = 15_000;
const MORE_MS_MAX = 300_000;

/** A count that moved so lately may move again: the next step waits for a forbidden window of 60 s at most, and for a sync. */
const MOVES_MS = 60_000 + MORE_MS;

/** A sync lives as long at most. */
const LOOKS_AGAIN_MS = 60_000;

/** A mistake planted on purpose: ports that are wrapped, or a platform that does not keep its promise. */
export interface Planted {
  /** What is left out, in the words of the table that it belongs to. */
  readonly leftOut: string;
  readonly ports?: (ports: SyncPorts, by: Invocation, client: ClusterClient) => SyncPorts;
  /** Requests to the tables as they are executed, of syncs and of people. */
  readonly sent?: (command: unknown) => unknown;
  readonly platformEndsStalled?: false;
  /** The ports of the person who takes over and hands back. */
  readonly movesBy?: (ports: TakeoverPorts) => TakeoverPorts;
}

export interface PlayOptions {
  readonly faults: boolean;
  /** Keep the story, to be read. */
  readonly told: boolean;
  readonly planted?: Planted;
  /** An older build, by which a part of the environments work until the faults end. */
  readonly beside?: Build;
  /** An invariant that this seed does not tell of, so that another shows what it catches. */
  readonly unwatched?: Invariant;
}

export interface Outcome {
  readonly violation: Violation | undefined;
  /** Counts at the end, by cluster and workload. */
  readonly replicas: ReadonlyMap<string, number>;
  readonly played: Played;
  readonly effects: number;
  readonly story: readonly string[];
  readonly coverage: Coverage;
}

/** Plays one seed from beginning to end, or to its first violation. */
export const play = async (seed: number, options: PlayOptions): Promise<Outcome> => {
  try {
    // A copy, because what waited on a connection goes on once it ends.
    return structuredClone(await playThrough(seed, options));
  } finally {
    closeConnections();
  }
};

const playThrough = async (seed: number, { faults, told, planted, beside, unwatched }: PlayOptions): Promise<Outcome> => {
  if (isOverSockets(seed)) await warmClient();
  if (isClusterOverSockets(seed)) await warmReader();
  const stage = newStage(seed, { faults, told, sent: planted?.sent, unwatched });
  const { scheduler, ledger, timetable } = stage;
  const platform = platformOf(stage, planted, beside);
  const staff = {
    scheduler,
    story: stage.story,
    newProcess,
    tablesOf: (process: Process) => stage.tablesFor(process, undefined),
    edits: ledger.edits,
    stops: ledger.stops,
    timetable,
  };
  const [owner, deputy, operator, mender, mover] = [
    newPerson(staff, "owner"),
    newPerson(staff, "deputy"),
    newPerson(staff, "operator"),
    newPerson(staff, "mender"),
    newPerson(staff, "mover"),
  ];
  if (faults) planDamage(scheduler, stage.damages, { stored: stage.stored, startMs: START_MS, damaged: mended(stage, mender) });
  for (const happening of timetable.happenings) scheduler.at(START_MS + happening.atMs, () => happen(stage, { owner, deputy, operator }, happening));
  for (const order of timetable.orders) scheduler.at(START_MS + order.atMs, () => (order.by === "deputy" ? deputy : operator).order(order));
  playTakeover(stage, mover, { startMs: START_MS, movesBy: movesBy(planted) });
  planCopies(stage, START_MS + QUIET_EDIT_MS);
  const broken = (): boolean => ledger.violation !== undefined;
  const quietMs = START_MS + FAULTS_MS + (faults ? QUIET_MS : CALM_QUIET_MS);
  await scheduler.run(quietMs, broken);
  // It goes on until enough syncs were seen and no count moves any more; nothing happens any more that could tell the two runs apart.
  const goesOn = (endMs: number): boolean => (faults && begun(platform.played) < SYNCS_MIN) || endMs - lastEffectMs(ledger) < MOVES_MS;
  for (let endMs = quietMs; endMs < quietMs + MORE_MS_MAX && goesOn(endMs) && !broken(); endMs += MORE_MS) {
    await scheduler.run(endMs + MORE_MS, broken);
  }
  if (!ledger.violation) watchEnd(ledger);
  if (!ledger.violation) watchLiveness(ledger, timetable.clusters, lastFaultMs(stage, platform) + leftMs(stage));
  if (!ledger.violation && ![owner, deputy, operator, mender, mover].every((person) => person.idle()))
    ledger.violate("nothing breaks", "an edit was never done");
  const workloads = [...stage.clusters.keys()]
    .map((name) => siteOf(stage, name))
    .flatMap(({ name, workloads: inside }) => [...inside].map(([key, { replicas }]) => [`${name}/${key}`, replicas] as const));
  return {
    violation: ledger.violation,
    replicas: new Map(workloads),
    played: platform.played,
    effects: [...ledger.effects.values()].reduce((sum, { length }) => sum + length, 0),
    story: stage.story.lines,
    coverage: stage.coverage,
  };
};

const movesBy = (planted: Planted | undefined) => planted?.movesBy ?? ((ports: TakeoverPorts) => ports);

/** What a person does about the damage, once it is noticed: a reset; a record comes back from a backup, unless it was written anew meanwhile. */
const mended =
  ({ scheduler, story, ledger }: Stage, mender: Person): Damaged =>
  (damage, restore, mendAtMs) => {
    story.tell("DAMAGE", JSON.stringify(damage));
    if (damage.kind === "intent") ledger.damaged.add(damage.id);
    if (damage.kind === "page") ledger.damaged.add(damage.partition.slice(0, damage.partition.indexOf("/")));
    scheduler.at(mendAtMs, () => {
      if (damage.kind === "record") restore();
      else mender.order(damage.kind === "page" ? { verb: "reset windows", ...damage } : { verb: "reset intent", ...damage });
    });
    // A sync that stood still meanwhile may name the page only now.
    if (damage.kind === "page") scheduler.at(mendAtMs + LOOKS_AGAIN_MS, () => mender.order({ verb: "reset windows", ...damage }));
  };

/**
 * When the last fault was over. A sync that the faults let stand still is ended at the end of its life. Until then, another sync of its process may have claimed a partition. A sync that begins
 * later has met no fault.
 */
const lastFaultMs = ({ timing: { lifeMs } }: Stage, platform: Platform): number => {
  const endMs = START_MS + FAULTS_MS;
  return Math.max(endMs, Math.min(platform.lastEndMs(), endMs + lifeMs));
};

/** What the faults leave: a write that lands late and costs a sync its work, and then its lease, by a clock that may be ahead. */
const leftMs = ({ timing: { leaseMs, clockDifferenceMs } }: Stage): number => LATE_MS + leaseMs + clockDifferenceMs;

const lastEffectMs = ({ effects }: Stage["ledger"]): number =>
  Math.max(START_MS, ...[...effects.values()].flatMap((made) => made.map(({ atMs }) => atMs)));

const begun = ({ completed, dropped, failed, ended }: Played): number => completed + dropped + failed + ended;

const platformOf = (stage: Stage, planted: Planted | undefined, beside: Build | undefined): Platform => {
  const { scheduler, network, story, random, rate, ledger } = stage;
  const platform = newPlatform({
    scheduler,
    network,
    story,
    random,
    environments: environments(network, { random, rate, extreme: stage.temper.extreme }, { ...stage, ...(beside && { beside }) }),
    queue: () => queue,
    lifeMs: stage.timing.lifeMs,
    portsOf: (by) => portsOf(stage, by, planted),
    endsStalled: planted?.platformEndsStalled ?? true,
    broke: (error, by) => {
      // A planted mistake may well lead to others, and an older build need not read what a later one stores: what counts is what they do to the world.
      if (!planted && by.process.build === THIS_BUILD)
        ledger.violate("nothing breaks", error instanceof Error ? (error.stack ?? error.message) : String(error));
    },
  });
  const queue = simulatedQueue(scheduler, network, { rate, random }, platform.deliver);
  planMinutes(stage, FAULTS_MS + QUIET_MS + MORE_MS_MAX, queue, newProcess);
  return platform;
};

const newProcess = (name: string): Process => ({
  name,
  skewMs: 0,
  pausedUntilMs: 0,
  alive: true,
  build: THIS_BUILD,
  cache: THIS_BUILD.warmCache(),
  busy: 0,
  endsMs: Number.POSITIVE_INFINITY,
  onEnd: new Set(),
});
