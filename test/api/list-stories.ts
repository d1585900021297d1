import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  partitionName,
} from "../../lib/rules/model/ids.ts";
import type { ChangeRecord, ScopeChangeRecord } from "../../lib/rules/model/changes.ts";
import type { Override, OverrideScope } from "../../lib/rules/model/override.ts";
import type { ServiceContext } from "../../lib/answers/service/context.ts";
import { wholeHistory } from "../../lib/answers/service/history/history.ts";
import { openCommands, openQueries } from "../../lib/answers/service/open.ts";
import type { QueryService } from "../../lib/answers/service/service.ts";
import { readHead } from "../../lib/stack/store/head/head.ts";
import { encodeHeadSummary } from "../../lib/stack/store/summary/summary-items.ts";
import { headKey, itemKey } from "../../lib/stack/store/table/keys.ts";
import { insertChange } from "../../lib/stack/store/history/changes.ts";
import { insertEvents } from "../../lib/stack/store/history/events.ts";
import { closeDays } from "../store/close-days.ts";
import { insertScopeChange } from "../../lib/stack/store/history/scope-changes.ts";
import { getAutoscaler, putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import {
  getCluster,
  getFleet,
  putCluster,
  putFleet,
} from "../../lib/stack/store/records/clusters.ts";
import { NOON } from "../noon.ts";
import { hpa } from "../service/world/manifests.ts";
import { insertJournal } from "../store/insert-journal.ts";
import { event } from "../store/records.ts";
import type { Evaluation, ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

/**
 * The queries that answer with a list, page by page. A new one does not compile without its story
 * below.
 */
type PagedName = {
  [Name in keyof QueryService]: ReturnType<QueryService[Name]> extends AsyncIterable<unknown>
    ? Name
    : never;
}[keyof QueryService];
/** The queries that answer with a list at once, or with one that goes on at its `next`. */
export type ListName = PagedName | "access" | "calendars" | "history" | "sources";

/**
 * The other queries answer with one thing. These are the lists in it, which have no pages: of what
 * is shown of the thing, and tested where it is made. A new query, or a new list in an answer, must
 * be named here or have a story.
 */
export const PARTS: Readonly<Record<Exclude<keyof QueryService, ListName>, readonly string[]>> = {
  get: ["rivals", "overrides", "metrics", "conditions", "podsCounted", "currentMetrics"],
  describe: [
    "rivals",
    "overrides",
    "metrics",
    "conditions",
    "podsCounted",
    "currentMetrics",
    "events",
  ],
  explain: ["metrics", "steps", "otherwise"],
  schedule: ["holds", "changes", "lanes", "overrides", "clockChanges", "missingCalendars"],
  shadow: ["rivals", "stretches", "reactions"],
  sparklines: ["lines"],
  schedules: ["schedules", "unread"],
  series: ["families"],
  cluster: ["partitions", "specsFromCluster", "recommenderHosts"],
  partition: ["pages", "intents"],
  fleet: [],
  measuredSyncs: [],
  status: ["problems", "notices", "errors"],
  wakes: ["wakes"],
  canI: ["grants"],
};

export type Fields = Readonly<Record<string, string>>;
export type Item = Readonly<Record<string, string>>;

/**
 * What is stored before a list is read, what comes in between its pages, and what is asked. Each
 * item is known by its place in the list, a text that sorts as the list does.
 */
export interface Story {
  readonly fields: Fields;
  readonly fill: (context: ServiceContext) => Promise<void>;
  /** Done after the first page, then after the second, and so on. */
  readonly between: readonly ((context: ServiceContext) => Promise<void>)[];
  /** The places of the items of the first fill that match the question. */
  readonly wanted: readonly string[];
  /** The places of every item that is stored in the end and matches. */
  readonly possible: readonly string[];
  readonly placeOf: (item: Item) => string;
  /** The items in one entry of a page, where an entry holds several. */
  readonly itemsIn?: (entry: unknown) => readonly Item[];
  /** Where an answer is no page of the usual form: its items, and what is asked next. */
  readonly pageIn?: (answer: never) => AnswerPage;
  readonly throughClient: (service: QueryService) => AsyncIterable<unknown>;
  /** What each look at the clock takes: a page also ends at its limit of time. */
  readonly stepMs: number;
}

export interface AnswerPage {
  readonly items: readonly unknown[];
  readonly next?: Fields;
}

const CLUSTERS = ["eu-1", "eu-2", "us-1"];
const NAMESPACES = ["lab", "shop"];
const clusterIn = fc.constantFrom(...CLUSTERS);
const namespaceIn = fc.constantFrom(...NAMESPACES);
const stepMs = fc.constantFrom(0, 0, 20, 700);
/** Characters that an item carries beside the rest. Some 30 items of the largest fill a page. */
const padding = fc.constantFrom(0, 300, 5_000, 30_000).map((characters) => "x".repeat(characters));
const timeText = (atMs: number): string => new Date(atMs).toISOString();
const place = (...parts: readonly string[]): string => parts.join(" ");
const present = (fields: Readonly<Record<string, string | undefined>>): Fields =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const cluster = (context: ServiceContext, name: string) =>
  openCommands(context).addCluster({ name, connection: { kind: "kubeconfig", path: "none" } });

/**
 * A dense or a thin run of things in time, from some instant of the last 130 days: all at one
 * instant, or a millisecond to a day apart.
 */
const burst = (most: number) =>
  fc.record({
    agoMs: fc.oneof(fc.nat({ max: 130 * DAY_MS }), fc.nat({ max: 12 * DAY_MS })),
    count: fc.integer({ min: 1, max: most }),
    spacingMs: fc.constantFrom(0, 1, 60_000, 3_600_000, 26 * 3_600_000),
    cluster: clusterIn,
    inside: namespaceIn,
    pad: padding,
  });
type Burst = Parameters<Parameters<ReturnType<typeof burst>["map"]>[0]>[0];
const timesOf = ({ agoMs, count, spacingMs }: Burst): readonly number[] =>
  Array.from({ length: count }, (_, index) => NOON - agoMs + index * spacingMs).filter(
    (atMs) => atMs <= NOON,
  );

const EVENT_PLACE = (one: {
  readonly at: string;
  readonly cluster: string;
  readonly id: string;
}): string => place(one.at, one.cluster, one.id);

const eventInput: fc.Arbitrary<EventInput> = fc.record({
  first: fc.array(burst(70), { minLength: 1, maxLength: 6 }),
  later: fc.array(burst(5), { maxLength: 4 }),
  name: fc.constantFrom(undefined, undefined, "gone", "eu-1/shop/web"),
  cluster: optional(clusterIn),
  namespace: optional(namespaceIn),
  since: optional(fc.nat({ max: 135 * DAY_MS })),
  until: optional(fc.nat({ max: 60 * DAY_MS })),
  stepMs,
  closes: fc.boolean(),
});
const eventStory: fc.Arbitrary<Story> = eventInput.map((input) => eventStoryOf(input).story);

interface EventInput {
  readonly first: readonly Burst[];
  readonly later: readonly Burst[];
  readonly name: string | undefined;
  readonly cluster: string | undefined;
  readonly namespace: string | undefined;
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly stepMs: number;
  /** Whether days and months that ended are counted before the list is read. */
  readonly closes?: boolean;
}

const closeAll = async ({ tables, insert }: ServiceContext): Promise<void> => {
  for (const one of CLUSTERS)
    while ((await closeDays(tables, insert, clusterName(one), NOON)).length > 0);
};

export const eventStoryOf = ({
  first,
  later,
  name,
  since,
  until,
  stepMs: step,
  closes = false,
  ...filter
}: EventInput) => {
  let count = 0;
  const recordsOf = (one: Burst): readonly ScaleEventRecord[] =>
    timesOf(one).map((atMs) => {
      const gone = ++count % 2 === 0;
      const uid = `uid-${one.cluster}-${one.inside}-${gone}`;
      return event({
        id: `${uid}:${count}`,
        uid: autoscalerUid(uid),
        cluster: clusterName(one.cluster),
        namespace: namespace(one.inside),
        name: autoscalerName(gone ? "gone" : "web"),
        atMs,
        settledMs: atMs,
        message: one.pad,
      });
    });
  const before = first.flatMap(recordsOf);
  const after = later.map(recordsOf);
  const untilMs = NOON - (until ?? 0);
  const sinceMs = Math.min(NOON - (since ?? 135 * DAY_MS), untilMs);
  const range = {
    ...(since !== undefined && { since: timeText(sinceMs) }),
    ...(until !== undefined && { until: timeText(untilMs) }),
  };
  const path = name?.includes("/") === true;
  const scope = path ? { cluster: undefined, namespace: undefined } : filter;
  const matches = (one: ScaleEventRecord): boolean =>
    one.atMs >= sinceMs &&
    one.atMs <= untilMs &&
    (scope.cluster ?? one.cluster) === one.cluster &&
    (scope.namespace ?? one.namespace) === one.namespace &&
    (name === undefined ||
      (path ? `${one.cluster}/${one.namespace}/${one.name}` : one.name) === name);
  const placesOf = (all: readonly ScaleEventRecord[]) =>
    all.filter(matches).map((one) => EVENT_PLACE({ ...one, at: timeText(one.atMs) }));
  const given = present({ ...scope, name });
  const query = {
    ...given,
    ...(since !== undefined && { sinceMs }),
    ...(until !== undefined && { untilMs }),
  };
  const story: Story = {
    fields: { ...given, ...range },
    fill: async (context) => {
      const start = { ...context, clock: () => NOON - 131 * DAY_MS };
      for (const one of CLUSTERS) {
        await cluster(start, one);
        for (const inside of NAMESPACES) {
          await apply(start, one, hpa("web", { namespace: inside }));
          await insertChange(start, deletionOf({ cluster: one, inside }));
        }
      }
      for (const day of Map.groupBy(before, ({ atMs }) => Math.floor(atMs / DAY_MS)).values())
        await insertEvents(context.insert, day);
      if (closes) await closeAll(context);
    },
    between: after.map(
      (records) =>
        async ({ insert }: ServiceContext) =>
          void (await insertEvents(insert, records)),
    ),
    wanted: placesOf(before),
    possible: placesOf([...before, ...after.flat()]),
    placeOf: (item) =>
      EVENT_PLACE(item as { readonly at: string; readonly cluster: string; readonly id: string }),
    throughClient: (service) => service.events(query),
    stepMs: step,
  };
  return {
    story,
    all: { before: before.filter(matches), after: after.flat().filter(matches), query },
  };
};

const MONTH_PLACE = ({
  month,
  ...one
}: {
  readonly month: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}): string => place(one.cluster, month, one.namespace, one.name);

/** What a deletion stores of the autoscaler "gone". */
const deletionOf = ({
  cluster: one,
  inside,
}: {
  readonly cluster: string;
  readonly inside: string;
}) =>
  ({
    cluster: clusterName(one),
    namespace: namespace(inside),
    name: autoscalerName("gone"),
    id: `uid-${one}-${inside}-true:1`,
    atMs: NOON - 131 * DAY_MS,
    by: "ada",
    verb: "delete",
  }) as const;

/** The counts of the same events: a line for each autoscaler and month that has some. */
const countStory: fc.Arbitrary<Story> = eventInput.map((input) => {
  const { all, story } = eventStoryOf(input);
  const linesOf = (events: readonly ScaleEventRecord[]) => [
    ...new Set(
      events.map(({ atMs, ...one }) =>
        MONTH_PLACE({ ...one, month: timeText(atMs).slice(0, "2026-03".length) }),
      ),
    ),
  ];
  return {
    ...story,
    wanted: linesOf(all.before),
    possible: linesOf([...all.before, ...all.after]),
    placeOf: (item) => MONTH_PLACE(item as Parameters<typeof MONTH_PLACE>[0]),
    throughClient: (service) => service.eventCounts(all.query),
  };
});

const apply = (context: ServiceContext, inCluster: string, text: string) =>
  openCommands(context).apply([{ file: "a.yaml", text }], { cluster: inCluster, dryRun: false });

const autoscalerStory: fc.Arbitrary<Story> = fc
  .record({
    all: fc.uniqueArray(
      fc.record({
        cluster: clusterIn,
        inside: namespaceIn,
        name: fc.stringMatching(/^[a-c]{1,3}$/),
        pad: padding,
        later: fc.boolean(),
      }),
      {
        selector: ({ cluster: inCluster, inside, name }) => place(inCluster, inside, name),
        minLength: 1,
        maxLength: 60,
      },
    ),
    cluster: optional(clusterIn),
    namespace: optional(namespaceIn),
    stepMs,
  })
  .map(({ all, stepMs: step, ...filter }) => {
    const matches = (one: (typeof all)[number]): boolean =>
      (filter.cluster === undefined || one.cluster === filter.cluster) &&
      (filter.namespace === undefined || one.inside === filter.namespace);
    const placesOf = (some: typeof all) =>
      some.filter(matches).map((one) => place(one.cluster, one.inside, one.name));
    const store = (context: ServiceContext, one: (typeof all)[number]) =>
      apply(
        context,
        one.cluster,
        hpa(one.name, { namespace: one.inside }).replace(
          "metadata:",
          `metadata:\n  annotations: { note: "${one.pad}" }`,
        ),
      );
    const before = all.filter(({ later }) => !later);
    const given = present(filter);
    return {
      fields: given,
      fill: async (context) => {
        for (const one of CLUSTERS) await cluster(context, one);
        for (const one of before) await store(context, one);
      },
      between: all
        .filter(({ later }) => later)
        .map((one) => async (context: ServiceContext) => void (await store(context, one))),
      wanted: placesOf(before),
      possible: placesOf(all),
      placeOf: (item) => place(item["cluster"] ?? "", item["namespace"] ?? "", item["name"] ?? ""),
      throughClient: (service) => service.autoscalers(given),
      stepMs: step,
    } satisfies Story;
  });

/** Every autoscaler is examined, also one at which nothing is found. */
const doctorStory: fc.Arbitrary<Story> = autoscalerStory.map((story) => ({
  ...story,
  throughClient: (service) => service.doctor(story.fields),
}));

/** An entry of a page is a cluster with all of its rows. */
const rowStory: fc.Arbitrary<Story> = autoscalerStory.map((story) => ({
  ...story,
  itemsIn: (entry) => {
    const { cluster: inCluster, rows } = entry as {
      readonly cluster: string;
      readonly rows: readonly Item[];
    };
    return rows.map((row) => ({ ...row, cluster: inCluster }));
  },
  throughClient: (service) => service.rows(story.fields),
}));

const changeStory: fc.Arbitrary<Story> = fc
  .record({
    first: fc.array(burst(40), { minLength: 1, maxLength: 6 }),
    later: fc.array(burst(5), { maxLength: 4 }),
    name: fc.constantFrom(undefined, undefined, "eu-1/shop/web"),
    cluster: optional(clusterIn),
    namespace: optional(namespaceIn),
    since: optional(fc.nat({ max: 135 * DAY_MS })),
    stepMs,
  })
  .map(({ first, later, name, since, stepMs: step, ...filter }) => {
    let count = 0;
    const recordsOf = (one: Burst): readonly (ChangeRecord | ScopeChangeRecord)[] =>
      timesOf(one).map((atMs) => {
        const by = { atMs, by: "ada", after: JSON.stringify(one.pad) };
        if (++count % 5 === 0)
          return {
            ...by,
            id: `hash${count}`,
            scope: "fleet",
            name: "fleet",
            verb: "freeze",
            version: count,
          };
        if (count % 3 === 0)
          return {
            ...by,
            id: `hash${count}`,
            scope: "cluster",
            name: one.cluster,
            verb: "pause",
            version: count,
          };
        const ref = {
          cluster: clusterName(one.cluster),
          namespace: namespace(one.inside),
          name: autoscalerName("web"),
        };
        return { ...by, ...ref, id: `uid-${one.cluster}-${one.inside}:${count}`, verb: "apply" };
      });
    const insertAll = async (
      { tables, insert }: ServiceContext,
      records: readonly (ChangeRecord | ScopeChangeRecord)[],
    ): Promise<void> => {
      for (const record of records)
        await ("scope" in record
          ? insertScopeChange(insert, record)
          : insertChange({ tables, insert }, record));
    };
    const before = first.flatMap(recordsOf);
    const after = later.map(recordsOf);
    const sinceMs = NOON - (since ?? 0);
    const scope = name === undefined ? filter : { cluster: undefined, namespace: undefined };
    const isOfAutoscaler = (one: ChangeRecord): boolean =>
      name === undefined
        ? (scope.cluster ?? one.cluster) === one.cluster &&
          (scope.namespace ?? one.namespace) === one.namespace
        : `${one.cluster}/${one.namespace}/${one.name}` === name;
    const isOfScope = (one: ScopeChangeRecord): boolean =>
      name === undefined &&
      scope.namespace === undefined &&
      (scope.cluster === undefined || one.name === scope.cluster);
    const matches = (one: ChangeRecord | ScopeChangeRecord): boolean =>
      (since === undefined || one.atMs >= sinceMs) &&
      ("scope" in one ? isOfScope(one) : isOfAutoscaler(one));
    const placesOf = (all: readonly (ChangeRecord | ScopeChangeRecord)[]) =>
      all.filter(matches).map(({ atMs, id }) => place(timeText(atMs), id));
    const given = present({ ...scope, name });
    return {
      fields: { ...given, ...(since !== undefined && { since: timeText(sinceMs) }) },
      fill: async (context) => {
        // The edits that add the clusters are older than every other one, and outside of the
        // question.
        const start = { ...context, clock: () => NOON - 136 * DAY_MS };
        for (const one of CLUSTERS) await cluster(start, one);
        await insertAll(context, before);
      },
      between: after.map((records) => (context: ServiceContext) => insertAll(context, records)),
      wanted: placesOf(before),
      possible: placesOf([...before, ...after.flat()]),
      placeOf: (item) =>
        item["verb"] === "add" ? ADDING : place(item["at"] ?? "", item["id"] ?? ""),
      throughClient: (service) =>
        service.changes({ ...given, ...(since !== undefined && { sinceMs }) }),
      stepMs: step,
    } satisfies Story;
  });
/** The place of the edits by which the tests add their clusters. It is before every other. */
export const ADDING = "";

const clusterStory: fc.Arbitrary<Story> = fc
  .record({
    names: fc.uniqueArray(fc.stringMatching(/^[a-c]{1,3}$/), { minLength: 1, maxLength: 20 }),
    later: fc.nat({ max: 5 }),
    stepMs,
  })
  .map(({ names, later, stepMs: step }) => {
    const before = names.slice(0, -later || undefined);
    return {
      fields: {},
      fill: async (context) => {
        for (const one of before) await cluster(context, one);
      },
      between: names
        .slice(before.length)
        .map((one) => async (context: ServiceContext) => void (await cluster(context, one))),
      wanted: before,
      possible: names,
      placeOf: (item) => item["name"] ?? "",
      throughClient: (service) => service.clusters(),
      stepMs: step,
    } satisfies Story;
  });

interface PlacedOverride {
  readonly scope: OverrideScope;
  readonly cluster: string;
  readonly inside: string;
  readonly id: string;
  readonly pad: string;
  readonly later: boolean;
}

const storeOverride = async (
  { tables }: ServiceContext,
  { scope, cluster: at, inside, id, pad }: PlacedOverride,
): Promise<void> => {
  const one: Override = {
    id,
    set: { hold: true },
    ...(scope === "namespace" && { namespace: inside }),
    ...{ fromMs: NOON, reason: `drill ${pad}`, by: "ada", atMs: NOON },
  };
  const withOne = <Listed extends { readonly overrides?: readonly Override[] }>(
    item: Listed,
  ): Listed => ({
    ...item,
    overrides: [...(item.overrides ?? []), one],
  });
  if (scope === "fleet") {
    const { version, ...fleet } = await getFleet(tables);
    await putFleet(tables, withOne(fleet), version);
  } else if (scope === "autoscaler") {
    const record = await getAutoscaler(tables, {
      cluster: clusterName(at),
      namespace: namespace(inside),
      name: autoscalerName("web"),
    });
    if (record)
      await putAutoscaler(
        tables,
        withOne({ ...record, generation: record.generation + 1 }),
        record.generation,
      );
  } else {
    const record = await getCluster(tables, clusterName(at));
    if (record)
      await putCluster(tables, withOne({ ...record, version: record.version + 1 }), record.version);
  }
};

const SCOPES: readonly OverrideScope[] = ["fleet", "cluster", "namespace", "autoscaler"];

const overrideStory: fc.Arbitrary<Story> = fc
  .record({
    all: fc.uniqueArray(
      fc.record({
        ...{
          scope: fc.constantFrom(...SCOPES),
          cluster: clusterIn,
          inside: namespaceIn,
          id: fc.stringMatching(/^[a-c]{1,3}$/),
        },
        ...{ pad: padding, later: fc.boolean() },
      }),
      { selector: ({ id }) => id, minLength: 1, maxLength: 40 },
    ),
    cluster: optional(clusterIn),
    namespace: optional(namespaceIn),
    stepMs,
  })
  .map(({ all, stepMs: step, ...filter }) => {
    const matches = (one: PlacedOverride): boolean =>
      one.scope === "fleet" ||
      ((filter.cluster ?? one.cluster) === one.cluster &&
        (one.scope === "cluster" || (filter.namespace ?? one.inside) === one.inside));
    const placesOf = (some: readonly PlacedOverride[]) =>
      some.filter(matches).map(({ scope, cluster: at, inside, id }) => {
        if (scope === "fleet") return place("", "", "", id);
        return place(
          at,
          scope === "cluster" ? "" : inside,
          scope === "autoscaler" ? "web" : "",
          id,
        );
      });
    const before = all.filter(({ later }) => !later);
    const given = present(filter);
    return {
      fields: given,
      fill: async (context) => {
        for (const one of CLUSTERS) {
          await cluster(context, one);
          for (const inside of NAMESPACES)
            await apply(context, one, hpa("web", { namespace: inside }));
        }
        for (const one of before) await storeOverride(context, one);
      },
      between: all
        .filter(({ later }) => later)
        .map((one) => (context: ServiceContext) => storeOverride(context, one)),
      wanted: placesOf(before),
      possible: placesOf(all),
      placeOf: (item) =>
        place(item["cluster"] ?? "", item["namespace"] ?? "", item["name"] ?? "", item["id"] ?? ""),
      throughClient: (service) => service.overrides(given),
      stepMs: step,
    } satisfies Story;
  });

const HOUR_MS = 3_600_000;

/**
 * Says of a cluster what its newest sync would: how many of its autoscalers have an override that
 * has not ended.
 */
const asSynced = async (
  { tables }: ServiceContext,
  inCluster: string,
  overridden: number,
): Promise<void> => {
  const ref = { cluster: clusterName(inCluster), partition: partitionName("default") };
  const { specVersion = 0 } = (await readHead(tables, ref)) ?? {};
  const summary = encodeHeadSummary({
    ...{
      atMs: NOON,
      baseEpoch: 0,
      baseMs: NOON,
      changedEpoch: 1,
      index: { epoch: 0, hash: "" },
      autoscalers: NAMESPACES.length,
      paused: 0,
      tookMs: 0,
    },
    ...{
      overridden,
      specVersion,
      problems: {},
      trouble: { state: "ok", silent: false, holds: [] },
      rows: [],
    },
  });
  await tables.client.send(
    new UpdateItemCommand({
      TableName: tables.stateTable,
      Key: itemKey(headKey(ref)),
      UpdateExpression: "SET summary = :summary, nowMs = :now",
      ExpressionAttributeValues: { ":summary": { B: summary }, ":now": { N: String(NOON) } },
    }),
  );
};

/** Overrides as people set them, of which some have ended when the list without these is read. */
const liveOverrideStory: fc.Arbitrary<Story> = fc
  .record({
    all: fc.uniqueArray(
      fc.record({
        ...{
          scope: fc.constantFrom(...SCOPES),
          cluster: clusterIn,
          inside: namespaceIn,
          id: fc.stringMatching(/^[a-c]{1,3}$/),
        },
        ...{
          ends: fc.constantFrom(undefined, NOON - HOUR_MS, NOON + HOUR_MS),
          later: fc.boolean(),
        },
      }),
      { selector: ({ id }) => id, minLength: 1, maxLength: 20 },
    ),
    synced: fc.uniqueArray(clusterIn),
    stepMs,
  })
  .map(({ all, synced, stepMs: step }) => {
    const set = async (
      context: ServiceContext,
      { scope, cluster: at, inside, id, ends }: (typeof all)[number],
      clock: () => number,
    ): Promise<void> => {
      const byScope = {
        fleet: { fleet: true },
        cluster: { cluster: at },
        namespace: { cluster: at, namespace: inside },
      };
      const where = scope === "autoscaler" ? { name: `${at}/${inside}/web` } : byScope[scope];
      const commands = openCommands({ ...context, clock, newUid: () => id });
      await commands.setOverride({
        ...where,
        hold: true,
        reason: "drill",
        ...(ends !== undefined && { untilMs: ends }),
      });
    };
    const isLive = ({ ends }: (typeof all)[number]): boolean => ends === undefined || ends > NOON;
    const placesOf = (some: typeof all) =>
      some.filter(isLive).map(({ scope, cluster: at, inside, id }) => {
        const whole = `${scope.slice(0, 1)}-${id}`;
        if (scope === "fleet") return place("", "", "", whole);
        return place(
          at,
          scope === "cluster" ? "" : inside,
          scope === "autoscaler" ? "web" : "",
          whole,
        );
      });
    const before = all.filter(({ later }) => !later);
    const after = all.filter((one) => one.later && isLive(one));
    return {
      fields: { expired: "no" },
      fill: async (context) => {
        for (const one of CLUSTERS) {
          await cluster(context, one);
          for (const inside of NAMESPACES)
            await apply(context, one, hpa("web", { namespace: inside }));
        }
        for (const one of before) await set(context, one, () => NOON - 2 * HOUR_MS);
        for (const at of synced)
          await asSynced(
            context,
            at,
            before.filter((one) => one.scope === "autoscaler" && one.cluster === at && isLive(one))
              .length,
          );
      },
      between: after.map((one) => (context: ServiceContext) => set(context, one, () => NOON)),
      wanted: placesOf(before),
      possible: placesOf([...before, ...after]),
      placeOf: (item) =>
        place(item["cluster"] ?? "", item["namespace"] ?? "", item["name"] ?? "", item["id"] ?? ""),
      throughClient: (service) => service.overrides({ expired: "no" }),
      stepMs: step,
    } satisfies Story;
  });

async function* each(items: Promise<readonly unknown[]>): AsyncGenerator<unknown> {
  yield* await items;
}

/** A list that comes at once: nothing can come between its pages. */
const wholeStory = (
  names: readonly string[],
  story: Pick<Story, "throughClient"> & {
    readonly field: string;
    readonly placeOf?: Story["placeOf"];
    readonly store: (context: ServiceContext, name: string, at: number) => Promise<unknown>;
    readonly places?: readonly string[];
  },
): Story => ({
  fields: {},
  fill: async (context) => {
    for (const [at, name] of names.entries()) await story.store(context, name, at);
  },
  between: [],
  wanted: story.places ?? names,
  possible: story.places ?? names,
  placeOf: story.placeOf ?? (({ name = "" }) => name),
  pageIn: (answer: Readonly<Record<string, readonly unknown[]>>) => ({
    items: answer[story.field] ?? [],
  }),
  throughClient: story.throughClient,
  stepMs: 0,
});

const namesOf = (most: number) =>
  fc.uniqueArray(fc.stringMatching(/^[a-c]{1,4}$/), { minLength: 1, maxLength: most });

/** At most 50 calendars are stored. */
const calendarStory = namesOf(50).map((names) =>
  wholeStory(names, {
    field: "calendars",
    store: (context, name) =>
      openCommands(context).putCalendar({ name, dates: ["2026-12-24/2026-12-31"] }),
    throughClient: (service) => each(service.calendars()),
  }),
);

const sourceStory = fc.record({ names: namesOf(60), pad: padding }).map(({ names, pad }) =>
  wholeStory(names, {
    field: "sources",
    store: (context, name) =>
      openCommands(context).putSource({
        ...{
          name,
          kind: "prometheus",
          url: "https://prometheus.example",
          clusters: ["*"],
          namespaces: ["*"],
        },
        ...(pad.length > 0 && { headers: { "x-scope": pad.slice(0, 200) } }),
      }),
    throughClient: (service) => each(service.sources()),
  }),
);

/** Grants are in the order in which they were given. */
const accessStory = namesOf(60).map((names) =>
  wholeStory(names, {
    field: "grants",
    store: (context, name, at) =>
      openCommands({ ...context, clock: () => NOON + at, newUid: () => name }).grantAccess({
        ...{ arn: `arn:aws:iam::123456789012:user/${name}`, role: "view", cluster: "*" },
      }),
    places: names.map((name, at) => place(timeText(NOON + at), name)),
    placeOf: ({ at = "", id = "" }) => place(at, id),
    throughClient: (service) => each(service.access().then(({ grants }) => grants)),
  }),
);

/**
 * The points of a history at a step of a second: one for each evaluation. It goes on at `next`
 * after a day.
 */
const historyStory: fc.Arbitrary<Story> = fc
  .record({
    bursts: fc.array(burst(40), { minLength: 1, maxLength: 4 }),
    days: fc.integer({ min: 1, max: 13 }),
  })
  .map(({ bursts, days }) => {
    const sinceMs = NOON - days * DAY_MS;
    const seconds = bursts
      .flatMap((one) => timesOf({ ...one, agoMs: one.agoMs % (days * DAY_MS) }))
      .map((atMs) => atMs - (atMs % 1_000));
    const times = [...new Set(seconds)]
      .toSorted((one, other) => one - other)
      .filter((atMs) => atMs > sinceMs);
    const query = { name: "eu-1/shop/web", sinceMs, stepMs: 1_000 };
    return {
      fields: { name: query.name, since: timeText(sinceMs), step: "1" },
      fill: async (context) => {
        const start = { ...context, clock: () => NOON - 14 * DAY_MS };
        await cluster(start, "eu-1");
        await apply(start, "eu-1", hpa("web", { namespace: "shop" }));
        const uid = autoscalerUid((await openQueries(context).get({ name: query.name })).uid);
        const named = { uid, namespace: namespace("shop"), name: autoscalerName("web") };
        const evaluation = {
          ...named,
          kind: "hold",
          failed: false,
          from: 4,
          because: { reason: "R", message: "m" },
          metrics: [],
          steps: [],
          events: [],
        };
        const pages = times.map((atMs) => ({
          atMs,
          epoch: 1,
          page: 0,
          evaluations: [evaluation as Evaluation],
        }));
        await insertJournal(
          context.insert,
          { cluster: clusterName("eu-1"), partition: partitionName("default") },
          pages,
        );
      },
      between: [],
      wanted: times.map(timeText),
      possible: times.map(timeText),
      placeOf: ({ at = "" }) => at,
      pageIn: ({
        points,
        next,
      }: {
        readonly points: readonly unknown[];
        readonly next?: string;
      }) => ({
        items: points,
        ...(next !== undefined && { next: { since: next } }),
      }),
      throughClient: (service) => each(wholeHistory(service, query).then(({ points }) => points)),
      stepMs: 0,
    } satisfies Story;
  });

export const STORIES: Readonly<
  Record<ListName, { readonly story: fc.Arbitrary<Story>; readonly runs: number }>
> = {
  autoscalers: { story: autoscalerStory, runs: 10 },
  doctor: { story: doctorStory, runs: 4 },
  rows: { story: rowStory, runs: 10 },
  events: { story: eventStory, runs: 18 },
  eventCounts: { story: countStory, runs: 12 },
  changes: { story: changeStory, runs: 12 },
  clusters: { story: clusterStory, runs: 10 },
  overrides: { story: fc.oneof(overrideStory, liveOverrideStory), runs: 20 },
  calendars: { story: calendarStory, runs: 4 },
  sources: { story: sourceStory, runs: 4 },
  access: { story: accessStory, runs: 4 },
  history: { story: historyStory, runs: 10 },
};
