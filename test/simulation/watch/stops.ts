import type { ScaleWrite } from "../../../lib/stack/cluster/cluster-client.ts";
import {
  type AutoscalerRef,
  autoscalerName,
  clusterName,
  namespace,
} from "../../../lib/rules/model/ids.ts";
import type { DecideInput } from "../../../lib/rules/policy/decide.ts";
import { autoscalerKey, CLUSTER_SK_PREFIX, fleetKey } from "../../../lib/stack/store/table/keys.ts";
import { THIS_BUILD } from "../beside/build.ts";
import { SKEW_MAX_MS } from "../clock-errors.ts";
import type { Invocation } from "../invocation.ts";
import { besideWhat } from "../rivals.ts";
import { outsideOf, overridesIn, type StoredOverride } from "./bounds.ts";
import { CLOCK_ALLOWANCE_MS } from "./clocks.ts";
import type { Item } from "./head.ts";
import type { Ledger } from "./ledger.ts";
import { sentIntent } from "./sent-intent.ts";

/**
 * Everything that is stopped as a whole: the fleet, a cluster. What stops an autoscaler, the
 * history of its edits tells (edits.ts).
 */
export interface Stops {
  /** The next number of what the world does, so that two things at one instant have an order. */
  readonly tick: () => number;
  /**
   * A record of the fleet or of a cluster was written. Returns the ids of overrides that the write
   * dropped though they hold.
   */
  readonly recordWritten: (key: string, after: Item | undefined) => readonly string[];
  /**
   * The record of an autoscaler was written. Returns the ids of overrides that the write dropped
   * though they hold.
   */
  readonly autoscalerWritten: (
    process: string,
    before: Item | undefined,
    after: Item | undefined,
  ) => readonly string[];
  /** An editor had the answer to an edit. */
  readonly answered: (process: string) => void;
  /**
   * The overrides that hold at an instant, as a sync with this claim knows them; undefined where
   * they were edited since.
   */
  readonly overriding: (
    place: AutoscalerRef,
    claimedAt: number,
    nowMs: number,
  ) => readonly StoredOverride[] | undefined;
  /** What had stopped this cluster before a claim was made, and still does. */
  readonly stopping: (cluster: string, claimedAt: number) => string | undefined;
}

/** The overrides of one item of the table. */
interface Overridden {
  readonly list: readonly StoredOverride[];
  /**
   * When a sync with a later claim goes by them: since the write for the fleet and for clusters,
   * whose items each claim reads, and since the answer to its editor for an autoscaler.
   */
  knownAt: number;
  /** Who wrote it. */
  readonly process: string;
}

const NONE: Overridden = { list: [], knownAt: 0, process: "" };
const isSame = (one: readonly StoredOverride[], other: readonly StoredOverride[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const holdsAt = ({ fromMs, untilMs }: StoredOverride, nowMs: number): boolean =>
  fromMs <= nowMs && nowMs < untilMs;

/** The overrides that are gone before their end, as people have set and extended them. */
const droppedOf = (
  before: readonly StoredOverride[],
  after: readonly StoredOverride[],
  nowMs: number,
): readonly string[] =>
  before
    .filter(
      ({ id, untilMs }) =>
        untilMs > nowMs + CLOCK_ALLOWANCE_MS && !after.some((one) => one.id === id),
    )
    .map(({ id }) => id);

export const newStops = (nowMs: () => number): Stops => {
  /** Since when each is stopped. */
  const stopped = new Map<string, number>();
  const overrides = new Map<string, Overridden>();
  let ticks = 0;
  const tick = (): number => ++ticks;
  return {
    tick,
    recordWritten: (key, after) => {
      const list = overridesIn(after, key === "fleet" ? "fleet" : "cluster");
      const known = overrides.get(key)?.list ?? [];
      // A cluster that is removed takes its overrides along.
      const dropped = after?.["deletedMs"] === undefined ? droppedOf(known, list, nowMs()) : [];
      if (!isSame(list, known)) overrides.set(key, { list, knownAt: tick(), process: "" });
      if ((after?.["frozen"] ?? after?.["paused"]) === undefined) stopped.delete(key);
      else if (!stopped.has(key)) stopped.set(key, tick());
      return dropped;
    },
    autoscalerWritten: (process, before, after) => {
      const key = itemKey(after);
      const list = overridesIn(after, "autoscaler");
      const [known, isSameOne] = [
        overridesIn(before, "autoscaler"),
        before?.["uid"]?.S === after?.["uid"]?.S,
      ];
      // What its editor knows counts until the next edit of overrides: other edits of the record
      // leave them.
      if (!isSame(list, overrides.get(key)?.list ?? []))
        overrides.set(key, { list, knownAt: Number.POSITIVE_INFINITY, process });
      return isSameOne ? droppedOf(known, list, nowMs()) : [];
    },
    answered: (process) => {
      for (const one of overrides.values())
        if (one.process === process) one.knownAt = Math.min(one.knownAt, tick());
    },
    overriding: (place, claimedAt, atMs) => {
      const items = ["fleet", `cluster ${place.cluster}`, itemKey(autoscalerItem(place))].map(
        (key) => overrides.get(key) ?? NONE,
      );
      if (items.some(({ knownAt }) => knownAt > claimedAt)) return undefined;
      return items
        .flatMap(({ list }) => list)
        .filter(({ namespace: inside }) => inside === undefined || inside === place.namespace)
        .filter((one) => holdsAt(one, atMs));
    },
    stopping: (cluster, claimedAt) =>
      ["fleet", `cluster ${cluster}`].find((key) => (stopped.get(key) ?? Infinity) < claimedAt),
  };
};

/**
 * The name of a record beside the fleet: of the fleet itself, or of a cluster. Undefined for what
 * stops nothing, such as the time of the last edit.
 */
export const recordOf = (sk: string): string | undefined => {
  if (sk.startsWith(CLUSTER_SK_PREFIX)) return `cluster ${sk.slice(CLUSTER_SK_PREFIX.length)}`;
  return sk === fleetKey.sk ? "fleet" : undefined;
};

const itemKey = (item: Item | undefined): string => `${item?.["pk"]?.S} ${item?.["sk"]?.S}`;
const autoscalerItem = (ref: AutoscalerRef): Item => {
  const { pk, sk } = autoscalerKey(ref);
  return { pk: { S: pk }, sk: { S: sk } };
};

/**
 * Looks at a PUT that is being sent: a sync that claimed after a freeze or a pause was stored sends
 * none; nor for a workload that has another controller which it could know of.
 */
export const watchSent = (
  ledger: Ledger,
  by: Invocation,
  write: ScaleWrite,
  way: { readonly overSockets: boolean },
): void => {
  const target = write.target.name;
  const words = `${by.name} sends a PUT of "${target}" to ${write.replicas}`;
  // Beside its own autoscaler a workload may have another one, with a name of its own.
  const known = sentIntent(ledger, by, write);
  const intent = known?.intent;
  // An earlier release knows no overrides.
  const knowsOverrides = by.process.build === THIS_BUILD;
  const outside =
    known?.decided && knowsOverrides
      ? outsideNow(ledger, by, known.decided.input, write)
      : undefined;
  if (outside !== undefined)
    ledger.violate(
      "nothing is written outside the bounds that hold at the instant of the decision",
      `${words}, and ${outside}`,
    );
  const name = intent?.name ?? target;
  const whole = ledger.stops.stopping(by.message.cluster, by.claimedAt);
  const stop =
    whole ?? (ledger.edits.isStopped(name, by.claimedAt) ? `autoscaler ${name}` : undefined);
  if (stop)
    ledger.violate(
      "nothing is sent that was claimed after a freeze or a pause",
      `${words}, and "${stop}" was stopped before its claim`,
    );
  const { skewMs } = by.process;
  if (Math.abs(skewMs) > SKEW_MAX_MS)
    ledger.violate(
      "nothing is sent under a clock that is wrong",
      `${words}, and its clock is wrong by ${skewMs} ms`,
    );
  if (by.rivals.has(target))
    ledger.violate("nothing is sent where another controller was seen or may be", words);
  const beside = intent && besideWhat(ledger.rivals, by, intent.uid, way);
  if (beside !== undefined)
    ledger.violate(
      "nothing is sent where another controller was seen or may be",
      `${words}, and another controller is there: ${beside}`,
    );
};

/**
 * Why the bounds at the instant of the decision forbid this count. Where an override was edited
 * since the claim, both counts may be right.
 */
const outsideNow = (
  { stops }: Ledger,
  by: Invocation,
  { namespace: inside, name, spec, nowMs }: DecideInput,
  { replicas }: ScaleWrite,
): string | undefined => {
  const place = {
    cluster: clusterName(by.message.cluster),
    namespace: namespace(inside),
    name: autoscalerName(name),
  };
  const overriding = stops.overriding(place, by.claimedAt, nowMs);
  if (!overriding) return undefined;
  const hold = overriding.find((one) => one.hold);
  return hold ? `the override "${hold.id}" holds` : outsideOf(spec, overriding, nowMs, replicas);
};
