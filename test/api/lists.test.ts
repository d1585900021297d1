import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiHandler } from "../../functions/api.ts";
import type { FunctionUrlHandler } from "../../functions/function-url.ts";
import { QUERY_PATHS } from "../../lib/api/paths.ts";
import { QUERY_ROUTES } from "../../lib/api/query-routes.ts";
import { ensureTables, startTables } from "../../lib/local/tables/embedded-tables.ts";
import { autoscalerName, autoscalerUid, clusterName, namespace } from "../../lib/model/ids.ts";
import type { ChangeRecord, ScopeChangeRecord } from "../../lib/model/changes.ts";
import type { Override, OverrideScope } from "../../lib/model/override.ts";
import { requestSender } from "../../lib/remote/send-request.ts";
import { remoteService } from "../../lib/remote/service.ts";
import { stackUrl } from "../../lib/remote/find-stack.ts";
import type { ServiceContext } from "../../lib/service/context.ts";
import { openCommands } from "../../lib/service/open.ts";
import type { QueryService } from "../../lib/service/service.ts";
import { insertChange } from "../../lib/store/history/changes.ts";
import { DAY_MS, insertEvents } from "../../lib/store/history/events.ts";
import { closeDays } from "../../lib/store/history/event-calendar.ts";
import { insertByStatement } from "../../lib/store/history/item.ts";
import { insertScopeChange } from "../../lib/store/history/scope-changes.ts";
import { getAutoscaler, putAutoscaler } from "../../lib/store/records/autoscalers.ts";
import { getCluster, getFleet, putCluster, putFleet } from "../../lib/store/records/clusters.ts";
import { tableDefinitions } from "../../lib/store/table/tables.ts";
import { NOON } from "../noon.ts";
import { type FunctionUrl, startFunctionUrl } from "../remote/stand-in/function-url.ts";
import { callerOf, IDENTITIES } from "../remote/world.ts";
import { hpa } from "../service/world/manifests.ts";
import { event } from "../store/records.ts";
import { testTables } from "../sync/world.ts";
import { ask } from "./world.ts";
import type { ScaleEventRecord } from "../../lib/model/scale-records.ts";

/** The queries that answer with a list. A new one does not compile without its story below. */
type ListName = { [Name in keyof QueryService]: ReturnType<QueryService[Name]> extends AsyncIterable<unknown> ? Name : never }[keyof QueryService];

type Fields = Readonly<Record<string, string>>;
type Item = Readonly<Record<string, string>>;

/** What is stored before a list is read, what comes in between its pages, and what is asked. Each item is known by its place in the list, a text that sorts as the list does. */
interface Story {
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
  readonly throughClient: (service: QueryService) => AsyncIterable<unknown>;
  /** What each look at the clock takes: a page also ends at its limit of time. */
  readonly stepMs: number;
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
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const cluster = (context: ServiceContext, name: string) =>
  openCommands(context).addCluster({ name, connection: { kind: "kubeconfig", path: "none" } });

/** A dense or a thin run of things in time, from some instant of the last 130 days: all at one instant, or a millisecond to a day apart. */
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
  Array.from({ length: count }, (_, index) => NOON - agoMs + index * spacingMs).filter((atMs) => atMs <= NOON);

const EVENT_PLACE = (one: { readonly at: string; readonly cluster: string; readonly id: string }): string => place(one.at, one.cluster, one.id);

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
  for (const one of CLUSTERS) while ((await closeDays(tables, insert, clusterName(one), NOON)).length > 0);
};

const eventStoryOf = ({ first, later, name, since, until, stepMs: step, closes = false, ...filter }: EventInput) => {
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
  const range = { ...(since !== undefined && { since: timeText(sinceMs) }), ...(until !== undefined && { until: timeText(untilMs) }) };
  const path = name?.includes("/") === true;
  const scope = path ? { cluster: undefined, namespace: undefined } : filter;
  const matches = (one: ScaleEventRecord): boolean =>
    one.atMs >= sinceMs &&
    one.atMs <= untilMs &&
    (scope.cluster ?? one.cluster) === one.cluster &&
    (scope.namespace ?? one.namespace) === one.namespace &&
    (name === undefined || (path ? `${one.cluster}/${one.namespace}/${one.name}` : one.name) === name);
  const placesOf = (all: readonly ScaleEventRecord[]) => all.filter(matches).map((one) => EVENT_PLACE({ ...one, at: timeText(one.atMs) }));
  const given = present({ ...scope, name });
  const query = { ...given, ...(since !== undefined && { sinceMs }), ...(until !== undefined && { untilMs }) };
  const story: Story = {
    fields: { ...given, ...range },
    fill: async (context) => {
      const start = { ...context, clock: () => NOON - 131 * DAY_MS };
      for (const one of CLUSTERS) {
        await cluster(start, one);
        for (const inside of NAMESPACES) await apply(start, one, hpa("web", { namespace: inside }));
      }
      for (const day of Map.groupBy(before, ({ atMs }) => Math.floor(atMs / DAY_MS)).values()) await insertEvents(context.insert, day);
      if (closes) await closeAll(context);
    },
    between: after.map(
      (records) =>
        async ({ insert }: ServiceContext) =>
          void (await insertEvents(insert, records)),
    ),
    wanted: placesOf(before),
    possible: placesOf([...before, ...after.flat()]),
    placeOf: (item) => EVENT_PLACE(item as { readonly at: string; readonly cluster: string; readonly id: string }),
    throughClient: (service) => service.events(query),
    stepMs: step,
  };
  return { story, all: { before: before.filter(matches), after: after.flat().filter(matches), query } };
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

/** The counts of the same events: a line for each autoscaler and month that has some. */
const countStory: fc.Arbitrary<Story> = eventInput.map((input) => {
  const { all, story } = eventStoryOf(input);
  const linesOf = (events: readonly ScaleEventRecord[]) => [
    ...new Set(events.map(({ atMs, ...one }) => MONTH_PLACE({ ...one, month: timeText(atMs).slice(0, "2026-03".length) }))),
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
      fc.record({ cluster: clusterIn, inside: namespaceIn, name: fc.stringMatching(/^[a-c]{1,3}$/), pad: padding, later: fc.boolean() }),
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
      (filter.cluster === undefined || one.cluster === filter.cluster) && (filter.namespace === undefined || one.inside === filter.namespace);
    const placesOf = (some: typeof all) => some.filter(matches).map((one) => place(one.cluster, one.inside, one.name));
    const store = (context: ServiceContext, one: (typeof all)[number]) =>
      apply(context, one.cluster, hpa(one.name, { namespace: one.inside }).replace("metadata:", `metadata:\n  annotations: { note: "${one.pad}" }`));
    const before = all.filter(({ later }) => !later);
    const given = present(filter);
    return {
      fields: given,
      fill: async (context) => {
        for (const one of CLUSTERS) await cluster(context, one);
        for (const one of before) await store(context, one);
      },
      between: all.filter(({ later }) => later).map((one) => async (context: ServiceContext) => void (await store(context, one))),
      wanted: placesOf(before),
      possible: placesOf(all),
      placeOf: (item) => place(item["cluster"] ?? "", item["namespace"] ?? "", item["name"] ?? ""),
      throughClient: (service) => service.autoscalers(given),
      stepMs: step,
    } satisfies Story;
  });

/** An entry of a page is a cluster with all of its rows. */
const rowStory: fc.Arbitrary<Story> = autoscalerStory.map((story) => ({
  ...story,
  itemsIn: (entry) => {
    const { cluster: inCluster, rows } = entry as { readonly cluster: string; readonly rows: readonly Item[] };
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
        if (++count % 5 === 0) return { ...by, id: `hash${count}`, scope: "fleet", name: "fleet", verb: "freeze", version: count };
        if (count % 3 === 0) return { ...by, id: `hash${count}`, scope: "cluster", name: one.cluster, verb: "pause", version: count };
        const ref = { cluster: clusterName(one.cluster), namespace: namespace(one.inside), name: autoscalerName("web") };
        return { ...by, ...ref, id: `uid-${one.cluster}-${one.inside}:${count}`, verb: "apply" };
      });
    const insertAll = async ({ tables, insert }: ServiceContext, records: readonly (ChangeRecord | ScopeChangeRecord)[]): Promise<void> => {
      for (const record of records) await ("scope" in record ? insertScopeChange(insert, record) : insertChange({ tables, insert }, record));
    };
    const before = first.flatMap(recordsOf);
    const after = later.map(recordsOf);
    const sinceMs = NOON - (since ?? 0);
    const scope = name === undefined ? filter : { cluster: undefined, namespace: undefined };
    const isOfAutoscaler = (one: ChangeRecord): boolean =>
      name === undefined
        ? (scope.cluster ?? one.cluster) === one.cluster && (scope.namespace ?? one.namespace) === one.namespace
        : `${one.cluster}/${one.namespace}/${one.name}` === name;
    const isOfScope = (one: ScopeChangeRecord): boolean =>
      name === undefined && scope.namespace === undefined && (scope.cluster === undefined || one.name === scope.cluster);
    const matches = (one: ChangeRecord | ScopeChangeRecord): boolean =>
      (since === undefined || one.atMs >= sinceMs) && ("scope" in one ? isOfScope(one) : isOfAutoscaler(one));
    const placesOf = (all: readonly (ChangeRecord | ScopeChangeRecord)[]) => all.filter(matches).map(({ atMs, id }) => place(timeText(atMs), id));
    const given = present({ ...scope, name });
    return {
      fields: { ...given, ...(since !== undefined && { since: timeText(sinceMs) }) },
      fill: async (context) => {
        // The edits that add the clusters are older than every other one, and outside of the question.
        const start = { ...context, clock: () => NOON - 136 * DAY_MS };
        for (const one of CLUSTERS) await cluster(start, one);
        await insertAll(context, before);
      },
      between: after.map((records) => (context: ServiceContext) => insertAll(context, records)),
      wanted: placesOf(before),
      possible: placesOf([...before, ...after.flat()]),
      placeOf: (item) => (item["verb"] === "add" ? ADDING : place(item["at"] ?? "", item["id"] ?? "")),
      throughClient: (service) => service.changes({ ...given, ...(since !== undefined && { sinceMs }) }),
      stepMs: step,
    } satisfies Story;
  });
/** The place of the edits by which the tests add their clusters. It is before every other. */
const ADDING = "";

const clusterStory: fc.Arbitrary<Story> = fc
  .record({ names: fc.uniqueArray(fc.stringMatching(/^[a-c]{1,3}$/), { minLength: 1, maxLength: 20 }), later: fc.nat({ max: 5 }), stepMs })
  .map(({ names, later, stepMs: step }) => {
    const before = names.slice(0, -later || undefined);
    return {
      fields: {},
      fill: async (context) => {
        for (const one of before) await cluster(context, one);
      },
      between: names.slice(before.length).map((one) => async (context: ServiceContext) => void (await cluster(context, one))),
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

const storeOverride = async ({ tables }: ServiceContext, { scope, cluster: at, inside, id, pad }: PlacedOverride): Promise<void> => {
  const one: Override = {
    id,
    set: { hold: true },
    ...(scope === "namespace" && { namespace: inside }),
    ...{ fromMs: NOON, reason: `drill ${pad}`, by: "ada", atMs: NOON },
  };
  const withOne = <Listed extends { readonly overrides?: readonly Override[] }>(item: Listed): Listed => ({
    ...item,
    overrides: [...(item.overrides ?? []), one],
  });
  if (scope === "fleet") {
    const { version, ...fleet } = await getFleet(tables);
    await putFleet(tables, withOne(fleet), version);
  } else if (scope === "autoscaler") {
    const record = await getAutoscaler(tables, { cluster: clusterName(at), namespace: namespace(inside), name: autoscalerName("web") });
    if (record) await putAutoscaler(tables, withOne({ ...record, generation: record.generation + 1 }), record.generation);
  } else {
    const record = await getCluster(tables, clusterName(at));
    if (record) await putCluster(tables, withOne({ ...record, version: record.version + 1 }), record.version);
  }
};

const SCOPES: readonly OverrideScope[] = ["fleet", "cluster", "namespace", "autoscaler"];

const overrideStory: fc.Arbitrary<Story> = fc
  .record({
    all: fc.uniqueArray(
      fc.record({
        ...{ scope: fc.constantFrom(...SCOPES), cluster: clusterIn, inside: namespaceIn, id: fc.stringMatching(/^[a-c]{1,3}$/) },
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
      ((filter.cluster ?? one.cluster) === one.cluster && (one.scope === "cluster" || (filter.namespace ?? one.inside) === one.inside));
    const placesOf = (some: readonly PlacedOverride[]) =>
      some.filter(matches).map(({ scope, cluster: at, inside, id }) => {
        if (scope === "fleet") return place("", "", "", id);
        return place(at, scope === "cluster" ? "" : inside, scope === "autoscaler" ? "web" : "", id);
      });
    const before = all.filter(({ later }) => !later);
    const given = present(filter);
    return {
      fields: given,
      fill: async (context) => {
        for (const one of CLUSTERS) {
          await cluster(context, one);
          for (const inside of NAMESPACES) await apply(context, one, hpa("web", { namespace: inside }));
        }
        for (const one of before) await storeOverride(context, one);
      },
      between: all.filter(({ later }) => later).map((one) => (context: ServiceContext) => storeOverride(context, one)),
      wanted: placesOf(before),
      possible: placesOf(all),
      placeOf: (item) => place(item["cluster"] ?? "", item["namespace"] ?? "", item["name"] ?? "", item["id"] ?? ""),
      throughClient: (service) => service.overrides(given),
      stepMs: step,
    } satisfies Story;
  });

const STORIES: Readonly<Record<ListName, { readonly story: fc.Arbitrary<Story>; readonly runs: number }>> = {
  autoscalers: { story: autoscalerStory, runs: 5 },
  rows: { story: rowStory, runs: 5 },
  events: { story: eventStory, runs: 6 },
  eventCounts: { story: countStory, runs: 6 },
  changes: { story: changeStory, runs: 6 },
  clusters: { story: clusterStory, runs: 5 },
  overrides: { story: overrideStory, runs: 5 },
};

/** A person waits for few stories, and CI has time for more. */
const RUNS_OF_CI = 4;
const PATIENCE_MS = 180_000;

let url: FunctionUrl;
let current: FunctionUrlHandler;
beforeAll(async () => {
  url = await startFunctionUrl(
    (each) => current(each),
    IDENTITIES,
    () => NOON,
  );
});
afterAll(() => url.close());

/** Reads a list to its end through the handler, request by request. */
const readByPages = async (path: string, fields: Fields): Promise<readonly unknown[]> => {
  const items: unknown[] = [];
  for (let page: Fields | undefined = {}; page; ) {
    const { status, json } = await ask(current, { path, query: new URLSearchParams({ ...fields, ...page }).toString() });
    expect(status).toBe(200);
    const answer = json as { readonly items: readonly unknown[]; readonly next?: string };
    items.push(...answer.items);
    page = answer.next === undefined ? undefined : { page: answer.next };
  }
  return items;
};

/** The client of the command, over a socket and with signatures. */
const client = (): QueryService => {
  const sender = requestSender({
    stack: stackUrl(url.url, "--stack"),
    caller: callerOf("ADA"),
    clock: () => NOON,
    wait: async () => {},
    random: () => 0.5,
  });
  return remoteService(sender, () => "no edit is made");
};

const check = async (name: ListName, story: Story, through: "handler" | "client"): Promise<void> => {
  const engine = await startTables();
  try {
    const names = { stateTable: "state", historyTable: "history" };
    const embedded = engine.client();
    await ensureTables(embedded, tableDefinitions(names));
    let nowMs = NOON;
    let uids = 0;
    const tables = testTables(embedded, names, () => nowMs);
    const context: ServiceContext = { tables, insert: insertByStatement(tables), clock: () => NOON, by: "ada", newUid: () => `uid-${++uids}` };
    await story.fill(context);
    const clock = (): number => (nowMs += story.stepMs);
    const api = apiHandler({ ...context, clock, reporter: { line: () => {} }, connecting: { kind: "here" } });
    const between = [...story.between];
    current = async (asked) => {
      const answer = await api(asked);
      await between.shift()?.(context);
      return answer;
    };
    const items = await (through === "client" ? Array.fromAsync(story.throughClient(client())) : readByPages(QUERY_PATHS[name], story.fields));
    const places = items
      .flatMap((item) => story.itemsIn?.(item) ?? [item as Item])
      .map((item) => story.placeOf(item))
      .filter((one) => one !== ADDING);
    expect(places, "in order, none twice").toEqual([...new Set(places)].toSorted());
    const before = new Set(story.wanted);
    expect(
      places.filter((one) => before.has(one)),
      "none lost",
    ).toEqual(story.wanted.toSorted());
    expect(
      places.filter((one) => !story.possible.includes(one)),
      "none that was not asked for",
    ).toEqual([]);
  } finally {
    await engine.close();
  }
};

describe("a list of the API", () => {
  it("has a story here, for each route that takes a page", () => {
    const paged = Object.entries(QUERY_ROUTES).flatMap(([name, { schema }]) =>
      "shape" in schema && Object.hasOwn(schema.shape as object, "page") ? [name] : [],
    );
    expect(paged.toSorted()).toEqual(Object.keys(STORIES).toSorted());
  });

  it.each(Object.entries(STORIES) as [ListName, (typeof STORIES)[ListName]][])(
    "%s always returns what is stored, once and in order, at the shipped limits",
    async (name, { story, runs }) => {
      const property = fc.asyncProperty(story, fc.constantFrom("handler", "client"), async (one, through) => {
        fc.pre(one.wanted.length > 0);
        await check(name, one, through);
      });
      await fc.assert(property, { numRuns: process.env["CI"] === undefined ? runs : runs * RUNS_OF_CI });
    },
    PATIENCE_MS,
  );

  it("of events goes on after its last event, also where a page spans more days than are searched first", async () => {
    const thin = { agoMs: 20 * DAY_MS, count: 40, spacingMs: 10 * 3_600_000, cluster: "eu-1", inside: "shop", pad: "x".repeat(60_000) };
    const asked = { later: [], name: undefined, cluster: undefined, namespace: undefined, since: 60 * DAY_MS, until: undefined, stepMs: 0 };
    await check("events", eventStoryOf({ ...asked, first: [thin] }).story, "client");
  });
});
