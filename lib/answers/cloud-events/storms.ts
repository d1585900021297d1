import { clusterName } from "../../rules/model/ids.ts";
import {
  type NoticeRecord,
  STORM_OVER,
  type StateNotice,
  type StormNotice,
  type StormOfScales,
} from "../../rules/model/notices.ts";
import type { EventRecord } from "../../rules/model/scale-records.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { eventsOfDays } from "../../stack/store/history/day-events.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import { mapWithLimit } from "../../stack/store/table/wait-for-all.ts";
import type { KnownPartition } from "../service/known-partitions.ts";

/** So long after its end nearly every scale of a minute is stored. */
const SETTLED_MS = 30_000;
/** After a longer pause of the looks, storms of older minutes are not reported. */
const MINUTES_BACK = 10;
const CLUSTERS_AT_ONCE = 8;
const NAMED_MAX = 3;
const NAMESPACES_MAX = 5;

const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS;

interface Minutes {
  readonly nowMs: number;
  readonly views: readonly {
    readonly ref: { readonly cluster: string };
    readonly known: KnownPartition | undefined;
  }[];
}

/** One notice for each cluster and minute that had more scale events than people read one by one. */
export const stormsSince = async (
  tables: Tables,
  lookedMs: number,
  { nowMs, views }: Minutes,
): Promise<{ readonly notices: readonly StormNotice[]; readonly untilMs: number }> => {
  const untilMs = minuteOf(nowMs - SETTLED_MS);
  // A clock that was set back, and the first look, begin with the newest minute.
  const fromMs =
    lookedMs > 0 && lookedMs <= untilMs
      ? Math.max(lookedMs, untilMs - MINUTES_BACK * MINUTE_MS)
      : untilMs - MINUTE_MS;
  if (fromMs >= untilMs) return { notices: [], untilMs: Math.max(lookedMs, untilMs) };
  const clusters = [
    ...new Set(
      views.flatMap(({ ref, known }) => (scaledSince(known, fromMs) ? [ref.cluster] : [])),
    ),
  ];
  const storms = await mapWithLimit(clusters, CLUSTERS_AT_ONCE, async (cluster) => {
    const range = { sinceMs: fromMs, untilMs: untilMs - 1 };
    const events = await Array.fromAsync(eventsOfDays(tables, clusterName(cluster), range));
    return [...Map.groupBy(events, ({ atMs }) => minuteOf(atMs))].flatMap(([atMs, all]) =>
      all.length > STORM_OVER ? [stormOf(cluster, atMs, all)] : [],
    );
  });
  return { notices: storms.flat(), untilMs };
};

/** The rows say which clusters are worth a request. What is not known is asked for. */
const scaledSince = (known: KnownPartition | undefined, fromMs: number): boolean =>
  !known ||
  [...known.rows.values()].some(
    ({ lastScaleMs = 0, since }) => lastScaleMs >= fromMs || since?.refused !== undefined,
  );

const stormOf = (cluster: string, atMs: number, events: readonly EventRecord[]): StormNotice => {
  const made = events.filter(({ outcome }) => outcome === "applied");
  const steps = (sign: 1 | -1) =>
    made.map(({ from, to }) => sign * (to - from)).filter((by) => by > 0);
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
  const having = (wanted: EventRecord["outcome"]): number =>
    events.filter(({ outcome }) => outcome === wanted).length;
  const scales: StormOfScales = {
    ...{
      up: steps(1).length,
      down: steps(-1).length,
      added: sum(steps(1)),
      removed: sum(steps(-1)),
    },
    ...{ refused: having("refused"), unknown: having("unknown"), outside: having("outside") },
    largest: made
      .toSorted((one, other) => Math.abs(other.to - other.from) - Math.abs(one.to - one.from))
      .slice(0, NAMED_MAX)
      .map(({ namespace, name, from, to }) => ({ namespace, name, from, to })),
  };
  return {
    ...{ kind: "storm", what: "scale", id: `storm:${cluster}:scale:${atMs}`, atMs, cluster },
    ...{ count: events.length, namespaces: byNamespace(events), scales },
  };
};

const byNamespace = (all: readonly { readonly namespace: string }[]): StormNotice["namespaces"] =>
  [...Map.groupBy(all, ({ namespace }) => namespace)]
    .map(([namespace, own]) => ({ namespace, count: own.length }))
    .toSorted((one, other) => other.count - one.count)
    .slice(0, NAMESPACES_MAX);

/**
 * Notices of one look. Where more autoscalers of a cluster have the same news than people read one
 * by one, those after the first few are marked, and one storm counts them all.
 */
export const withStorms = (
  notices: readonly StateNotice[],
  nowMs: number,
): readonly NoticeRecord[] =>
  [...Map.groupBy(notices, ({ kind, cluster, phase }) => `${kind}:${cluster}:${phase}`)].flatMap(
    ([news, same]): readonly NoticeRecord[] => {
      const [first] = same;
      if (!first || same.length <= STORM_OVER) return same;
      const atMs = minuteOf(nowMs);
      const named = same.flatMap(({ autoscaler }) => autoscaler ?? []);
      return [
        ...same.slice(0, STORM_OVER),
        ...same.slice(STORM_OVER).map((one) => ({ ...one, inStorm: true as const })),
        {
          ...{ kind: "storm", what: first.kind, phase: first.phase, atMs, cluster: first.cluster },
          ...{ id: `storm:${news}:${atMs}`, count: same.length, namespaces: byNamespace(named) },
        },
      ];
    },
  );
