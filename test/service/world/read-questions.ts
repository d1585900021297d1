import { expect } from "vitest";
import { METRICS_PATH, QUERY_PATHS } from "../../../lib/answers/api/paths.ts";
import type { EventCount, EventView } from "../../../lib/answers/views/event.ts";
import type { SchedulesView } from "../../../lib/answers/views/schedule.ts";
import type { SparklinesView } from "../../../lib/answers/views/over-time.ts";
import type { ClusterRows } from "../../../lib/answers/views/row.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/rules/model/time-text.ts";
import { DELETED, DELETED_EVENTS } from "./played-cluster.ts";
import type { HttpAnswer, Question } from "./read-counts.ts";
import type { RealFleet } from "./real-fleet.ts";
import { namespaceOf } from "./real-manifests.ts";
import type { Fleet } from "./synced-fleet.ts";

export interface Asked {
  readonly question: (fleet: RealFleet, before: HttpAnswer | undefined) => Question;
  /** The environment has answered this question before. */
  readonly isWarm?: true;
  readonly check?: (answer: HttpAnswer, fleet: RealFleet) => void;
}

const marksOf = ({ items }: HttpAnswer): string =>
  (items as readonly ClusterRows[])
    .flatMap(({ partitions }) => partitions.map(({ mark }) => mark ?? ""))
    .join("");
const ONE = "checkout-worker-7";
const one = ({ cluster }: Fleet): { readonly name: string } => ({
  name: `${cluster}/${namespaceOf(ONE)}/${ONE}`,
});
const hasAllRows = ({ items }: HttpAnswer, { autoscalers }: Fleet): void =>
  expect((items as readonly ClusterRows[]).reduce((sum, { rows }) => sum + rows.length, 0)).toBe(
    autoscalers,
  );
const hasAllSeries = ({ text }: HttpAnswer, { autoscalers }: Fleet): void =>
  expect(text.match(/^tidemark_current_replicas\{/gm)).toHaveLength(autoscalers);
const ago = ({ nowMs }: Fleet, ms: number): string => new Date(nowMs - ms).toISOString();
const isAt = (atMs: number): string => new Date(atMs).toISOString();
const EVENTS = { path: QUERY_PATHS.events };
/** Each event is there once, in order of time, then of cluster and id. */
const areInOrder = ({ items }: HttpAnswer): readonly EventView[] => {
  const events = items as readonly EventView[];
  const keys = events.map(({ at, cluster, id }) => `${at} ${cluster} ${id}`);
  expect(keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key)).toBe(true);
  return events;
};
/** The screen of a page has some 40 rows: of one cluster, or each of another where there are. */
const SCREEN_ROWS = 40;
const namesOf = ({ cluster, clusters, autoscalers }: Fleet, isWide: boolean): readonly string[] => {
  const names = Array.from({ length: SCREEN_ROWS }, (_, at) => {
    const of = isWide ? at % clusters : 0;
    const row = at % (autoscalers / clusters);
    const name = `checkout-worker-${row}`;
    const inside = of === 0 ? cluster : `${cluster}-${String(of).padStart(3, "0")}`;
    return `${inside}/${namespaceOf(name)}/${name}`;
  });
  return [...new Set(names)];
};
const screenOf = (fleet: Fleet, isWide: boolean): Question => ({
  path: QUERY_PATHS.sparklines,
  query: { names: namesOf(fleet, isWide).join(",") },
});
const hasLoads = ({ text }: HttpAnswer): void => {
  const { lines }: SparklinesView = JSON.parse(text);
  expect(lines.length).toBeGreaterThanOrEqual(20);
  for (const { load, current } of lines)
    for (const values of [load, current])
      expect(values.filter((value) => value !== null).length).toBeGreaterThanOrEqual(11);
};
const SERIES = { path: METRICS_PATH };
const ROWS = { path: QUERY_PATHS.rows };

export const ANSWERS: Readonly<Record<string, Asked>> = {
  "`get`, cold": { question: () => ROWS, check: hasAllRows },
  "`get`, warm": { question: () => ROWS, isWarm: true, check: hasAllRows },
  "`get -w`, nothing changed": {
    question: (_fleet, before) => (before ? { ...ROWS, query: { known: marksOf(before) } } : ROWS),
    isWarm: true,
    check: ({ items }) =>
      expect((items as readonly ClusterRows[]).every(({ rows }) => rows.length === 0)).toBe(true),
  },
  "`get --fields state,targets`": {
    question: () => ({ ...ROWS, query: { fields: "state,targets" } }),
    check: hasAllRows,
  },
  "`get -o name`, completion": {
    question: () => ({ ...ROWS, query: { fields: "kind" } }),
    check: hasAllRows,
  },
  "`get -l app.kubernetes.io/name=checkout-worker-7`": {
    question: () => ({ ...ROWS, query: { selector: `app.kubernetes.io/name=${ONE}` } }),
  },
  "`get -o json`": {
    question: () => ({ path: QUERY_PATHS.autoscalers }),
    check: ({ items }, { autoscalers }) => expect(items).toHaveLength(autoscalers),
  },
  "`status`": { question: () => ({ path: QUERY_PATHS.status }) },
  "`cluster list`": { question: () => ({ path: QUERY_PATHS.clusters }) },
  "`cluster list NAME`": {
    question: ({ cluster }) => ({ path: QUERY_PATHS.cluster, query: { name: cluster } }),
  },
  "`partition describe`": {
    question: ({ cluster }) => ({ path: QUERY_PATHS.partition, query: { name: cluster } }),
  },
  "`/metrics`, cold": { question: () => SERIES, check: hasAllSeries },
  "`/metrics`, warm": { question: () => SERIES, isWarm: true, check: hasAllSeries },
  "`series` as JSON": { question: () => ({ path: QUERY_PATHS.series }) },
  "`get NAME`, unknown, cold": {
    question: () => ({ path: QUERY_PATHS.get, query: { name: "nothing" }, status: 404 }),
  },
  "`get CLUSTER/NAMESPACE/NAME`": {
    question: (fleet) => ({ path: QUERY_PATHS.get, query: one(fleet) }),
  },
  "`describe`": { question: (fleet) => ({ path: QUERY_PATHS.describe, query: one(fleet) }) },
  "`explain`": { question: (fleet) => ({ path: QUERY_PATHS.explain, query: one(fleet) }) },
  "`schedule`": { question: (fleet) => ({ path: QUERY_PATHS.schedule, query: one(fleet) }) },
  "schedules of a screen of one cluster": {
    question: (fleet) => ({
      path: QUERY_PATHS.schedules,
      query: { names: namesOf(fleet, false).slice(0, 12).join(",") },
    }),
    check: ({ text }) => {
      const { schedules }: SchedulesView = JSON.parse(text);
      expect(schedules.length).toBe(12);
    },
  },
  "`explain --at`, 20 hours ago": {
    question: (fleet) => ({
      path: QUERY_PATHS.explain,
      query: { ...one(fleet), at: ago(fleet, 20 * HOUR_MS) },
    }),
  },
  "`history`, 2 h": { question: (fleet) => ({ path: QUERY_PATHS.history, query: one(fleet) }) },
  "`history`, the last 30 minutes of `describe`": {
    question: (fleet) => ({
      path: QUERY_PATHS.history,
      query: { ...one(fleet), since: ago(fleet, HOUR_MS / 2) },
    }),
  },
  "`history`, 1 day": {
    question: (fleet) => ({
      path: QUERY_PATHS.history,
      query: { ...one(fleet), since: ago(fleet, DAY_MS) },
    }),
  },
  "`doctor -A`": {
    question: () => ({ path: QUERY_PATHS.doctor }),
    check: ({ items }, { autoscalers }) => expect(items).toHaveLength(autoscalers),
  },
  "`doctor NAME`": { question: (fleet) => ({ path: QUERY_PATHS.doctor, query: one(fleet) }) },
  "the first rows of the dashboard, cold": {
    question: () => ({ ...ROWS, query: { most: "200" }, isFirstPage: true }),
    check: ({ items }, { autoscalers }) =>
      expect(
        (items as readonly ClusterRows[]).reduce((sum, { rows }) => sum + rows.length, 0),
      ).toBeGreaterThanOrEqual(Math.min(200, autoscalers)),
  },
  "sparklines of a screen of one cluster, cold": {
    question: (fleet) => screenOf(fleet, false),
    check: hasLoads,
  },
  "sparklines of a screen of 40 clusters, cold": {
    question: (fleet) => screenOf(fleet, true),
    check: hasLoads,
  },
  "the same, warm": {
    question: (fleet) => screenOf(fleet, true),
    isWarm: true,
    check: hasLoads,
  },
  "`shadow`, 1 day": { question: (fleet) => ({ path: QUERY_PATHS.shadow, query: one(fleet) }) },
  "`events NAME`, 13 months": { question: (fleet) => ({ ...EVENTS, query: one(fleet) }) },
  "`events --all`, 1 day": {
    question: (fleet) => ({
      ...EVENTS,
      query: { since: isAt(fleet.burstMs - DAY_MS), until: isAt(fleet.burstMs - 1) },
    }),
    check: (answer, { clusters }) =>
      expect(areInOrder(answer).length).toBeGreaterThanOrEqual(10 * clusters),
  },
  "`events --all`, the hour in which all scaled": {
    question: (fleet) => ({ ...EVENTS, query: { since: ago(fleet, HOUR_MS) } }),
    check: (answer, { autoscalers }) =>
      expect(areInOrder(answer).length).toBeGreaterThanOrEqual(autoscalers),
  },
  "`events CLUSTER`, 13 months": {
    question: ({ cluster }) => ({ ...EVENTS, query: { cluster } }),
    check: (answer, { autoscalers, clusters }) =>
      expect(areInOrder(answer).length).toBeGreaterThanOrEqual((100 * autoscalers) / clusters),
  },
  "`events --by month`, 13 months": {
    question: () => ({ path: QUERY_PATHS.eventCounts }),
    check: ({ items }, { autoscalers }) =>
      expect(
        (items as readonly EventCount[]).reduce((sum, { ups, downs }) => sum + ups + downs, 0),
      ).toBeGreaterThanOrEqual(119 * autoscalers),
  },
  "`events NAME` of one that was deleted": {
    question: () => ({ ...EVENTS, query: { name: DELETED } }),
    check: (answer, { clusters }) =>
      expect(areInOrder(answer)).toHaveLength(DELETED_EVENTS * clusters),
  },
  "`events NAME` that nothing ever had": {
    question: () => ({ ...EVENTS, query: { name: "nothing" }, status: 404 }),
  },
  "`changes -A`": {
    question: (fleet) => ({ path: QUERY_PATHS.changes, query: { since: ago(fleet, DAY_MS) } }),
  },
  "`changes -A`, 13 months": {
    question: () => ({ path: QUERY_PATHS.changes }),
    check: ({ items }, { clusters }) => expect(items).toHaveLength(32 * clusters),
  },
  "`override list`": {
    question: () => ({ path: QUERY_PATHS.overrides, query: { expired: "no" } }),
  },
  "`override list --all`": {
    question: () => ({ path: QUERY_PATHS.overrides }),
    check: ({ items }, { clusters }) => expect(items).toHaveLength(clusters),
  },
  "`calendar list`": { question: () => ({ path: QUERY_PATHS.calendars }) },
  "`source list`": { question: () => ({ path: QUERY_PATHS.sources }) },
  "`cost`, what was measured": { question: () => ({ path: QUERY_PATHS.measuredSyncs }) },
  "`fleet status`": { question: () => ({ path: QUERY_PATHS.fleet }) },
  "`access list`": { question: () => ({ path: QUERY_PATHS.access }) },
  "`wake list`": { question: () => ({ path: QUERY_PATHS.wakes }) },
  "`auth can-i`": {
    question: ({ cluster }) => ({ path: QUERY_PATHS.canI, query: { verb: "view", cluster } }),
  },
};
