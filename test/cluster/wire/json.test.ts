import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asList, asObject, type Json } from "../../../lib/rules/model/json.ts";
import { POD_LIST, POD_METRICS_LIST } from "../../../lib/stack/cluster/read/pods.ts";
import { readRival } from "../../../lib/stack/cluster/observe/rival-kinds.ts";
import { readWorkloadScale } from "../../../lib/stack/cluster/scale.ts";
import {
  MAX_ANSWER_PARTS,
  MAX_DOCUMENT_PARTS,
  MAX_JSON_DEPTH,
  MAX_OBJECT_BYTES,
  PARTS_OF_AN_ITEM,
} from "../../../lib/stack/cluster/request-limits.ts";
import type { Decoded } from "../../../lib/stack/cluster/wire/answer.ts";
import { decodeDocument, decodeJson } from "../../../lib/stack/cluster/wire/decode-json.ts";
import type { WireKind } from "../../../lib/stack/cluster/wire/message.ts";
import { HPA_LIST, WORKLOAD_LISTS } from "../../../lib/stack/cluster/wire/objects.ts";
import { dice } from "./mutate.ts";
import { aDeployment, aPod, aPodMetrics } from "./objects.ts";
import { RECORDED, recordedAnswer } from "./recorded.ts";
import { readPodMetrics } from "../../answers.ts";
import { readPods } from "../read/answers.ts";
import { runs } from "../../runs.ts";

const FUZZED = runs(2_000).numRuns;

const decoded = (text: string | Buffer): Promise<Decoded> => decodeJson(Buffer.from(text));

/** The items of a list with the fields of the table, or with all. */
const itemsOf = async (text: string, kind?: WireKind): Promise<readonly Json[]> => {
  const items: Json[] = [];
  const answer = await decodeJson(Buffer.from(text), {
    message: kind?.message,
    onItem: (item) => items.push(item),
  });
  if (answer.kind === "broken") throw new Error(answer.state);
  expect(answer.streamed).toBe(true);
  return items;
};

const objectOf = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const TEXTS = RECORDED.map((recorded) =>
  recordedAnswer(recorded, "json").toString("latin1").slice(0, 3_000),
);
const PIECES = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "\\u00",
  "null",
  "-",
  "1e9",
  " ",
  "\u0000",
  "\u0080",
  '"items":[',
  "{}",
  "",
];

/** A recorded answer, whole or cut, damaged in up to four places. */
const damagedJson = (seed: number): Buffer => {
  const roll = dice(seed);
  roll(2);
  let text = roll(3) === 0 ? '{"items":[{"a":1}]}' : (TEXTS[roll(TEXTS.length)] ?? "");
  for (let count = roll(4); count >= 0; count--) {
    const at = roll(text.length + 1);
    text = text.slice(0, at) + PIECES[roll(PIECES.length)] + text.slice(at + roll(3));
  }
  return Buffer.from(text, "latin1");
};

const READERS: readonly (readonly [
  string,
  WireKind,
  fc.Arbitrary<unknown>,
  (items: unknown) => unknown,
])[] = [
  ["pods", POD_LIST, aPod, readPods],
  ["PodMetrics", POD_METRICS_LIST, aPodMetrics, readPodMetrics],
  [
    "scales",
    WORKLOAD_LISTS["deployments.apps"] as WireKind,
    aDeployment,
    (items) => asList(items).map(readWorkloadScale),
  ],
];

/** An object in which some values were replaced by ones of another type. */
const bent = (objects: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      objects,
      fc.array(fc.tuple(fc.nat(30), fc.constantFrom(null, 7, "x", true, [], {}, ["a"], { a: 1 })), {
        maxLength: 3,
      }),
    )
    .map(([object, bends]) => {
      const at = new Map(bends);
      let count = 0;
      return JSON.parse(JSON.stringify(object), (key, value) =>
        key !== "" && at.has(count++) ? at.get(count - 1) : value,
      );
    });

describe("JSON of an answer", () => {
  it("is what JSON.parse makes of it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
        fc.constantFrom(undefined, 1, "\t"),
        async (object, space) => {
          const text = JSON.stringify(object, null, space);
          expect(await decoded(text)).toEqual({ kind: "object", object: JSON.parse(text) });
          expect(decodeDocument(Buffer.from(text))).toEqual(JSON.parse(text));
          expect(await itemsOf(`{"kind":"List","items":[${text},${text}],"more":${text}}`)).toEqual(
            [JSON.parse(text), JSON.parse(text)],
          );
        },
      ),
      runs(100),
    );
  });

  it.each(READERS)(
    "gives the same %s by the fields of the table as by all fields, whatever types its values have",
    async (_what, kind, objects, read) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof(objects, bent(objects)), { maxLength: 4 }),
          async (items) => {
            const text = JSON.stringify({ kind: kind.kind, metadata: {}, items });
            expect(read(await itemsOf(text, kind))).toEqual(read(JSON.parse(text).items));
          },
        ),
        runs(100),
      );
    },
  );

  it.each(RECORDED.filter(({ name }) => name !== "refused"))(
    "of a real server holds the same items by the table: $name",
    async ({ name, kind }) => {
      const text = recordedAnswer({ name }, "json").toString();
      const read = (items: readonly Json[]): unknown => {
        if (kind === POD_LIST) return readPods(items);
        return kind === HPA_LIST
          ? items.map((item) => readRival(item, "HorizontalPodAutoscaler"))
          : items.map(readWorkloadScale);
      };
      expect(read(await itemsOf(text, kind))).toEqual(read(JSON.parse(text).items));
    },
  );

  it("takes the later one of two equal keys, as JSON.parse does, and an own field for __proto__", async () => {
    const labels =
      '{"metadata":{"name":"a","name":"b","labels":{"__proto__":"x","a":"1","a":"2"}}}';
    const [pod] = await itemsOf(`{"items":[${labels}]}`, POD_LIST);
    expect(pod).toEqual(JSON.parse(labels));
    expect(Object.keys(asObject(asObject(pod?.["metadata"])["labels"]))).toEqual([
      "__proto__",
      "a",
    ]);
  });

  it.each([
    ["nothing", "", "it ends where an object is expected"],
    ["a list", "[]", "an object is expected at byte 0"],
    ["a text behind the object", "{} {}", "the end is expected at byte 3"],
    [
      "a comma before the end",
      '{"items":[{},]}',
      "an object as the item of the list is expected at byte 13",
    ],
    [
      "an item that is null",
      '{"items":[null]}',
      "an object as the item of the list is expected at byte 10",
    ],
    ["items that come twice", '{"items":[],"items":[]}', "it has its items twice"],
    ["a key without quotes", "{a:1}", "a key is expected at byte 1"],
    ["a line break in a text", '{"a":"\n"}', "the rest of a text is expected at byte 6"],
    ["a text that does not end", '{"a":"\\"', "it ends where the rest of a text is expected"],
    ["no value", '{"a":}', "a value is expected at byte 5"],
    ["lists that are closed as objects", '{"x":[}]}', "a value is expected at byte 6"],
  ])("is refused with the place: %s", async (_what, text, state) => {
    expect(await decodeJson(Buffer.from(text), { onItem: () => undefined })).toMatchObject({
      kind: "broken",
      state,
    });
  });

  it("is refused where it is cut anywhere", async () => {
    for (const { name, kind } of RECORDED.filter((recorded) => recorded.name !== "refused")) {
      const bytes = recordedAnswer({ name }, "json");
      const end = bytes.toString().trimEnd().length;
      for (let length = 0; length < end; length += 7)
        expect(
          await decodeJson(bytes.subarray(0, length), {
            message: kind.message,
            onItem: () => undefined,
          }),
        ).toMatchObject({ kind: "broken" });
    }
  });

  it(`always ends in a value, and in the one of JSON.parse: ${FUZZED} damaged answers`, async () => {
    let whole = 0;
    for (let seed = 1; seed <= FUZZED; seed++) {
      const bytes = damagedJson(seed);
      const expected = objectOf(bytes.toString("utf8"));
      const answer = await decodeJson(bytes);
      expect(answer.kind === "object" ? answer.object : undefined).toEqual(expected);
      const listed = await decodeJson(bytes, {
        message: POD_LIST.message,
        onItem: () => undefined,
      });
      if (expected !== undefined && listed.kind === "object") whole++;
    }
    expect(whole).toBeGreaterThan(FUZZED / 100);
  });
});

const list = (item: string, times: number): string =>
  `{"kind":"PodList","metadata":{},"items":[${`${item},`.repeat(times - 1)}${item}]}`;

describe("the bounds of a JSON answer", () => {
  const given = (text: string, kind?: WireKind): Promise<Decoded> =>
    decodeJson(Buffer.from(text), { message: kind?.message, onItem: () => undefined });

  it("keep as many items as one answer may have, and no more", async () => {
    const most = MAX_ANSWER_PARTS / PARTS_OF_AN_ITEM;
    expect(await given(list("{}", most), POD_LIST)).toMatchObject({ kind: "object" });
    const state = `more than ${MAX_ANSWER_PARTS} values would be kept of the answer`;
    expect(await given(list("{}", most + 1), POD_LIST)).toEqual({
      kind: "broken",
      state,
      reason: "AnswerTooLarge",
    });
  });

  it("do not count what the table does not name, and count all where there is no table", async () => {
    const item = `{"metadata":{"annotations":${JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, ""])))}}}`;
    expect(await given(list(item, 160), POD_LIST)).toMatchObject({ kind: "object" });
    expect(await given(list(item, 160))).toMatchObject({
      kind: "broken",
      reason: "AnswerTooLarge",
    });
  });

  it("refuse a document beside a list with too many values, and an object with too many bytes", async () => {
    const values = (count: number): string => `{"a":[${"1,".repeat(count - 3)}1]}`;
    expect(await decoded(values(MAX_DOCUMENT_PARTS))).toMatchObject({ kind: "object" });
    expect(await decoded(values(MAX_DOCUMENT_PARTS + 1))).toMatchObject({
      kind: "broken",
      reason: "AnswerTooLarge",
    });
    expect(decodeDocument(Buffer.from(values(MAX_DOCUMENT_PARTS + 1)))).toBeUndefined();
    const item = `{"metadata":{"name":"${"x".repeat(MAX_OBJECT_BYTES)}","a":1}}`;
    expect(await given(list(item, 1), POD_LIST)).toMatchObject({
      kind: "broken",
      state: `an object has more than ${MAX_OBJECT_BYTES} bytes`,
    });
  });

  it("refuse what is nested too deep, where it is kept and where it is skipped", async () => {
    const nested = (depth: number): string =>
      `{"metadata":{},"items":[{"spec":${"[".repeat(depth)}${"]".repeat(depth)}}]}`;
    for (const kind of [POD_LIST, undefined]) {
      expect(await given(nested(MAX_JSON_DEPTH - 1), kind)).toMatchObject({ kind: "object" });
      expect(await given(nested(1_000_000), kind)).toMatchObject({
        kind: "broken",
        state: expect.stringContaining(`more than ${MAX_JSON_DEPTH} deep`),
      });
    }
    expect(await given(`{"metadata":${'{"a":'.repeat(1_000_000)}`)).toMatchObject({
      kind: "broken",
    });
  });

  it("let the event loop go on between the items", async () => {
    let turns = 0;
    const turn = (): void => {
      turns++;
      timer = setImmediate(turn);
    };
    let timer = setImmediate(turn);
    await given(list(`{"spec":{"a":"${"x".repeat(10_000)}"}}`, 1_000), POD_LIST);
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(20);
  });
});
