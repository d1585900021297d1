import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { TakeoverPorts } from "../../lib/command/takeover/take-over-one.ts";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import type { Build } from "./beside/build.ts";
import type { Coverage } from "./coverage.ts";
import { type Damaged, planDamage } from "./damages.ts";
import { playReturns } from "./goes-back.ts";
import { happen } from "./happenings.ts";
import type { Invocation } from "./invocation.ts";
import { LONGEST_WINDOW_SECONDS } from "./manifests/bounds.ts";
import { QUIET_EDIT_MS } from "./objects/plan-objects.ts";
import type { Person } from "./people.ts";
import type { Played } from "./platform.ts";
import type { Process } from "./process.ts";
import {
  firstStack,
  freshProcess,
  joined,
  type Players,
  playRestore,
  type Side,
  sideOf,
} from "./sides.ts";
import { siteOf } from "./sites.ts";
import { closeConnections } from "./sockets/connections.ts";
import { warmClient } from "./sockets/sdk-client.ts";
import { warmReader } from "./sockets/socket-cluster.ts";
import { isClusterOverSockets, isOverSockets, newStage, START_MS, type Stage } from "./stage.ts";
import { LATE_MS } from "./tables.ts";
import { playTakeover } from "./takeovers.ts";
import { FAULTS_MS } from "./timetable.ts";
import { watchEnd } from "./watch/history.ts";
import type { Invariant, KnownEffect, Violation } from "./watch/ledger.ts";
import { watchLiveness } from "./watch/liveness.ts";
import { planCopies } from "./watch/objects.ts";

/**
 * What was under way when the faults ended comes to its end: leases, and intents whose deadline is
 * over.
 */
const UNDER_WAY_MS = 60_000;
/** Once no window stands in the way, every limit lets the whole range be crossed in this time. */
const CROSSING_MS = 90_000;
/**
 * Load is constant for so long, and then replicas are those of the run without faults; there
 * nothing waits for what faults have left behind.
 */
const CALM_QUIET_MS = LONGEST_WINDOW_SECONDS * 1_000 + CROSSING_MS;
const QUIET_MS = UNDER_WAY_MS + CALM_QUIET_MS;

/** What every seed plays at the least, and how long it may go on for it. */
const SYNCS_MIN = 200;
const MORE_MS = 15_000;
const MORE_MS_MAX = 300_000;

/**
 * A count that moved so lately may move again: the next step waits for a forbidden window of 60 s
 * at most, and for a sync.
 */
const MOVES_MS = 60_000 + MORE_MS;

/** A sync lives as long at most. */
const LOOKS_AGAIN_MS = 60_000;

/**
 * A mistake planted on purpose: ports that are wrapped, or a platform that does not keep its
 * promise.
 */
export interface Planted {
  /** What is left out, in the words of the table that it belongs to. */
  readonly leftOut: string;
  readonly ports?: (
    ports: SyncPorts,
    by: Invocation,
    client: ClusterClient,
    stage: Stage,
  ) => SyncPorts;
  /** Requests to the tables as they are executed, of syncs and of people. */
  readonly sent?: (command: unknown) => unknown;
  readonly platformEndsStalled?: false;
  /** The embedded run answers a write this long before it survives a loss of power. */
  readonly undurableMs?: number;
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
  /** Called with each item that the history gets, in order: the stream of its table. */
  readonly onHistory?: (item: Readonly<Record<string, AttributeValue>>) => void;
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

const playThrough = async (
  seed: number,
  { faults, told, planted, beside, unwatched, onHistory }: PlayOptions,
): Promise<Outcome> => {
  if (isOverSockets(seed)) await warmClient();
  if (isClusterOverSockets(seed)) await warmReader();
  const stage = newStage(seed, {
    ...{ faults, told, sent: planted?.sent, unwatched, onHistory },
  });
  const { scheduler } = stage;
  const newProcess = (name: string): Process => {
    const process: Process = {
      ...freshProcess(name),
      ...(stage.personSkew && { skewMs: stage.personSkew(), steps: true }),
    };
    stage.machine?.began(process);
    return process;
  };
  const players: Players = {
    planted,
    beside,
    newProcess,
    heirs: new Map(),
    untilMs: FAULTS_MS + QUIET_MS + MORE_MS_MAX,
  };
  const first = sideOf(firstStack(stage), players, "");
  const restored = stage.restore && playRestore(first, stage.restore, players);
  const now = (): Side => restored?.() ?? first;
  if (planted?.undurableMs !== undefined) loseAtCuts(stage, planted.undurableMs);
  planAll(stage, first, now, { faults, planted });
  const sides = (): readonly Side[] => [...new Set([first, now()])];
  const violation = (): Violation | undefined =>
    sides().find(({ stage: { ledger } }) => ledger.violation)?.stage.ledger.violation;
  const broken = (): boolean => violation() !== undefined;
  const effectsOf = (of = sides()): readonly KnownEffect[] =>
    of.flatMap(({ stage: { ledger } }) => [...ledger.effects.values()].flat());
  const quietMs = START_MS + FAULTS_MS + (faults ? QUIET_MS : CALM_QUIET_MS);
  await scheduler.run(quietMs, broken);
  const played = (): Played => joined(sides().map((side) => side.platform.played));
  // It goes on until enough syncs were seen and no count moves any more; nothing happens any more
  // that could tell the two runs apart.
  const lastEffectMs = (): number =>
    effectsOf().reduce((last, { atMs }) => Math.max(last, atMs), START_MS);
  const goesOn = (endMs: number): boolean =>
    (faults && begun(played()) < SYNCS_MIN) || endMs - lastEffectMs() < MOVES_MS;
  for (
    let endMs = quietMs;
    endMs < quietMs + MORE_MS_MAX && goesOn(endMs) && !broken();
    endMs += MORE_MS
  ) {
    await scheduler.run(endMs + MORE_MS, broken);
  }
  if (!broken()) watchRest(now(), lastFaultMs(stage, sides()) + leftMs(stage));
  // By autoscaling/v2 a workload stays at 0 where the autoscaler did not scale it to zero. What the
  // former stack scaled to zero after the copy was not scaled by the restored one.
  const emptied = new Set(
    effectsOf(restored ? [first] : []).flatMap(({ uid, to }) => (to === 0 ? [uid] : [])),
  );
  // So it does where the etcd of its cluster went back to a count of 0 that the autoscaler has left
  // since.
  const returned = new Set(stage.returns.map(({ cluster }) => cluster));
  const workloads = [...stage.clusters.keys()]
    .map((name) => siteOf(now().stage, name))
    .flatMap(({ name, workloads: inside }) =>
      [...inside]
        .filter(
          ([key, { replicas }]) =>
            replicas > 0 || !(returned.has(name) || emptied.has(`uid-${key.split("/").at(-1)}`)),
        )
        .map(([key, { replicas }]) => [`${name}/${key}`, replicas] as const),
    );
  return {
    violation: violation(),
    replicas: new Map(workloads),
    played: played(),
    effects: effectsOf().length,
    story: stage.story.lines,
    coverage: stage.coverage,
  };
};

/** Puts everything that happens into the time of the seed. */
const planAll = (
  stage: Stage,
  { people: { operator, deputy, mender, mover } }: Side,
  now: () => Side,
  { faults, planted }: { readonly faults: boolean; readonly planted: Planted | undefined },
): void => {
  const { scheduler, timetable } = stage;
  if (faults && !stage.restore)
    planDamage(scheduler, stage.damages, {
      stored: stage.stored,
      startMs: START_MS,
      damaged: mended(stage, mender),
    });
  for (const happening of timetable.happenings)
    scheduler.at(START_MS + happening.atMs, () => happen(now().stage, now().people, happening));
  for (const order of timetable.orders)
    scheduler.at(START_MS + order.atMs, () =>
      (order.by === "deputy" ? deputy : operator).order(order),
    );
  playTakeover(stage, mover, { startMs: START_MS, movesBy: movesBy(planted) });
  playReturns(stage, START_MS);
  planCopies(stage, START_MS + QUIET_EDIT_MS);
};

/** What must be so when everything has come to rest. */
const watchRest = ({ stage: { ledger, timetable }, people }: Side, calmMs: number): void => {
  watchEnd(ledger);
  if (!ledger.violation)
    watchLiveness(ledger, timetable.clusters, Math.max(calmMs, ledger.adoptedMs ?? 0));
  if (!ledger.violation && !Object.values(people).every((person) => person.idle()))
    ledger.violate("nothing breaks", "an edit was never done");
};

/**
 * At a cut the tables lose what was written in the last moment before it, though it was answered.
 */
const loseAtCuts = ({ machine, onWrite, nowMs }: Stage, undurableMs: number): void => {
  const undoes: { readonly atMs: number; readonly undo: () => void }[] = [];
  onWrite.add((undo) => undoes.push({ atMs: nowMs(), undo }));
  machine?.onCut.add(() => {
    const lost = undoes.splice(
      undoes.findLastIndex(({ atMs }) => atMs < nowMs() - undurableMs) + 1,
    );
    for (const { undo } of lost.toReversed()) undo();
  });
};

const movesBy = (planted: Planted | undefined) =>
  planted?.movesBy ?? ((ports: TakeoverPorts) => ports);

/**
 * What a person does about the damage, once it is noticed: a reset; a record comes back from a
 * backup, unless it was written anew meanwhile.
 */
const mended =
  ({ scheduler, story, ledger }: Stage, mender: Person): Damaged =>
  (damage, restore, mendAtMs) => {
    story.tell("DAMAGE", JSON.stringify(damage));
    if (damage.kind === "intent") ledger.damaged.add(damage.id);
    if (damage.kind === "page")
      ledger.damaged.add(damage.partition.slice(0, damage.partition.indexOf("/")));
    scheduler.at(mendAtMs, () => {
      if (damage.kind === "record") restore();
      else
        mender.order(
          damage.kind === "page"
            ? { verb: "reset windows", ...damage }
            : { verb: "reset intent", ...damage },
        );
    });
    // A sync that stood still meanwhile may name the page only now.
    if (damage.kind === "page")
      scheduler.at(mendAtMs + LOOKS_AGAIN_MS, () =>
        mender.order({ verb: "reset windows", ...damage }),
      );
  };

/**
 * When the last fault was over. A sync that the faults let stand still is ended at the end of its
 * life. Until then, another sync of its process may have claimed a partition. A sync that begins
 * later has met no fault.
 */
const lastFaultMs = ({ timing: { lifeMs } }: Stage, sides: readonly Side[]): number => {
  const endMs = START_MS + FAULTS_MS;
  return Math.max(
    endMs,
    Math.min(Math.max(...sides.map(({ platform }) => platform.lastEndMs())), endMs + lifeMs),
  );
};

/**
 * What the faults leave: a write that lands late and costs a sync its work, and then its lease, by
 * a clock that may be ahead.
 */
const leftMs = ({ timing: { leaseMs, clockDifferenceMs } }: Stage): number =>
  LATE_MS + leaseMs + clockDifferenceMs;

const begun = ({ completed, dropped, failed, ended }: Played): number =>
  completed + dropped + failed + ended;
