import { drawStep } from "./clock-errors.ts";
import type { Random } from "./random.ts";

/** What kind of call it is: faults are drawn more often where they are most interesting. */
export type CallKind =
  | "table"
  | "page"
  | "specs"
  | "observe"
  | "tell"
  | "recommend"
  | "connect"
  | "read"
  | "list"
  | "update"
  | "put"
  | "queue";

/**
 * What becomes of the request and its answer. `late`: no answer in time, and the request still
 * takes effect some time later. `orphaned`: the same, and the process that sent it ends at once.
 * `repeated`: something on the way sends the request twice, and gives the answer to the second.
 * `denied`: the server answers that it does not execute the request. `copied`: it is sent twice,
 * and the server executes the first and denies the second.
 */
export type Fault =
  | "none"
  | "denied"
  | "throttled"
  | "lost request"
  | "lost answer"
  | "failed before"
  | "failed after"
  | "late"
  | "orphaned"
  | "repeated"
  | "copied";

/** What becomes of one call, drawn before it is made. */
export interface Fate {
  readonly fault: Fault;
  /** Until the request is executed, and until its answer arrives after that. */
  readonly outMs: number;
  readonly backMs: number;
  /** For `late`: the share of the longest possible time after which it is executed. */
  readonly lateness: number;
  readonly before: Stall;
  readonly after: Stall;
  /** The clock of the caller steps as the request leaves: it is ahead by this much from then on. */
  readonly skewMs?: number;
  /** Of a call without another fault: it is on its way for longer (late-answers.ts). */
  readonly slow?: Slow | undefined;
}

/** When a slow request arrives and is answered, from when it was sent. */
export interface Slow {
  readonly arrivesMs: number;
  readonly answeredMs: number;
  /** The instant at which the process that sent it is killed. */
  readonly endMs?: number | undefined;
}

/**
 * What happens to the process at this point: it stops for a while, for ever, or until just before
 * the platform would end it.
 */
export type Stall =
  | { readonly kind: "none" }
  | { readonly kind: "crash" }
  | { readonly kind: "pause"; readonly ms: number }
  | { readonly kind: "brink"; readonly leftMs: number };

const NONE: Stall = { kind: "none" };
/** Every fault that a call of a kind may meet. */
export const FAULTS: Readonly<Record<CallKind, readonly Fault[]>> = {
  table: [
    "throttled",
    "lost request",
    "lost answer",
    "failed before",
    "failed after",
    "late",
    "orphaned",
  ],
  page: ["lost answer", "failed after", "late", "orphaned", "orphaned"],
  specs: ["lost request", "failed before", "throttled"],
  observe: ["lost request", "failed before", "throttled"],
  tell: ["lost request", "lost answer", "failed before", "late", "orphaned"],
  recommend: ["lost request", "failed before"],
  connect: ["lost request", "failed before"],
  read: ["lost request", "failed before"],
  list: ["lost request", "lost answer", "failed before", "throttled", "denied", "late"],
  update: [
    "lost request",
    "lost answer",
    "failed before",
    "throttled",
    "denied",
    "late",
    "orphaned",
  ],
  put: [
    "lost request",
    "lost answer",
    "failed after",
    "late",
    "late",
    "orphaned",
    "repeated",
    "denied",
    "copied",
  ],
  queue: ["lost request", "lost answer", "failed before"],
};
const LAST_WORDS: readonly Fault[] = ["none", "lost answer", "late", "late", "orphaned"];

/** How hard a seed is on its workers. */
export interface Temper {
  readonly name: string;
  /**
   * Chance per call that it goes wrong; of a PUT, where order matters most, a chance of its own.
   */
  readonly rate: number;
  readonly putRate: number;
  /** The same of the write of a windows page, the last word before a release. */
  readonly pageRate: number;
  /** Chance per workload and observation that it gives no metrics. */
  readonly metricRate: number;
  /** Chances per call that the process crashes or stands still at it. */
  readonly stallRate: number;
  /**
   * Share of late requests that are as late as can be, and of clocks that are as wrong as can be:
   * limits are tested at their edge.
   */
  readonly extreme: number;
  /** Bounds of a pause. */
  readonly pauseMs: readonly [from: number, to: number];
  /** Share of the pauses that last until just before the platform ends the process. */
  readonly brink: number;
}

const AT_THE_BRINK: Temper = {
  name: "at the brink",
  rate: 0.005,
  putRate: 0.5,
  pageRate: 0.02,
  metricRate: 0.02,
  stallRate: 0.05,
  extreme: 1,
  pauseMs: [2_000, 16_000],
  brink: 0.8,
};

/**
 * A seed draws one of them. The last three look for edges: requests as late as can be, clocks as
 * far apart as can be, and processes that stand still just before a PUT.
 */
export const TEMPERS: readonly Temper[] = [
  {
    name: "light",
    rate: 0.003,
    putRate: 0.03,
    pageRate: 0.003,
    metricRate: 0.006,
    stallRate: 0.001,
    extreme: 0.4,
    pauseMs: [100, 60_000],
    brink: 0,
  },
  {
    name: "ordinary",
    rate: 0.01,
    putRate: 0.1,
    pageRate: 0.02,
    metricRate: 0.02,
    stallRate: 0.004,
    extreme: 0.4,
    pauseMs: [100, 20_000],
    brink: 0.1,
  },
  {
    name: "heavy",
    rate: 0.04,
    putRate: 0.3,
    pageRate: 0.06,
    metricRate: 0.1,
    stallRate: 0.02,
    extreme: 0.4,
    pauseMs: [100, 60_000],
    brink: 0.1,
  },
  {
    name: "at the edge",
    rate: 0.01,
    putRate: 0.4,
    pageRate: 0.06,
    metricRate: 0.04,
    stallRate: 0.025,
    extreme: 1,
    pauseMs: [5_000, 60_000],
    brink: 0,
  },
  AT_THE_BRINK,
  AT_THE_BRINK,
];

export interface Fates {
  readonly next: (kind: CallKind) => Fate;
}

/** Nothing goes wrong; calls take a few milliseconds. */
export const calmFates = (jitter: Random): Fates => ({
  next: (kind) => ({
    fault: "none",
    ...latency(jitter, kind),
    lateness: 0,
    before: NONE,
    after: NONE,
  }),
});

const latency = (random: Random, kind: CallKind): { outMs: number; backMs: number } =>
  kind === "observe"
    ? { outMs: random.int(20, 60), backMs: random.int(5, 30) }
    : { outMs: random.int(1, 5), backMs: random.int(1, 5) };

/** Faults of every kind, as often as the temper says, until `stop`. */
export const faultyFates = (random: Random, temper: Temper, stop: () => boolean): Fates => {
  const calm = calmFates(random);
  return {
    next: (kind) => {
      if (stop()) return calm.next(kind);
      const rates = ratesOf(temper, kind);
      const before = random.chance(rates.before) ? stall(random, temper) : NONE;
      const fault = faultOf(random, kind, rates.fault, before);
      const after = random.chance(rates.after) ? stall(random, temper) : NONE;
      const lateness = random.chance(temper.extreme) ? 1 : random.real();
      const step = random.chance(rates.step) ? { skewMs: drawStep(random, temper.extreme) } : {};
      return { fault, ...latency(random, kind), lateness, before, after, ...step };
    },
  };
};

/** What is sent in the last moment of a life is often the last that is heard of it. */
const faultOf = (random: Random, kind: CallKind, rate: number, before: Stall): Fault => {
  if (before.kind === "brink") return random.pick(LAST_WORDS);
  return random.chance(rate) ? random.pick(FAULTS[kind]) : "none";
};

/** Chances of one call. */
interface Rates {
  readonly fault: number;
  /** That its caller stalls before it, and after its answer. */
  readonly before: number;
  readonly after: number;
  /** That the clock of its caller steps. */
  readonly step: number;
}

const ratesOf = (
  { rate, putRate, pageRate, metricRate, stallRate }: Temper,
  kind: CallKind,
): Rates => {
  const step = rate * STEPS;
  if (kind === "recommend")
    return { fault: metricRate, before: stallRate, after: stallRate / 2, step };
  if (kind === "put")
    return {
      fault: putRate,
      before: stallRate * PUT_STALLS,
      after: stallRate / 2,
      step: putRate * PUT_STEPS,
    };
  // A LIST of objects that fails must hold what they decide: it fails as often as a metric is
  // missing.
  if (kind === "specs") return { fault: metricRate, before: stallRate, after: stallRate, step };
  if (kind === "list" || kind === "update")
    return {
      fault: rate,
      before: stallRate / PARTS,
      after: stallRate / 2 / PARTS,
      step: step / PARTS,
    };
  return {
    fault: kind === "page" ? pageRate : rate,
    before: stallRate,
    after: stallRate / 2,
    step,
  };
};

/** Steps of a clock, as a share of the faults of a call. */
const STEPS = 0.2;
const PUT_STEPS = 0.05;

/**
 * Requests of an observation, or of a write-back: together they stall their process as often as one
 * call does.
 */
const PARTS = 8;

/**
 * A process that stands still between its last look at the clock and its PUT is what deadlines are
 * for.
 */
const PUT_STALLS = 4;

/** Time that a process on the brink has left: enough for a request to go out. */
const BRINK_MS = 400;

const stall = (random: Random, { pauseMs: [from, to], brink }: Temper): Stall => {
  if (random.chance(1 / 4)) return { kind: "crash" };
  return random.chance(brink)
    ? { kind: "brink", leftMs: random.int(1, BRINK_MS) }
    : { kind: "pause", ms: random.int(from, to) };
};
