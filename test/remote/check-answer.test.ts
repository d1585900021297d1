import { describe, expect, it } from "vitest";
import { checkAnswer } from "../../lib/answers/remote/check-answer.ts";

const CLUSTER = {
  name: "eu-1",
  state: "ok",
  syncPeriodSeconds: 15,
  partitions: [{ name: "eu-1", namespaces: "all others", state: "ok" }],
  settings: {
    tolerance: 0.1,
    downscaleStabilizationSeconds: 300,
    cpuInitializationPeriodSeconds: 300,
    initialReadinessDelaySeconds: 30,
  },
  version: 1,
};
const check = (answer: unknown) => checkAnswer("cluster", "/v1/cluster", answer);

describe("an answer of a stack of another version", () => {
  it("keeps a field that this version does not know", () => {
    const answer = { ...CLUSTER, zone: "a" };
    expect(check(answer)).toBe(answer);
  });

  it.each([
    ["a state", { state: "drained" }],
    [
      "the state of a partition",
      { partitions: [{ name: "eu-1", namespaces: [], state: "drained" }] },
    ],
    ["a way to connect", { connection: { kind: "gke", project: "shop" } }],
  ])("keeps %s that is new, so that it is printed as it is", (_what, more) => {
    expect(check({ ...CLUSTER, ...more })).toMatchObject(more);
  });

  it.each([
    [
      "a field that is missing",
      { ...CLUSTER, version: undefined },
      "version: Invalid input: expected number, received undefined",
    ],
    [
      "another type",
      { ...CLUSTER, partitions: [{ ...CLUSTER.partitions[0], name: 7 }] },
      "partitions[0].name: Invalid input: expected string, received number",
    ],
    [
      "a known form with a fault",
      { ...CLUSTER, connection: { kind: "secret" } },
      "connection.secretId: Invalid input: expected string, received undefined",
    ],
    ["no document", "hello", "the document: Invalid input: expected object, received string"],
  ])("is refused for %s, with its path", (_what, answer, fault) => {
    expect(() => check(answer)).toThrow(
      `Cannot read the answer to "/v1/cluster": ${fault}; the stack may run another version of Tidemark`,
    );
  });
});
