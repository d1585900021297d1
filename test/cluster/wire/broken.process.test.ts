import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ObservedCluster } from "../../../lib/stack/cluster/cluster-client.ts";
import {
  MAX_ANSWER_BYTES,
  MAX_ANSWER_PARTS,
  MAX_OBJECT_BYTES,
  MAX_OBJECT_FIELDS,
} from "../../../lib/stack/cluster/request-limits.ts";
import { decodeAnswer } from "../../../lib/stack/cluster/wire/answer.ts";
import { POD_LIST } from "../../../lib/stack/cluster/read/pods.ts";
import { partsOf } from "../../answers.ts";
import { json, type StandIn, standIn } from "../stand-in/server.ts";
import { clientTo, WHOLE, watch } from "../stand-in/watched.ts";
import { readMutated } from "./mutate.ts";
import { RECORDED, recordedAnswer } from "./recorded.ts";

const PODS = recordedAnswer({ name: "pods" }, "pb");
const MAGIC = PODS.subarray(0, 4);
const FUZZED = 10_000;

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
};
const field = (number: number, content: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);

/** A PodList of exactly these bytes, rightly wrapped. */
const rawPodList = (...parts: readonly Buffer[]): Buffer => {
  const typeMeta = Buffer.concat([field(1, Buffer.from("v1")), field(2, Buffer.from("PodList"))]);
  return Buffer.concat([MAGIC, field(1, typeMeta), field(2, Buffer.concat(parts))]);
};
/** The same with metadata, as every list has them. */
const podList = (...parts: readonly Buffer[]): Buffer =>
  rawPodList(field(1, Buffer.alloc(0)), ...parts);

/** A pod of the namespace that is watched, with more fields behind. */
const pod = (...more: readonly Buffer[]): Buffer =>
  field(2, Buffer.concat([field(1, field(3, Buffer.from("shop"))), ...more]));
const repeated = (bytes: Buffer, times: number): Buffer =>
  Buffer.alloc(bytes.length * times, bytes);

const BROKEN: readonly (readonly [string, Buffer])[] = [
  ["nothing at all", Buffer.alloc(0)],
  ["JSON in the name of protobuf", Buffer.from('{"items":[]}')],
  ["an answer that is cut in the middle", PODS.subarray(0, PODS.length / 2)],
  [
    "an answer without the list inside",
    Buffer.concat([
      MAGIC,
      field(1, Buffer.concat([field(1, Buffer.from("v1")), field(2, Buffer.from("PodList"))])),
    ]),
  ],
  ["a list with neither metadata nor items", rawPodList(field(9, Buffer.from("more")))],
  ["the list of another kind", recordedAnswer({ name: "deployments" }, "pb")],
  ["a Status in the place of the list", recordedAnswer({ name: "refused" }, "pb")],
  [
    "a pod that is longer than its list",
    podList(Buffer.concat([Buffer.from([0x12]), varint(1_000), Buffer.from("short")])),
  ],
  [
    "a name that ends behind its pod",
    podList(
      field(2, Buffer.concat([Buffer.from([0x0a, 0x02, 0x0a]), varint(40)])),
      Buffer.alloc(60, 0x0a),
    ),
  ],
  ["a length of four gigabytes", podList(Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]))],
  [
    "a length that never ends",
    podList(Buffer.concat([Buffer.from([0x12]), Buffer.alloc(30, 0xff)])),
  ],
  ["a number where a message belongs", podList(Buffer.from([0x10, 0x01]))],
  ["groups within groups, a million deep", podList(pod(repeated(Buffer.from([0x7b]), 1_000_000)))],
  [
    "a group that never ends",
    podList(Buffer.concat([Buffer.from([0x7b]), Buffer.alloc(100, 0x08)])),
  ],
  ["a group that ends", podList(pod(Buffer.from([0x7b, 0x7c])))],
  ["a field with number 0", podList(Buffer.from([0x02, 0x00]))],
  [
    "whole namespaces before a pod that is cut",
    podList(
      pod(),
      field(2, field(1, field(3, Buffer.from("zzz")))),
      Buffer.from([0x12, 0x20, 0x0a]),
    ),
  ],
];

let server: StandIn;
beforeAll(async () => {
  server = await standIn();
});
afterAll(() => server.close());

/** An observation of one deployment on CPU by a cluster whose pods are these bytes. */
const observing = async (
  pods: Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<ObservedCluster> => {
  const metadata = { namespace: "shop", name: "web", uid: "u", resourceVersion: "1" };
  const deployment = {
    metadata,
    spec: { replicas: 3, selector: { matchLabels: { app: "web" } } },
    status: { replicas: 3 },
  };
  server.answer = (seen, response, socket) => {
    if (seen.url.pathname === "/api/v1/namespaces/shop/pods") {
      response
        .writeHead(200, { "content-type": "application/vnd.kubernetes.protobuf", ...headers })
        .end(pods);
    } else if (seen.url.pathname.endsWith("/deployments"))
      json(200, { items: [deployment] })(seen, response, socket);
    else json(200, { items: [] })(seen, response, socket);
  };
  const client = clientTo(server);
  try {
    return await client.observe([watch("shop", "web")], WHOLE);
  } finally {
    client.close();
  }
};

const failureOf = ({ observations }: ObservedCluster): string | undefined => {
  const resource = partsOf([...observations.values()][0]?.observation.answers).resource;
  return resource?.kind === "failed"
    ? `${resource.failure.reason}: ${resource.failure.message}`
    : undefined;
};

describe("broken protobuf", () => {
  it.each(BROKEN)(
    "fails the metrics of the autoscaler, so that it holds: %s",
    async (_what, bytes) => {
      expect(failureOf(await observing(bytes))).toMatch(
        /^MalformedAnswer: Cannot GET pods of cluster "eu-1": the answer is no protobuf that can be read: .+/,
      );
    },
  );

  it.each([
    [
      "a pod that is larger than any that an API server takes",
      podList(pod(repeated(Buffer.from([0x7a, 0x00]), MAX_OBJECT_BYTES / 2))),
    ],
    [
      "a pod with more than a million empty containers",
      podList(pod(field(2, repeated(Buffer.from([0x12, 0x00]), MAX_ANSWER_PARTS + 1)))),
    ],
  ])("fails the metrics of its namespace where one pod is too large: %s", async (_what, bytes) => {
    expect(failureOf(await observing(bytes))).toMatch(
      /^ObjectTooLarge: Cannot read pods "shop\/": it is larger than an answer may be/,
    );
  });

  it("with more than a million empty pods is asked for in smaller pages, until no smaller one is left", async () => {
    const bytes = podList(repeated(Buffer.from([0x12, 0x00]), MAX_ANSWER_PARTS + 1));
    expect(failureOf(await observing(bytes))).toMatch(/^(MalformedAnswer|BudgetExhausted): /);
  });

  it("gives the name of an object that is too large, and the objects around it", async () => {
    const named = (name: string, ...more: readonly Buffer[]): Buffer =>
      field(
        2,
        Buffer.concat([
          field(
            1,
            Buffer.concat([field(1, Buffer.from(name)), field(3, Buffer.from("shop")), ...more]),
          ),
        ]),
      );
    const labels = repeated(
      field(11, Buffer.concat([field(1, Buffer.from("a")), field(2, Buffer.from("b"))])),
      30_000,
    );
    const [read, passedOver]: [unknown[], unknown[]] = [[], []];
    const readers = {
      onItem: (item: unknown) => void read.push(item),
      onPassedOver: (item: unknown) => void passedOver.push(item),
    };
    expect(
      await decodeAnswer(
        podList(named("a"), named("large", labels), named("z")),
        POD_LIST,
        readers,
      ),
    ).toMatchObject({ kind: "object" });
    expect(read).toMatchObject([{ metadata: { name: "a" } }, { metadata: { name: "z" } }]);
    expect(passedOver).toEqual([{ metadata: { name: "large", namespace: "shop" } }]);
  });

  it("with a hundred million empty fields is too large, also where it came packed into a few kilobytes", async () => {
    const packed = gzipSync(
      Buffer.concat([podList(), Buffer.alloc(200_000_000, Buffer.from([0x7a, 0x00]))]),
      { level: 1 },
    );
    expect(failureOf(await observing(packed, { "content-encoding": "gzip" }))).toMatch(
      /^AnswerTooLarge: /,
    );
  });

  it("with more empty pods than are kept of one answer is too large, so that a smaller page may be read", async () => {
    const bytes = podList(repeated(Buffer.from([0x12, 0x00]), MAX_ANSWER_PARTS + 1));
    expect(await decodeAnswer(bytes, POD_LIST)).toEqual({
      kind: "broken",
      state:
        "the answer is no protobuf that can be read: more than 1500000 values would be kept of the answer",
      reason: "AnswerTooLarge",
    });
  });

  it("with as many empty fields as an answer can hold is decoded in pieces, between which the event loop goes on", async () => {
    for (const empty of [0x7a, 0x0a]) {
      const fields = repeated(Buffer.from([empty, 0x00]), Math.floor(MAX_ANSWER_BYTES / 2) - 100);
      const [heap, started] = [process.memoryUsage().heapUsed, process.cpuUsage()];
      let turns = 0;
      const turn = (): void => {
        turns++;
        timer = setImmediate(turn);
      };
      let timer = setImmediate(turn);
      expect(await decodeAnswer(podList(pod(), fields), POD_LIST)).toMatchObject({
        kind: "object",
        object: { items: [{ metadata: { namespace: "shop" } }] },
      });
      clearImmediate(timer);
      expect(turns).toBeGreaterThan(100);
      expect(process.memoryUsage().heapUsed - heap).toBeLessThan(64 * 1024 * 1024);
      expect(process.cpuUsage(started).user / 1_000).toBeLessThan(6_000);
    }
  });

  it.each([
    ["skipped fields", pod(repeated(Buffer.from([0x7a, 0x00]), 2 * MAX_OBJECT_FIELDS))],
    ["metadata", pod(repeated(Buffer.from([0x0a, 0x00]), 2 * MAX_OBJECT_FIELDS))],
    ["names", pod(field(1, repeated(Buffer.from([0x0a, 0x01, 0x61]), 2 * MAX_OBJECT_FIELDS)))],
    [
      "skipped fields of a time",
      pod(field(1, field(9, repeated(Buffer.from([0x7a, 0x00]), 2 * MAX_OBJECT_FIELDS)))),
    ],
    [
      "labels",
      pod(field(1, repeated(field(11, field(1, Buffer.from("a"))), MAX_OBJECT_FIELDS / 10))),
    ],
  ])(
    "refuses an object with more fields than the event loop may wait for: %s",
    async (_what, object) => {
      expect(object.length).toBeLessThan(MAX_OBJECT_BYTES);
      const decoded = await decodeAnswer(podList(object), POD_LIST);
      expect(decoded).toMatchObject({
        kind: "broken",
        state: expect.stringContaining(`an object has more than ${MAX_OBJECT_FIELDS} fields`),
      });
    },
  );

  it("counts the fields of each object alone, and reads the object with the most elements that etcd stores", async () => {
    const environment = repeated(
      field(7, Buffer.concat([field(1, Buffer.from("a")), field(2, Buffer.alloc(0))])),
      Math.floor((1.5 * 1024 * 1024) / 7),
    );
    const largest = pod(field(2, field(2, environment)));
    expect(await decodeAnswer(podList(largest, largest, largest), POD_LIST)).toMatchObject({
      kind: "object",
    });
  });

  it("never shows a part of a list: what is cut anywhere is refused, or was whole without its tail", async () => {
    for (const { name, kind } of RECORDED.filter((recorded) => recorded.name !== "refused")) {
      const bytes = recordedAnswer({ name }, "pb");
      const whole = await decodeAnswer(bytes, kind);
      for (let length = 0; length < bytes.length; length++) {
        const cut = await decodeAnswer(bytes.subarray(0, length), kind);
        if (cut.kind === "object") expect(cut).toEqual(whole);
      }
    }
  });

  it(`always ends in a value: ${FUZZED} damaged answers of a real server`, async () => {
    let broken = 0;
    for (let seed = 1; seed <= FUZZED; seed++)
      if ((await readMutated(seed)).decoded.kind === "broken") broken++;
    expect(broken).toBeGreaterThan(FUZZED / 2);
    expect(broken).toBeLessThan(FUZZED);
  });
});
