import { type Build, THIS_BUILD } from "./beside/build.ts";
import { environments } from "./environments.ts";
import { planMinutes } from "./minutes.ts";
import { newPerson, type Person } from "./people.ts";
import { newPlatform, type Platform, type Played } from "./platform.ts";
import type { Planted } from "./play.ts";
import { portsOf } from "./ports-of.ts";
import type { Process } from "./process.ts";
import { simulatedQueue } from "./queue.ts";
import { adoptRestored, type PlannedRestore, playLoads } from "./restores.ts";
import { START_MS, type Stage } from "./stage.ts";
import type { Stack } from "./watch/restored.ts";

/** One stack: its tables, its functions, and the people who work with it. */
export interface Side {
  readonly stage: Stage;
  readonly platform: Platform & Warm;
  readonly people: Readonly<Record<"owner" | "deputy" | "operator" | "mender" | "mover", Person>>;
}

/** Where tables go back, the stack before that has a name, so that two can be told apart. */
export const firstStack = (stage: Stage): Stage =>
  stage.restore
    ? {
        ...stage,
        stack: { name: "former", ledger: stage.ledger, other: undefined, mayScale: true },
      }
    : stage;

export const sideOf = (stage: Stage, players: Players, suffix: string): Side => {
  const { scheduler, ledger, timetable } = stage;
  const staff = {
    scheduler,
    story: stage.story,
    newProcess: players.newProcess,
    tablesOf: (process: Process) => stage.tablesFor(process, undefined),
    edits: ledger.edits,
    stops: ledger.stops,
    timetable,
  };
  const platform = platformOf(stage, players);
  const named = (name: string): Person => newPerson(staff, `${name}${suffix}`);
  return {
    stage,
    platform,
    people: {
      owner: named("owner"),
      deputy: named("deputy"),
      operator: named("operator"),
      mender: named("mender"),
      mover: named("mover"),
    },
  };
};

/**
 * The tables are copied at the instant of the restore; the stack with the copies works from the end
 * of its deployment on. Returns that stack, once it is there.
 */
export const playRestore = (
  first: Side,
  plan: PlannedRestore,
  players: Players,
): (() => Side | undefined) => {
  const { stage } = first;
  const { scheduler } = stage;
  let second: Side | undefined;
  let copies: Stage | undefined;
  scheduler.at(START_MS + plan.thenMs, () => {
    const copy = stage.copy();
    const stack: Stack = {
      name: "restored",
      ledger: copy.ledger,
      other: stage.stack,
      mayScale: false,
    };
    if (stage.stack) stage.stack.other = stack;
    copies = { ...stage, ...copy, stack };
  });
  playLoads(stage, plan, START_MS);
  if (plan.freezeMs !== undefined)
    scheduler.at(START_MS + plan.freezeMs, () => first.people.operator.order({ verb: "freeze" }));
  scheduler.at(START_MS + plan.atMs, () => {
    if (!copies) throw new TypeError("the tables were not copied");
    stage.story.tell(
      "tables",
      `are restored to ${plan.thenMs} ms${plan.sameName ? ", under their names" : ""}`,
    );
    second = sideOf(
      copies,
      { ...players, fromMs: plan.atMs, warm: plan.sameName ? first.platform.warm() : [] },
      "2",
    );
  });
  scheduler.at(START_MS + plan.adoptMs, () => {
    if (second?.stage.stack)
      adoptRestored(second.stage, second.stage.stack, { restorer: second.people.operator, plan });
  });
  players.heirs.set(stage, () =>
    scheduler.nowMs() >= START_MS + plan.formerUntilMs ? second?.platform : undefined,
  );
  return () => second;
};

export const joined = (all: readonly Played[]): Played => {
  const sum: Played = { completed: 0, dropped: 0, failed: 0, ended: 0 };
  for (const one of all)
    for (const how of ["completed", "dropped", "failed", "ended"] as const) sum[how] += one[how];
  return sum;
};

export interface Players {
  readonly planted: Planted | undefined;
  readonly beside: Build | undefined;
  readonly newProcess: (name: string) => Process;
  /** By stage: the platform that takes over its messages, once it does. */
  readonly heirs: Map<Stage, () => Platform | undefined>;
  /**
   * Of a stack that begins later: when, after the start, and the environments that it takes over.
   */
  readonly fromMs?: number;
  readonly warm?: readonly Process[];
  /** Until when, after the start, calls of the scheduler come. */
  readonly untilMs: number;
}

interface Warm {
  /** The environments that are alive. */
  readonly warm: () => readonly Process[];
}

const platformOf = (
  stage: Stage,
  { planted, beside, newProcess, heirs, fromMs, warm, untilMs }: Players,
): Platform & Warm => {
  const { scheduler, network, story, random, rate, ledger } = stage;
  const places = environments(
    network,
    { random, rate, extreme: stage.temper.extreme },
    { ...stage, ...(beside && { beside }), ...(warm && { warm }) },
  );
  const platform = newPlatform({
    scheduler,
    network,
    story,
    random,
    environments: places,
    queue: () => queue,
    lifeMs: stage.timing.lifeMs,
    machine: stage.machine,
    portsOf: (by) => portsOf(stage, by, planted),
    endsStalled: planted?.platformEndsStalled ?? true,
    broke: (error, by) => {
      // A planted mistake may well lead to others, and an older build need not read what a later
      // one stores: what counts is what they do to the world.
      if (!planted && by.process.build === THIS_BUILD)
        ledger.violate(
          "nothing breaks",
          error instanceof Error ? (error.stack ?? error.message) : String(error),
        );
    },
  });
  const queue = simulatedQueue(
    scheduler,
    network,
    { rate, random, queued: ledger.queued },
    (queued) => (heirs.get(stage)?.() ?? platform).deliver(queued),
  );
  planMinutes(
    stage,
    fromMs === undefined
      ? { untilMs: stage.restore?.formerUntilMs ?? untilMs }
      : { fromMs, untilMs },
    queue,
    newProcess,
  );
  return { ...platform, warm: () => places.all.filter(({ alive }) => alive) };
};

export const freshProcess = (name: string): Process => ({
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
