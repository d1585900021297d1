import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asList } from "../../../lib/rules/model/json.ts";
import { POD_LIST, POD_METRICS_LIST } from "../../../lib/stack/cluster/read/pods.ts";
import { readWorkloadScale } from "../../../lib/stack/cluster/scale.ts";
import { decodeAnswer } from "../../../lib/stack/cluster/wire/answer.ts";
import type { WireKind } from "../../../lib/stack/cluster/wire/message.ts";
import { WORKLOAD_LISTS } from "../../../lib/stack/cluster/wire/objects.ts";
import { aDeployment, aPod, aPodMetrics } from "./objects.ts";
import { published } from "./published.ts";
import { readPodMetrics } from "../../answers.ts";
import { readPods } from "../read/answers.ts";
import { runs } from "../../runs.ts";

const { encode } = published();

type Raw = Record<string, unknown>;

/** What both forms of one list are read as. */
const bothWays = async <Value>(
  kind: WireKind,
  items: readonly Raw[],
  read: (items: unknown) => Value,
): Promise<readonly [Value, Value]> => {
  const list = { metadata: {}, items };
  const decoded = await decodeAnswer(encode(kind.message.fullName, list), kind);
  if (decoded.kind === "broken") throw new Error(decoded.state);
  return [read(decoded.object["items"]), read(JSON.parse(JSON.stringify(items)))];
};

const deployments = WORKLOAD_LISTS["deployments.apps"] as WireKind;

describe("any objects", () => {
  it("are the same pods over protobuf and over JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aPod, { maxLength: 5 }), async (pods) => {
        const [overProtobuf, overJson] = await bothWays(POD_LIST, pods, readPods);
        expect(overProtobuf).toEqual(overJson);
      }),
      runs(60),
    );
  });

  it("are the same PodMetrics over protobuf and over JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aPodMetrics, { maxLength: 5 }), async (metrics) => {
        const [overProtobuf, overJson] = await bothWays(POD_METRICS_LIST, metrics, readPodMetrics);
        expect(overProtobuf).toEqual(overJson);
      }),
      runs(60),
    );
  });

  it("are the same scales over protobuf and over JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aDeployment, { maxLength: 5 }), async (workloads) => {
        const [overProtobuf, overJson] = await bothWays(deployments, workloads, (items) =>
          asList(items).map(readWorkloadScale),
        );
        expect(overProtobuf).toEqual(overJson);
      }),
      runs(60),
    );
  });
});
