import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SendMessageCommand } from "@aws-sdk/client-sqs";
import type { DynamoDBBatchResponse, DynamoDBRecord } from "aws-lambda";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { eventsHandler } from "../../functions/events.ts";
import { lookAround } from "../../lib/answers/cloud-events/look.ts";
import { EVENT_KINDS, eventKindOf } from "../../lib/answers/cloud-events/kinds.ts";
import { putsEvents } from "../../lib/lambda/put-events.ts";
import { sendsEvents } from "../../lib/lambda/send-events.ts";
import type { ChangeRecord, ScopeChangeRecord } from "../../lib/rules/model/changes.ts";
import { autoscalerName, autoscalerUid } from "../../lib/rules/model/ids.ts";
import type { ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";
import type { LogLine } from "../../lib/stack/report/log-lines.ts";
import { changeBaseOf, insertChange } from "../../lib/stack/store/history/changes.ts";
import { insertEvents } from "../../lib/stack/store/history/events.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { insertScopeChange } from "../../lib/stack/store/history/scope-changes.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { ROOT } from "../architecture/source.ts";
import { type EventBus, startEventBus } from "../cloud-events/event-bus.ts";
import { recordOf, streamOf } from "../cloud-events/history-stream.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { runs } from "../runs.ts";
import { event, REF } from "../store/records.ts";
import { testTables } from "../sync/world.ts";

let engine: Engine;
let tables: Tables;
let bus: EventBus;
let letters: { readonly key: string; readonly why: string }[];
let lines: LogLine[];
/** What becomes of a request for the table. */
let onTable: () => void;

beforeAll(async () => {
  bus = await startEventBus();
});
afterAll(() => bus.close());
beforeEach(async () => {
  engine = await startMemory();
  onTable = () => {};
  const client = around(engine.client, (command, send) => {
    if (command === "GetItemCommand") onTable();
    return send();
  });
  tables = testTables(client, engine.tables, () => NOON);
  [letters, lines, bus.status] = [[], [], 200];
  bus.refuse = () => undefined;
  bus.taken.length = 0;
  bus.entries.length = 0;
  vi.stubEnv("AWS_ENDPOINT_URL_EVENTBRIDGE", bus.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await engine.close();
});

const SIGNER = {
  credentials: async () => ({ accessKeyId: "a", secretAccessKey: "b" }),
  region: async () => "eu-central-1",
  clock: () => NOON,
};
const send = (async ({ input: { MessageBody = "" } }: SendMessageCommand) => {
  letters.push(JSON.parse(MessageBody));
  return {};
}) as never;
const deliver = (records: readonly DynamoDBRecord[]): Promise<DynamoDBBatchResponse> =>
  eventsHandler({
    send: sendsEvents({
      tables,
      put: putsEvents(SIGNER, "default"),
      deadLetters: { client: { send }, queueUrl: "https://q" },
    }),
    look: () => lookAround({ tables, insert: insertByStatement(tables) }),
    reporter: { line: (line) => void lines.push(line) },
  })({ Records: [...records] });

/** As Lambda does with a stream: what is named failed is given again, with all after it. */
const deliverAll = async (records: readonly DynamoDBRecord[], times = 50): Promise<void> => {
  let left = records;
  for (let time = 0; left.length > 0; time++) {
    if (time === times) throw new Error(`${left.length} records were never taken`);
    const [failed] = (await deliver(left)).batchItemFailures;
    if (!failed) return;
    left = left.slice(
      left.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === failed.itemIdentifier),
    );
  }
};

const scaleOf = (name: string, epoch: number, parts: Partial<ScaleEventRecord> = {}) =>
  event({
    name: autoscalerName(name),
    uid: autoscalerUid(`uid-${name}`),
    id: `uid-${name}:${epoch}`,
    atMs: NOON + epoch * 1_000,
    settledMs: NOON + epoch * 1_000,
    ...parts,
  });

/** What a day of one autoscaler leaves in the stream of a real table, and its ids in order. */
const aDay = async () => {
  const stream = streamOf(insertByStatement(tables));
  const { insert, records } = stream;
  const added: ScopeChangeRecord = {
    ...{ id: "0a1b", scope: "cluster", name: "eu-1", version: 1, atMs: NOON },
    ...{ by: "ada", verb: "add", after: JSON.stringify({ connection: { token: "t0p-secret" } }) },
  };
  await insertScopeChange(insert, added);
  const uid = autoscalerUid("uid-web");
  const manifest = (max: number) =>
    JSON.stringify({ manifest: JSON.stringify({ spec: { max, note: "x".repeat(600) } }) });
  for (const generation of [1, 2]) {
    const change: ChangeRecord = {
      ...{ ...REF, id: `${uid}:${generation}`, by: "ada", verb: "apply", atMs: NOON + generation },
      ...(generation > 1 && { before: manifest(1) }),
      after: manifest(generation),
    };
    const base = await changeBaseOf(tables, REF, {
      uid,
      ...(generation > 1 && { wholeChange: { generation: 1, atMs: NOON } }),
    });
    await insertChange({ tables, insert }, change, base);
  }
  await insertEvents(insert, [scaleOf("web", 1)]);
  await insertEvents(insert, [scaleOf("web", 2, { from: 5, to: 3 })]);
  return {
    records,
    ids: ["change:0a1b", "change:uid-web:1", "change:uid-web:2", "uid-web:1", "uid-web:2"],
  };
};

describe("the events of the bus", () => {
  it("are each stored scale and each edit once, by the ids of the stored items", async () => {
    const { records, ids } = await aDay();
    expect(records.length).toBe(9);
    expect(await deliver(records)).toEqual({ batchItemFailures: [] });
    expect(bus.taken.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(
      new Set(bus.entries.map(({ EventBusName, Source }) => `${EventBusName} ${Source}`)),
    ).toEqual(new Set(["default tidemark"]));
    expect(lines).toEqual([expect.objectContaining({ level: "debug", message: "Sent 5 events" })]);
  });

  it("have in detail what rules match on, and a sentence for people", async () => {
    const { records } = await aDay();
    await deliver(records);
    expect(bus.taken.find(({ id }) => id === "uid-web:2")).toMatchObject({
      ...{ specversion: "1.0", type: "dev.tidemark.scale", source: "/clusters/eu-1" },
      ...{
        subject: "eu-1/shop/web",
        kind: "scale",
        cluster: "eu-1",
        namespace: "shop",
        name: "web",
      },
      ...{ reason: "MetricAboveTarget", outcome: "applied", direction: "down", step: 2 },
      data: {
        text: "shop/web in eu-1: 5 → 3. cpu resource utilization above target. Why: tidemark explain shop/web --cluster eu-1 --at 2026-03-01T12:00:02.000Z",
      },
    });
    expect(bus.taken.find(({ id }) => id === "change:uid-web:2")).toMatchObject({
      ...{ type: "dev.tidemark.change", subject: "eu-1/shop/web", verb: "apply" },
      data: { by: "ada", generation: 2, fields: ["spec.max"] },
    });
    expect(bus.entries.map(({ DetailType }) => DetailType)).toContain("dev.tidemark.scale");
  });

  it("hold no document of an edit, so that no secret of one is in them", async () => {
    const { records } = await aDay();
    await deliver(records);
    expect(JSON.stringify(bus.entries)).not.toContain("t0p-secret");
  });

  it.each([
    ["fleet", "fleet", "fleet"],
    ["access", "access", "access"],
    ["source", "sources", "source/sources"],
    ["partition", "eu-1/shop", "eu-1"],
  ] as const)("of an edit of %s %s have the subject %s", async (scope, name, subject) => {
    const stream = streamOf(insertByStatement(tables));
    const edit = { id: "0a1b", scope, name, version: 1, atMs: NOON, by: "ada" } as const;
    await insertScopeChange(stream.insert, { ...edit, verb: "replace" });
    await deliver(stream.records);
    expect(bus.taken).toMatchObject([{ subject, scope, verb: "replace" }]);
  });

  it("escape the texts of tenants in the sentence", async () => {
    const stream = streamOf(insertByStatement(tables));
    await insertEvents(stream.insert, [
      scaleOf("web", 1, { message: "up\u202E\u001b[2J\nforged" }),
    ]);
    await deliver(stream.records);
    const [{ data } = { data: { text: "" } }] = bus.taken;
    expect(data.text).toContain("up\\u{202e}\\u{1b}[2J\\nforged");
  });

  it("arrive each at least once, and those of one autoscaler in order, whatever the bus refuses", async () => {
    const property = fc.asyncProperty(
      fc.array(fc.constantFrom("web", "api", "cart"), { minLength: 1, maxLength: 40 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 0, max: 3 }),
      async (names, refusals, copies) => {
        bus.taken.length = 0;
        const items = streamOf(async (all) => all.map(() => ({ kind: "inserted" })));
        for (const [at, name] of names.entries())
          await insertEvents(items.insert, [scaleOf(name, at + 1)]);
        let asked = 0;
        bus.refuse = () =>
          refusals[asked++] === true
            ? ["ThrottlingException", "InternalFailure"][asked % 2]
            : undefined;
        // A copy of a record comes right after it, as where a batch is given again.
        const records = items.records.flatMap((record, at) =>
          at % 4 < copies ? [record, record] : [record],
        );
        await deliverAll(records);
        const firsts = [...new Map(bus.taken.map((one) => [one.id, one])).values()];
        expect(firsts.map(({ id }) => id).toSorted()).toEqual(
          names.map((name, at) => `uid-${name}:${at + 1}`).toSorted(),
        );
        for (const name of new Set(names)) {
          const own = firsts.filter(({ subject }) => subject.endsWith(`/${name}`));
          expect(own.map(({ time }) => time)).toEqual(own.map(({ time }) => time).toSorted());
        }
        expect(letters).toEqual([]);
      },
    );
    await fc.assert(property, runs(40));
  });

  it("wait in the stream while the bus takes none, from the oldest record on", async () => {
    const { records, ids } = await aDay();
    bus.status = 503;
    const { batchItemFailures } = await deliver(records);
    expect(batchItemFailures).toEqual([{ itemIdentifier: records[0]?.dynamodb?.SequenceNumber }]);
    expect(lines.at(-1)).toMatchObject({
      level: "warn",
      message: "Sent 0 events; the bus did not take 5, which are sent again",
      fields: { why: expect.stringContaining("events:PutEvents on default is needed") },
    });
    bus.status = 200;
    await deliverAll(records);
    expect(new Set(bus.taken.map(({ id }) => id))).toEqual(new Set(ids));
  });

  it("wait too where the function may not put them, because a right can be given", async () => {
    const { records } = await aDay();
    bus.refuse = () => "AccessDeniedException";
    expect((await deliver(records)).batchItemFailures).toHaveLength(1);
    expect(letters).toEqual([]);
  });

  it("go to the dead letters by their key where the bus refuses them for good, and stop no other", async () => {
    const { records } = await aDay();
    bus.refuse = ({ id }) => (id === "uid-web:1" ? "MalformedDetail" : undefined);
    expect(await deliver(records)).toEqual({ batchItemFailures: [] });
    expect(letters).toEqual([
      expect.objectContaining({
        key: "autoscaler#eu-1#shop#web event#001772366401000#uid-web:1",
        why: "MalformedDetail: planted",
      }),
    ]);
    expect(bus.taken.map(({ id }) => id)).toContain("uid-web:2");
    expect(lines.at(-1)).toMatchObject({ level: "error", message: "Sent 4 events" });
  });

  it.each([
    ["damaged bytes", new Uint8Array([1, 2, 3])],
    ["text in place of bytes", "{}"],
    ["a later version", new Uint8Array([250, 0])],
  ])("go to the dead letters where the record has %s, and stop no other", async (_what, body) => {
    const { records } = await aDay();
    const key = { pk: "autoscaler#eu-1#shop#api", sk: `event#001795262400000#uid-api:1` };
    const poison = recordOf({ ...key, body, ttlSeconds: 1 }, 99);
    expect(await deliver([poison, ...records])).toEqual({ batchItemFailures: [] });
    expect(letters).toEqual([expect.objectContaining({ key: `${key.pk} ${key.sk}` })]);
    expect(bus.taken).toHaveLength(5);
  });

  it("are read again where the table does not answer: a record is no poison for that", async () => {
    const { records } = await aDay();
    onTable = () => {
      throw Object.assign(new Error("no right"), {
        name: "AccessDeniedException",
        $metadata: { httpStatusCode: 400 },
      });
    };
    await expect(deliver(records)).rejects.toThrow("no right");
    expect(letters).toEqual([]);
  });

  it("are sent without metrics and steps where an entry would be too large", async () => {
    const stream = streamOf(async (all) => all.map(() => ({ kind: "inserted" })));
    const metric = {
      ...{ name: "x".repeat(3_000), type: "Resource" },
      ...({ kind: "failed", reason: "R", message: "m" } as const),
    };
    await insertEvents(stream.insert, [
      scaleOf("web", 1, { metrics: Array.from({ length: 100 }, () => metric) }),
    ]);
    await deliver(stream.records);
    expect(bus.taken).toMatchObject([{ id: "uid-web:1", data: { metrics: [], steps: [] } }]);
  });
});

describe("the filter of the stream", () => {
  /** The patterns of the template, which have no `!`. */
  const patterns = (): readonly Pattern[] =>
    [...readFileSync(join(ROOT, "infra/events.yml"), "utf8").matchAll(/Pattern: '(.*)'/g)].map(
      ([, text = ""]) => JSON.parse(text),
    );
  interface Prefixes {
    readonly S: readonly { readonly prefix: string }[];
  }
  interface Pattern {
    readonly eventName: readonly string[];
    readonly dynamodb: { readonly Keys: { readonly pk: Prefixes; readonly sk?: Prefixes } };
  }
  const passes = (pk: string, sk: string): boolean =>
    patterns().some(({ dynamodb: { Keys } }) => {
      const begins = (text: string, { S }: Prefixes) =>
        S.some(({ prefix }) => text.startsWith(prefix));
      return begins(pk, Keys.pk) && (Keys.sk === undefined || begins(sk, Keys.sk));
    });

  it("lets exactly the items pass that are events", async () => {
    const { records } = await aDay();
    for (const { dynamodb: { Keys } = {} } of records) {
      const [pk = "", sk = ""] = [Keys?.["pk"]?.S, Keys?.["sk"]?.S];
      expect([pk, passes(pk, sk)]).toEqual([pk, eventKindOf({ pk, sk }) !== undefined]);
    }
    for (const { pk, sk } of EVENT_KINDS.flatMap(({ keys }) => keys))
      expect(passes(pk, sk)).toBe(true);
    const others = [
      ["journal#eu-1#all", "000000#001"],
      ["autoscaler#eu-1#shop#web", "rollup#1"],
      ["day#eu-1#2026-11-21", "001#uid-web:1"],
      ["changes#autoscalers#eu-1", "change#1"],
      ["kept#eu-1#all", "1"],
      ["notice", "1"],
      ["request#h#k", "begun"],
    ] as const;
    for (const [pk, sk] of others)
      expect([pk, passes(pk, sk), eventKindOf({ pk, sk })]).toEqual([pk, false, undefined]);
  });
});
