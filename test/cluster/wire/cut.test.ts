import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { asObject, asText, type Json } from "../../../lib/rules/model/json.ts";
import type { Broken } from "../../../lib/stack/cluster/transport/exchange.ts";
import { giveCut } from "../../../lib/stack/cluster/transport/send.ts";
import { PROTOBUF } from "../../../lib/stack/cluster/wire/answer.ts";
import { pod } from "../stand-in/kubernetes.ts";
import { published } from "./published.ts";

const PODS = Array.from({ length: 200 }, (_, at) => pod(at < 150 ? "shop" : "bank", "web", at));
const json = Buffer.from(JSON.stringify({ kind: "List", metadata: {}, items: PODS }));

const broken = (bytes: Buffer, headers: Broken["cut"]["headers"], because = "timeout"): Broken => ({
  ...{ kind: "broken", because: because as "timeout", error: new Error("late") },
  ...{ sent: true, reused: false, answering: true, wireBytes: bytes.length },
  cut: { headers, chunks: [bytes.subarray(0, 100), bytes.subarray(100, bytes.length / 2)] },
});

const weighed = async (answer: Broken): Promise<ReadonlyMap<string, number>> => {
  const weights = new Map<string, number>();
  const onCut = (named: Json, bytes: number): void => {
    const namespace = asText(asObject(named["metadata"])["namespace"]);
    weights.set(namespace, (weights.get(namespace) ?? 0) + bytes);
  };
  await giveCut(answer, { path: "/api/v1/pods", resource: "pods", onCut });
  return weights;
};

describe("an answer that was cut off by its time", () => {
  const packed = { "content-encoding": "gzip" };
  it.each<readonly [string, Buffer, Broken["cut"]["headers"]]>([
    ["JSON", json, {}],
    ["packed JSON", gzipSync(json, { level: 1 }), packed],
    [
      "protobuf",
      Buffer.from(published().encode("k8s.io.api.core.v1.PodList", { metadata: {}, items: PODS })),
      { "content-type": PROTOBUF },
    ],
  ])("says how much of it was of which namespace: %s", async (_form, bytes, headers) => {
    const weights = await weighed(broken(bytes, headers));
    expect([...weights.keys()]).toEqual(["shop"]);
    expect(weights.get("shop")).toBeGreaterThan(5_000);
  });

  it.each<readonly [string, Broken]>([
    ["that is no JSON", broken(Buffer.from("x".repeat(1_000)), {})],
    ["that is no gzip", broken(json, packed)],
    ["that is no protobuf", broken(json, { "content-type": PROTOBUF })],
    ["that was too large", broken(json, {}, "too-large")],
  ])("says nothing where it is one %s", async (_form, answer) => {
    expect(await weighed(answer)).toEqual(new Map());
  });
});
