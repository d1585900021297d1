import { type AutoscalerUid, autoscalerUid } from "../../../rules/model/ids.ts";
import type { KnownRivals } from "../../../rules/model/observation.ts";
import type {
  Condition,
  KeptAnswer,
  MetricStatus,
  OutsideSeries,
  RecommendationRun,
  ScaleChange,
  SeenCount,
  Status,
} from "../../../rules/model/windows.ts";
import { compress, decompress } from "../table/compressed.ts";
import type { ScaleTotals, StoredWindows } from "../../../rules/model/scale-records.ts";

/** The version of the bytes of a windows page. */
export const PAGE_VERSION = 2;

type Run = readonly [
  replicas: number,
  firstMs: number,
  lengthMs: number,
  stepMs?: number | null,
  windowMs?: number,
];
type Change = readonly [
  change: number,
  atMs: number,
  outdated: 0 | 1,
  eventId: string,
  earliestMs?: number,
];
type Look = readonly [
  kind: string,
  rivals: readonly (readonly [kind: string, name: string, uid: string])[],
];
type StoredCondition = readonly [
  type: string,
  status: Condition["status"],
  reason: string,
  message: string,
  transitionMs: number,
];
type Totals = readonly [ups: number, added: number, downs: number, removed: number, epoch: number];
type Outside = readonly [changes: number, lastMs: number, lengthMs: number, by?: string];
type PackedRivals = readonly [connection: number, looks: readonly Look[]];
/** The last two: the count that the sync left, and of which workload (SeenCount). */
type Replicas = readonly [
  current: number,
  desired: number,
  seen?: number,
  of?: string,
  sinceMs?: number,
];
type PackedWindows = readonly [
  uid: string,
  open: 0 | 1,
  runs: readonly Run[] | null,
  ups: readonly Change[],
  downs: readonly Change[],
  selector: string | null,
  conditions: readonly StoredCondition[],
  replicas: Replicas,
  lastScaleMs: number | null,
  metrics: readonly MetricStatus[] | null,
];
/** The value is null for an answer without one. */
type PackedAnswer = readonly [id: number, askedMs: number, value: string | null, agedMs?: number];
/**
 * Most autoscalers have no rival, those at rest were never scaled, few keep answers, and fewer have
 * a count that others change: these parts come last.
 */
type Entry = readonly [
  ...PackedWindows,
  rivals?: PackedRivals | null,
  totals?: Totals | null,
  answers?: readonly PackedAnswer[],
  outside?: Outside,
];

/**
 * Bounds of the texts that a cluster or a manifest can make long, so that one autoscaler stays far
 * below a page (docs/storage.md, "Bytes"). The number of runs and scales is bounded by the longest
 * window and the shortest sync period.
 */
const MESSAGE_CHARS_MAX = 500;
/**
 * Some sixty requirements of the longest legal names. A longer selector is left out: other
 * autoscalers then find no overlap with it, as before its first sync.
 */
export const SELECTOR_CHARS_MAX = 16_000;
/** Kept answers of one autoscaler. A metric beyond them is asked in each sync. */
const ANSWERS_MAX = 100;
/**
 * The metrics of a page only show the last values, and the journal has them too. Longer ones are
 * left out, as when no metrics were evaluated.
 */
export const METRICS_CHARS_MAX = 16_000;

const packChange = ({ change, atMs, outdated, eventId = "", earliestMs }: ScaleChange): Change => {
  const packed = [change, atMs, outdated ? 1 : 0, eventId] as const;
  return earliestMs === undefined ? packed : [...packed, earliestMs];
};
/** Fields that only some runs have come last, so that most tuples are short. */
const packRun = ({ replicas, firstMs, lastMs, stepMs, windowMs }: RecommendationRun): Run => {
  const lengthMs = lastMs - firstMs;
  if (windowMs !== undefined) return [replicas, firstMs, lengthMs, stepMs ?? null, windowMs];
  return stepMs === undefined
    ? [replicas, firstMs, lengthMs]
    : [replicas, firstMs, lengthMs, stepMs];
};
const packCondition = ({
  type,
  status,
  reason,
  message,
  transitionMs,
}: Condition): StoredCondition => [
  type,
  status,
  reason,
  message.slice(0, MESSAGE_CHARS_MAX),
  transitionMs,
];

const fitting = (selector: string | undefined): string | null =>
  selector !== undefined && selector.length <= SELECTOR_CHARS_MAX ? selector : null;
const shown = (metrics: readonly MetricStatus[] | null): readonly MetricStatus[] | null =>
  metrics !== null && JSON.stringify(metrics).length <= METRICS_CHARS_MAX ? metrics : null;

const pack = (entry: StoredWindows): Entry => {
  const { rivals, totals } = entry;
  const packed = packWindows(entry);
  const { answers = [] } = entry.windows.memory;
  const looks = rivals ? packRivals(rivals) : null;
  const counted: Totals | null = totals
    ? [totals.ups, totals.added, totals.downs, totals.removed, totals.epoch]
    : null;
  const kept = answers.slice(0, ANSWERS_MAX).map(packAnswer);
  if (entry.outside) return [...packed, looks, counted, kept, packOutside(entry.outside)];
  if (kept.length > 0) return [...packed, looks, counted, kept];
  if (counted) return [...packed, looks, counted];
  return looks ? [...packed, looks] : packed;
};

const packOutside = ({ changes, firstMs, lastMs, by }: OutsideSeries): Outside => {
  const packed = [changes, lastMs, lastMs - firstMs] as const;
  return by === undefined ? packed : [...packed, by];
};

const unpackOutside = ([changes, lastMs, lengthMs, by]: Outside): OutsideSeries => ({
  changes,
  firstMs: lastMs - lengthMs,
  lastMs,
  ...(by !== undefined && { by }),
});

const packAnswer = ({ id, askedMs, milli, sampleMs = askedMs }: KeptAnswer): PackedAnswer => {
  const packed = [id, askedMs, milli ?? null] as const;
  return sampleMs === askedMs ? packed : [...packed, askedMs - sampleMs];
};

const unpackAnswer = ([id, askedMs, value, agedMs = 0]: PackedAnswer): KeptAnswer => ({
  id,
  askedMs,
  ...(value !== null && { milli: value, sampleMs: askedMs - agedMs }),
});

const packRivals = ({ connection, looks }: KnownRivals): PackedRivals => [
  connection,
  looks.map(([of, rivals]) => [of, rivals.map(({ kind, name, uid = "" }) => [kind, name, uid])]),
];

const packReplicas = ({
  status,
  seen,
}: {
  readonly status: Status;
  readonly seen: SeenCount | undefined;
}): Replicas => {
  const packed = [status.currentReplicas, status.desiredReplicas] as const;
  if (!seen) return packed;
  const { replicas, of, sinceMs } = seen;
  return sinceMs === undefined ? [...packed, replicas, of] : [...packed, replicas, of, sinceMs];
};

const packWindows = ({
  uid,
  open,
  windows: { memory, status },
  seen,
}: StoredWindows): PackedWindows => [
  uid,
  open ? 1 : 0,
  memory.recommendations?.map(packRun) ?? null,
  memory.scaleUps.map(packChange),
  memory.scaleDowns.map(packChange),
  fitting(memory.selector),
  status.conditions.map(packCondition),
  packReplicas({ status, seen }),
  status.lastScaleMs ?? null,
  shown(status.currentMetrics),
];

/**
 * Throws for a tuple with parts that this code does not know: writing the page again would lose
 * them. Such a page is of a later version, and stays as it is.
 */
const knownParts = <Tuple extends readonly unknown[]>(tuple: Tuple, most: number): Tuple => {
  if (tuple.length <= most) return tuple;
  throw new RangeError(`an entry has ${tuple.length} parts, and ${most} are known`);
};

const unpackChange = ([change, atMs, outdated, eventId, earliestMs]: Change): ScaleChange => ({
  change,
  atMs,
  ...(outdated === 1 && { outdated: true }),
  ...(eventId !== "" && { eventId }),
  ...(earliestMs !== undefined && { earliestMs }),
});

const unpackRun = ([
  replicas,
  firstMs,
  lengthMs,
  stepMs = null,
  windowMs,
]: Run): RecommendationRun => ({
  replicas,
  firstMs,
  lastMs: firstMs + lengthMs,
  ...(stepMs !== null && { stepMs }),
  ...(windowMs !== undefined && { windowMs }),
});

const unpackSeen = (
  replicas: number | undefined,
  of = "",
  sinceMs?: number,
): { readonly seen?: SeenCount } =>
  replicas === undefined
    ? {}
    : { seen: { replicas, of, ...(sinceMs !== undefined && { sinceMs }) } };

const unpackTotals = ([ups, added, downs, removed, epoch]: Totals): ScaleTotals => ({
  ups,
  added,
  downs,
  removed,
  epoch,
});

const PARTS = {
  entry: 14,
  run: 5,
  change: 5,
  condition: 5,
  replicas: 5,
  totals: 5,
  answer: 4,
  outside: 4,
} as const;

const unpack = (entry: Entry): StoredWindows => {
  const [, , runs, ups, downs, , conditions, replicas, , , , totals, answers = [], outside] =
    knownParts(entry, PARTS.entry);
  for (const run of runs ?? []) knownParts(run, PARTS.run);
  for (const change of [...ups, ...downs]) knownParts(change, PARTS.change);
  for (const condition of conditions) knownParts(condition, PARTS.condition);
  knownParts(replicas, PARTS.replicas);
  if (totals) knownParts(totals, PARTS.totals);
  for (const answer of answers) knownParts(answer, PARTS.answer);
  if (outside) knownParts(outside, PARTS.outside);
  return unpacked(entry);
};

const unpackRivals = ([connection, looks]: PackedRivals): KnownRivals => ({
  connection,
  looks: looks.map(([of, rivals]) => [
    of,
    rivals.map(([kind, name, uid]) => ({ kind, name, ...(uid !== "" && { uid }) })),
  ]),
});

const unpacked = ([
  uid,
  open,
  runs,
  ups,
  downs,
  selector,
  conditions,
  [current, desired, seen, of, sinceMs],
  lastScaleMs,
  metrics,
  rivals,
  totals,
  answers = [],
  outside,
]: Entry): StoredWindows => ({
  uid: autoscalerUid(uid),
  open: open === 1,
  ...unpackSeen(seen, of, sinceMs),
  ...(rivals && { rivals: unpackRivals(rivals) }),
  windows: {
    memory: {
      recommendations: runs?.map(unpackRun) ?? null,
      scaleUps: ups.map(unpackChange),
      scaleDowns: downs.map(unpackChange),
      ...(selector !== null && { selector }),
      ...(answers.length > 0 && { answers: answers.map(unpackAnswer) }),
    },
    status: {
      conditions: conditions.map(([type, status, reason, message, transitionMs]) => ({
        type,
        status,
        reason,
        message,
        transitionMs,
      })),
      currentReplicas: current,
      desiredReplicas: desired,
      ...(lastScaleMs !== null && { lastScaleMs }),
      currentMetrics: metrics,
    },
  },
  ...(totals && { totals: unpackTotals(totals) }),
  ...(outside && { outside: unpackOutside(outside) }),
});

export const encodePage = (entries: readonly StoredWindows[]): Uint8Array =>
  compress(PAGE_VERSION, entries.map(pack));

export type DecodedPage =
  | { readonly kind: "read"; readonly entries: ReadonlyMap<AutoscalerUid, StoredWindows> }
  | { readonly kind: "unreadable"; readonly message: string };

const entriesOf = (version: number, value: unknown): readonly StoredWindows[] => {
  if (!Array.isArray(value)) throw new RangeError("its body is not a list");
  if (version === PAGE_VERSION) return (value as readonly Entry[]).map(unpack);
  throw new RangeError(`version ${version} is not known`);
};

/**
 * Decodes a page. Damage and later versions are a value: they stop the autoscalers of the page, and
 * not the partition.
 */
export const decodePage = (body: Uint8Array): DecodedPage => {
  try {
    const { version, value } = decompress(body);
    return {
      kind: "read",
      entries: new Map(entriesOf(version, value).map((entry) => [entry.uid, entry])),
    };
  } catch (error) {
    return { kind: "unreadable", message: String(error) };
  }
};
