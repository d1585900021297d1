import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiHandler } from "../../functions/api.ts";
import type { FunctionUrlHandler } from "../../lib/lambda/function-url.ts";
import { QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { autoscalerUid, clusterName, partitionName } from "../../lib/rules/model/ids.ts";
import { requestSender } from "../../lib/answers/remote/send-request.ts";
import { remoteService } from "../../lib/answers/remote/service.ts";
import { stackUrl } from "../../lib/answers/remote/find-stack.ts";
import type { ServiceContext } from "../../lib/answers/service/context.ts";
import { wholeHistory } from "../../lib/answers/service/history/history.ts";
import { openCommands } from "../../lib/answers/service/open.ts";
import { silenceMsOf } from "../../lib/answers/service/facts/journals.ts";
import type { QueryService } from "../../lib/answers/service/service.ts";
import { wholeShadow } from "../../lib/answers/service/shadow/join-shadow.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { journalPageOf } from "../../lib/stack/store/pages/plan.ts";
import type { HistoryPoint } from "../../lib/answers/views/over-time.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { type FunctionUrl, startFunctionUrl } from "../remote/stand-in/function-url.ts";
import { callerOf, IDENTITIES } from "../remote/world.ts";
import { hpa } from "../service/world/manifests.ts";
import { testTables } from "../sync/world.ts";
import { ask } from "./world.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";
import { insertJournal } from "../store/insert-journal.ts";
import { runs } from "../runs.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const UID = autoscalerUid("uid-1");
let clusters = 0;

let engine: Engine;
let url: FunctionUrl;
let current: FunctionUrlHandler;
beforeAll(async () => {
  engine = await startMemory();
  url = await startFunctionUrl(
    (event) => current(event),
    IDENTITIES,
    () => NOON,
  );
});
afterAll(async () => {
  await url.close();
  await engine.close();
});

/** The client of the command, over a socket and with signatures. */
const throughClient = (): QueryService =>
  remoteService(
    requestSender({
      stack: stackUrl(url.url, "--stack"),
      caller: callerOf("ADA"),
      clock: () => NOON,
      wait: async () => {},
      random: () => 0.5,
    }),
    () => "no edit is made",
  );

/** The two lists of the journal, by requests of their own in place of the client. */
const throughHandler = (): Pick<QueryService, "history" | "shadow"> => {
  const answered = async (
    path: string,
    fields: Readonly<Record<string, string | undefined>>,
  ): Promise<never> => {
    const given = Object.entries(fields).filter(
      (field): field is [string, string] => field[1] !== undefined,
    );
    const query = new URLSearchParams(given).toString();
    const { status, json } = await ask(current, { path, query });
    expect(status, JSON.stringify(json)).toBe(200);
    return json as never;
  };
  const times = ({
    sinceMs,
    untilMs,
  }: {
    readonly sinceMs?: number;
    readonly untilMs?: number;
  }) => ({
    since: sinceMs === undefined ? undefined : new Date(sinceMs).toISOString(),
    until: untilMs === undefined ? undefined : new Date(untilMs).toISOString(),
  });
  return {
    history: ({ cluster, name, stepMs, ...range }) =>
      answered(QUERY_PATHS.history, {
        cluster,
        name,
        step: stepMs === undefined ? undefined : String(stepMs / SECOND_MS),
        ...times(range),
      }),
    shadow: ({ cluster, name, ...range }) =>
      answered(QUERY_PATHS.shadow, { cluster, name, ...times(range) }),
  };
};

/** A sync of the autoscaler: its own count says which sync it is. */
interface Sync {
  readonly atMs: number;
  readonly epoch: number;
  readonly number: number;
}

const evaluationOf = ({ number }: Sync): Evaluation => ({
  ...{
    uid: UID,
    namespace: "shop" as Evaluation["namespace"],
    name: "web" as Evaluation["name"],
    kind: "hold",
    failed: false,
  },
  ...{
    from: number,
    because: { reason: "RivalController", message: "m" },
    metrics: [],
    steps: [],
    events: [],
  },
  // Both agree in one of three syncs: a part of a comparison ends there.
  rivals: [
    {
      kind: "HorizontalPodAutoscaler",
      name: "web",
      uid: "u-1",
      desiredReplicas: number + (number % 3),
    },
  ],
});

/**
 * A run of syncs from some instant of the last days: all at one instant (of different epochs), or
 * milliseconds to hours apart.
 */
const burst = fc.record({
  agoMs: fc.nat({ max: 4 * DAY_MS }),
  count: fc.integer({ min: 1, max: 80 }),
  spacingMs: fc.constantFrom(0, 1, 15_000, 15_000, MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS),
});
type Burst = typeof burst extends fc.Arbitrary<infer Value> ? Value : never;

const syncsOf = (bursts: readonly Burst[], firstNumber: number): readonly Sync[] => {
  let number = firstNumber;
  return bursts
    .flatMap(({ agoMs, count, spacingMs }) =>
      Array.from({ length: count }, (_, at) => NOON - agoMs + at * spacingMs),
    )
    .filter((atMs) => atMs <= NOON)
    .map((atMs) => ({ atMs, epoch: 10_000 + ++number, number }));
};

const inOrder = (one: Sync, other: Sync): number =>
  one.atMs - other.atMs || one.epoch - other.epoch;

/**
 * Where the journal of the autoscaler was, until when: its partition was divided, and its namespace
 * moved.
 */
interface Place {
  readonly partition: string;
  readonly pages: number;
  readonly untilMs: number;
}

const story = fc.record({
  first: fc.array(burst, { minLength: 1, maxLength: 6 }),
  later: fc.array(fc.array(burst, { minLength: 1, maxLength: 2 }), { maxLength: 3 }),
  moved: fc.option(fc.tuple(fc.nat({ max: 4 * DAY_MS }), fc.nat({ max: 4 * DAY_MS })), {
    nil: undefined,
  }),
  periodMs: fc.constantFrom(15_000, MINUTE_MS, 15 * MINUTE_MS),
  since: fc.integer({ min: MINUTE_MS, max: 5 * DAY_MS }),
  until: fc.option(fc.nat({ max: 2 * DAY_MS }), { nil: undefined }),
  through: fc.constantFrom("client", "handler"),
});
type Story = typeof story extends fc.Arbitrary<infer Value> ? Value : never;

const placesOf = ({ moved }: Story): readonly Place[] => {
  const [earlier, later] = (moved ?? [])
    .toSorted((one, other) => other - one)
    .map((agoMs) => NOON - agoMs);
  if (earlier === undefined || later === undefined)
    return [{ partition: "default", pages: 0, untilMs: Number.POSITIVE_INFINITY }];
  return [
    { partition: "default", pages: 70, untilMs: earlier },
    { partition: "default", pages: 1, untilMs: later },
    { partition: "a", pages: 0, untilMs: Number.POSITIVE_INFINITY },
  ];
};

/**
 * Stores the first syncs, then reads; the later ones are stored after the first answer, the second
 * and so on.
 */
const stage = async (told: Story) => {
  const cluster = clusterName(`parts-${++clusters}`);
  const tables = testTables(engine.client, engine.tables, () => NOON);
  const context: ServiceContext = {
    tables,
    insert: insertByStatement(tables),
    clock: () => NOON - 6 * DAY_MS,
    by: "ada",
    newUid: () => UID,
  };
  const service = openCommands(context);
  const connection = { kind: "kubeconfig", path: "none" } as const;
  await service.addCluster({ name: cluster, connection, syncPeriodMs: told.periodMs });
  await service.apply([{ file: "a.yaml", text: hpa("web", { namespace: "shop" }) }], {
    cluster,
    dryRun: false,
  });
  if (told.moved) {
    const partitions = [{ name: "a", namespaces: ["shop"] }, { name: "default" }];
    await openCommands({ ...context, clock: () => NOON }).replaceCluster({
      name: cluster,
      connection,
      partitions,
      syncPeriodMs: told.periodMs,
    });
  }
  const places = placesOf(told);
  // A journal of less than that before a move is not looked for.
  const silenceMs = silenceMsOf({ syncPeriodMs: told.periodMs });
  const isSilent = ({ atMs }: Sync): boolean =>
    places.some(({ untilMs }) => atMs >= untilMs - silenceMs - 1 && atMs < untilMs);
  const store = async (syncs: readonly Sync[]): Promise<void> => {
    for (const one of syncs) {
      const { partition, pages } = places.find(({ untilMs }) => one.atMs < untilMs) as Place;
      const { atMs, epoch } = one;
      const page = {
        atMs,
        epoch,
        page: journalPageOf(UID, pages),
        evaluations: [evaluationOf(one)],
      };
      await insertJournal(context.insert, { cluster, partition: partitionName(partition) }, [page]);
    }
  };
  const before = syncsOf(told.first, 0).filter((one) => !isSilent(one));
  await store(before);
  const between = told.later.map((bursts, at) =>
    syncsOf(bursts, 1_000 * (at + 1)).filter((one) => !isSilent(one)),
  );
  const rest = [...between];
  const api = apiHandler({
    ...context,
    clock: () => NOON,
    reporter: { line: () => {} },
    connecting: { kind: "here" },
  });
  current = async (asked) => {
    const answer = await api(asked);
    await store(rest.shift() ?? []);
    return answer;
  };
  const sinceMs = Math.min(NOON - told.since, NOON - (told.until ?? 0));
  const range = { sinceMs, ...(told.until !== undefined && { untilMs: NOON - told.until }) };
  const asked = ({ atMs }: Sync): boolean => atMs >= sinceMs && atMs <= NOON - (told.until ?? 0);
  return {
    query: { cluster, name: "web", ...range },
    service: told.through === "client" ? throughClient() : throughHandler(),
    wanted: before.filter(asked).toSorted(inOrder),
    possible: [...before, ...between.flat()].filter(asked).toSorted(inOrder),
  };
};

const RUNS = runs(20);
const PATIENCE_MS = 180_000;

/**
 * None is lost that was there before, none is doubled, none is of another time, and the order is
 * that of time.
 */
const expectNone = (
  found: readonly number[],
  { wanted, possible }: { readonly wanted: readonly Sync[]; readonly possible: readonly Sync[] },
): void => {
  const known = new Map(possible.map((one, at) => [one.number, at]));
  expect(
    found.filter((number) => !known.has(number)),
    "none that was not asked for",
  ).toEqual([]);
  const places = found.map((number) => known.get(number) as number);
  expect(places, "in order, none twice").toEqual(
    [...new Set(places)].toSorted((one, other) => one - other),
  );
  const had = new Set(found);
  expect(
    wanted
      .filter(({ number }) => !had.has(number))
      .map(({ number, atMs }) => [number, new Date(atMs).toISOString()]),
    "none lost",
  ).toEqual([]);
};

describe("the journal of an autoscaler over HTTP", () => {
  it(
    "always gives each sync once and in order to a comparison, however it is cut into parts, and whatever is stored in between",
    async () => {
      const property = fc.asyncProperty(story, async (told) => {
        const { service, query, ...stored } = await stage(told);
        const whole = await wholeShadow(service, query);
        // No two syncs have one count, so that each is a stretch.
        expect(whole.stretches.map(({ syncs }) => syncs)).toEqual(whole.stretches.map(() => 1));
        expect(whole.syncs).toBe(whole.stretches.length);
        expectNone(
          whole.stretches.map(({ own }) => own as number),
          stored,
        );
      });
      await fc.assert(property, RUNS);
    },
    PATIENCE_MS,
  );

  it(
    "always gives each step of a history once and in order, with the last sync of the step",
    async () => {
      const property = fc.asyncProperty(
        story,
        fc.constantFrom(1, 15, 60, 3_600, 86_400),
        async (told, stepSeconds) => {
          const { service, query, ...stored } = await stage(told);
          const stepMs = stepSeconds * SECOND_MS;
          const { points } = await wholeHistory(service, { ...query, stepMs });
          const stepOf = (atMs: number): number => Math.floor((atMs - query.sinceMs) / stepMs);
          const steps = points.map(({ at }: HistoryPoint) => stepOf(Date.parse(at)));
          expect(steps, "in order, none twice").toEqual(
            [...new Set(steps)].toSorted((one, other) => one - other),
          );
          const last = (syncs: readonly Sync[]) =>
            new Map(syncs.map((one) => [stepOf(one.atMs), one.number]));
          const known = new Map(stored.possible.map((one) => [one.number, one]));
          const shown = new Map(
            points.map(({ at, current: count }, index) => [
              steps[index],
              [at, known.get(count as number)] as const,
            ]),
          );
          for (const [step, number] of last(stored.wanted)) {
            const [at, one] = shown.get(step) ?? [];
            expect(one, `the step of sync ${number} is lost`).toBeDefined();
            expect(at).toBe(one && new Date(one.atMs).toISOString());
            const mine = known.get(number);
            if (one && mine) expect(inOrder(one, mine)).toBeGreaterThanOrEqual(0);
          }
        },
      );
      // One instant long before the namespace moved: shorter than any silence.
      const moved: Story = {
        ...{
          first: [{ agoMs: 98_412_182, count: 14, spacingMs: 60 * MINUTE_MS }],
          later: [],
          moved: [0, 0],
          periodMs: 15_000,
        },
        ...{ since: MINUTE_MS, until: 51_612_182, through: "client" },
      };
      await fc.assert(property, { ...RUNS, examples: [[moved, 1]] });
    },
    PATIENCE_MS,
  );
});
