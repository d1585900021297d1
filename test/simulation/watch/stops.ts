import type { ScaleWrite } from "../../../lib/cluster/port.ts";
import { THIS_BUILD } from "../beside/build.ts";
import { SKEW_MAX_MS } from "../clock-errors.ts";
import type { Invocation } from "../invocation.ts";
import { besideWhat } from "../rivals.ts";
import type { Item } from "./head.ts";
import type { Ledger } from "./ledger.ts";
import { sentIntent } from "./sent-intent.ts";

/** Everything that is stopped as a whole: the fleet, a cluster. What stops an autoscaler, the history of its edits tells (edits.ts). */
export interface Stops {
  /** The next number of what the world does, so that two things at one instant have an order. */
  readonly tick: () => number;
  /** A record of the fleet or of a cluster was written. */
  readonly recordWritten: (key: string, after: Item | undefined) => void;
  /** The overrides of the fleet and of this cluster that were stored before a claim, and still are, and hold at an instant. */
  readonly overriding: (place: OverriddenPlace, claimedAt: number, nowMs: number) => readonly StoredOverride[];
  /** What had stopped this cluster before a claim was made, and still does. */
  readonly stopping: (cluster: string, claimedAt: number) => string | undefined;
}

interface OverriddenPlace {
  readonly cluster: string;
  readonly namespace: string;
}

/** An override as the item says it, and since when it is stored with this end. */
interface StoredOverride {
  readonly id: string;
  /** Absent for all of the fleet or of the cluster. */
  readonly namespace: string | undefined;
  readonly since: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly hold: boolean;
  readonly min: number | undefined;
  readonly max: number | undefined;
}

const overridesIn = (item: Item | undefined, before: readonly StoredOverride[], since: number): readonly StoredOverride[] =>
  (item?.["overrides"]?.L ?? []).flatMap(({ M: one }) => {
    const numberIn = (fields: Item | undefined, name: string): number | undefined =>
      fields?.[name]?.N === undefined ? undefined : Number(fields[name]?.N);
    const id = one?.["id"]?.S ?? "";
    const set = one?.["set"]?.M;
    const times = { fromMs: numberIn(one, "fromMs") ?? 0, untilMs: numberIn(one, "untilMs") ?? Infinity };
    const bounds = { hold: set?.["hold"]?.BOOL === true, min: numberIn(set, "min"), max: numberIn(set, "max") };
    // A claim from before an extension has read the earlier end.
    const known = before.find((other) => other.id === id && other.untilMs === times.untilMs);
    return [{ id, namespace: one?.["namespace"]?.S, since: known?.since ?? since, ...times, ...bounds }];
  });

export const newStops = (): Stops => {
  /** Since when each is stopped. */
  const stopped = new Map<string, number>();
  const overrides = new Map<string, readonly StoredOverride[]>();
  let ticks = 0;
  const tick = (): number => ++ticks;
  return {
    tick,
    recordWritten: (key, after) => {
      overrides.set(key, overridesIn(after, overrides.get(key) ?? [], tick()));
      if ((after?.["frozen"] ?? after?.["paused"]) === undefined) stopped.delete(key);
      else if (!stopped.has(key)) stopped.set(key, tick());
    },
    overriding: ({ cluster, namespace }, claimedAt, nowMs) =>
      ["fleet", `cluster ${cluster}`]
        .flatMap((key) => overrides.get(key) ?? [])
        .filter((one) => one.namespace === undefined || one.namespace === namespace)
        .filter(({ since, fromMs, untilMs }) => since < claimedAt && fromMs <= nowMs && nowMs < untilMs),
    stopping: (cluster, claimedAt) => ["fleet", `cluster ${cluster}`].find((key) => (stopped.get(key) ?? Infinity) < claimedAt),
  };
};

/** Looks at a PUT that is being sent: a sync that claimed after a freeze or a pause was stored sends none; nor for a workload that has another controller which it could know of. */
export const watchSent = (ledger: Ledger, by: Invocation, write: ScaleWrite, way: { readonly overSockets: boolean }): void => {
  const target = write.target.name;
  const words = `${by.name} sends a PUT of "${target}" to ${write.replicas}`;
  // Beside its own autoscaler a workload may have another one, with a name of its own.
  const known = sentIntent(ledger, by, write);
  const intent = known?.intent;
  // An earlier release knows no overrides.
  const knowsOverrides = by.process.build === THIS_BUILD;
  const overriding =
    known?.decided && knowsOverrides
      ? ledger.stops.overriding({ cluster: by.message.cluster, namespace: write.namespace }, by.claimedAt, known.decided.input.nowMs)
      : [];
  const outside = outsideOf(overriding, write.replicas);
  if (outside !== undefined)
    ledger.violate("nothing is written outside the bounds that hold at the instant of the decision", `${words}, and ${outside}`);
  const name = intent?.name ?? target;
  const whole = ledger.stops.stopping(by.message.cluster, by.claimedAt);
  const stop = whole ?? (ledger.edits.isStopped(name, by.claimedAt) ? `autoscaler ${name}` : undefined);
  if (stop) ledger.violate("nothing is sent that was claimed after a freeze or a pause", `${words}, and "${stop}" was stopped before its claim`);
  const { skewMs } = by.process;
  if (Math.abs(skewMs) > SKEW_MAX_MS)
    ledger.violate("nothing is sent under a clock that is wrong", `${words}, and its clock is wrong by ${skewMs} ms`);
  if (by.rivals.has(target)) ledger.violate("nothing is sent where another controller was seen or may be", words);
  const beside = intent && besideWhat(ledger.rivals, by, intent.uid, way);
  if (beside !== undefined)
    ledger.violate("nothing is sent where another controller was seen or may be", `${words}, and another controller is there: ${beside}`);
};

/** Which override forbids this count. Two of one kind stand side by side only where an attempt was repeated, and then say the same. A floor goes before a ceiling. */
const outsideOf = (overrides: readonly StoredOverride[], replicas: number): string | undefined => {
  const min = Math.max(0, ...overrides.flatMap((one) => one.min ?? []));
  const wrong = overrides.find((one) => one.hold || (one.max !== undefined && replicas > Math.max(one.max, min)) || replicas < (one.min ?? 0));
  return wrong && `the override "${wrong.id}" (${wrong.hold ? "hold" : `min ${wrong.min}, max ${wrong.max}`}) holds`;
};
