import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readList } from "../../lib/stack/cluster/list.ts";
import { readPod, POD_LIST } from "../../lib/stack/cluster/read/pods.ts";
import type { CallBudget } from "../../lib/stack/cluster/transport/budget.ts";
import type { Transport } from "../../lib/stack/cluster/transport/transport.ts";
import { type KeptLists, keptLists } from "../../lib/stack/cluster/list-memory.ts";
import { decodeAnswer } from "../../lib/stack/cluster/wire/answer.ts";
import { decodeJson } from "../../lib/stack/cluster/wire/decode-json.ts";
import { asObject, asText } from "../../lib/rules/model/json.ts";
import { published } from "./wire/published.ts";
import { runs } from "../runs.ts";
import type { ListOf } from "../../lib/stack/cluster/read-page.ts";

type Pods = Readonly<Record<string, string>>;

const listOf = (pods: Pods) => ({
  metadata: { resourceVersion: "1" },
  items: Object.entries(pods).map(([name, app]) => ({
    metadata: { name, namespace: "shop", uid: name, labels: { app } },
    spec: {},
    status: {},
  })),
});
const { encode } = published();
/**
 * The same LIST as an API server answers it to a client that asks for protobuf, and as an
 * aggregated or a simulated one does.
 */
const ENCODINGS: Readonly<Record<string, (pods: Pods) => Buffer>> = {
  protobuf: (pods) => encode("k8s.io.api.core.v1.PodList", listOf(pods), "v1"),
  JSON: (pods) =>
    Buffer.from(JSON.stringify({ kind: "PodList", apiVersion: "v1", ...listOf(pods) })),
};

/** A server whose LIST has these bytes. */
const answering = (bytes: Buffer): Pick<Transport, "get"> => ({
  get: async (request) => {
    const decoded =
      bytes[0] === "{".charCodeAt(0)
        ? await decodeJson(bytes, { ...request, message: POD_LIST.message })
        : await decodeAnswer(bytes, POD_LIST, request);
    if (decoded.kind === "broken")
      return {
        kind: "failed",
        failure: { code: 0, reason: decoded.reason ?? "MalformedAnswer", message: decoded.state },
      };
    return { kind: "read", body: decoded.object as never, bytes: bytes.length, streamed: true };
  },
});

const NO_BUDGET = {} as CallBudget;

/**
 * Names and labels of the pods that are wanted, as the LIST gives them, and the names of those that
 * were converted.
 */
const listing = async (
  kept: KeptLists,
  bytes: Buffer,
  isWanted: (name: string) => boolean = () => true,
) => {
  const converted: string[] = [];
  const of: ListOf<{ readonly name: string; readonly labels: object }> = {
    path: "/api/v1/pods",
    resource: "pods",
    protobuf: POD_LIST,
    unchanged: { begin: () => kept.begin("/api/v1/pods"), isSame: ({ name }) => isWanted(name) },
    read: (raw) => {
      const name = asText(asObject(raw["metadata"])["name"]);
      converted.push(name);
      const { labels } = readPod(raw);
      return isWanted(name) ? { name, labels } : undefined;
    },
  };
  const listed = await readList(answering(bytes), of, NO_BUDGET);
  return { converted, pods: listed.kind === "listed" ? listed.items : listed.failure.reason };
};

const FRONT: Pods = { "web-1": "web", "web-2": "web", "api-1": "api" };

describe.each(Object.entries(ENCODINGS))(
  "an object of a LIST in %s that did not change since the last LIST",
  (_encoding, bytesOf) => {
    it("is not decoded and not converted again, and is there as before", async () => {
      const kept = keptLists();
      const first = await listing(kept, bytesOf(FRONT));
      expect(first.converted).toEqual(["web-1", "web-2", "api-1"]);
      expect(await listing(kept, bytesOf(FRONT))).toEqual({ converted: [], pods: first.pods });
    });

    it("is converted again where one byte of it is another, and the others are not", async () => {
      const kept = keptLists();
      await listing(kept, bytesOf(FRONT));
      const second = await listing(kept, bytesOf({ ...FRONT, "web-2": "wob" }));
      expect(second.converted).toEqual(["web-2"]);
      expect(second.pods).toContainEqual({ name: "web-2", labels: { app: "wob" } });
    });

    it("is read again where it was not wanted before, and left out where it is not wanted any more", async () => {
      const kept = keptLists();
      await listing(kept, bytesOf(FRONT), (name) => name !== "api-1");
      expect((await listing(kept, bytesOf(FRONT))).pods).toHaveLength(3);
      expect((await listing(kept, bytesOf(FRONT), (name) => name === "api-1")).pods).toEqual([
        { name: "api-1", labels: { app: "api" } },
      ]);
    });

    it("is decoded each time where it is larger than what is kept, and the others are not", async () => {
      const kept = keptLists();
      const large = bytesOf({ ...FRONT, "web-2": "x".repeat(17_000) });
      const first = await listing(kept, large);
      expect(await listing(kept, large)).toEqual({ converted: ["web-2"], pods: first.pods });
    });

    it("is kept by no LIST that is cut off: the next one compares with the last whole one", async () => {
      const kept = keptLists();
      const whole = bytesOf(FRONT);
      await listing(kept, whole);
      const other = bytesOf({ ...FRONT, "web-1": "mill", "api-1": "mill" });
      expect((await listing(kept, other.subarray(0, other.length - 3))).pods).toBe(
        "MalformedAnswer",
      );
      expect((await listing(kept, whole)).converted).toEqual([]);
    });

    it("never differs from what a client sees that keeps nothing", async () => {
      const pods = fc.dictionary(
        fc.constantFrom("a", "b", "c", "d", "e"),
        fc.constantFrom("web", "api", "x".repeat(20)),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(pods, { minLength: 2, maxLength: 6 }), async (states) => {
          const kept = keptLists();
          for (const state of states) {
            const fresh = await listing(keptLists(), bytesOf(state));
            expect((await listing(kept, bytesOf(state))).pods).toEqual(fresh.pods);
          }
        }),
        runs(30),
      );
    });
  },
);

describe("the items that a process keeps", () => {
  it("are bounded: the list that was read least recently goes first, and an object of more than 16 KB is decoded each time", () => {
    const kept = keptLists();
    const keep = (path: string, items: number, bytes: number): void => {
      const reading = kept.begin(path);
      for (let at = 0; at < items; at++)
        reading.keep(`${path}${at}`, { made: at, namespace: "shop", parts: 1 }, bytes);
      reading.end();
    };
    keep("/large", 1, 16_001);
    expect(kept.begin("/large").find("/large0")).toBeUndefined();
    keep("/first", 1_500, 16_000);
    keep("/second", 1_500, 16_000);
    expect([
      kept.begin("/first").find("/first0"),
      kept.begin("/second").find("/second0")?.made,
    ]).toEqual([undefined, 0]);
  });
});
