import { describe, expect, it } from "vitest";
import { kedaValue } from "../../../lib/embedded/cluster/keda-metrics.ts";
import type { CustomObject } from "../../../lib/embedded/cluster/objects/custom-objects.ts";
import { queriedValue, recordedQueue } from "../../../lib/embedded/cluster/services.ts";
import { Simulation } from "../../../lib/embedded/cluster/simulation.ts";
import { workloadModel } from "../../../lib/embedded/cluster/definition.ts";
import type { Json } from "../../../lib/rules/model/json.ts";
import { constantTrace, START_MS, workload } from "./running-cluster.ts";

const nowMs = START_MS + 600_000;
/** Ten minutes of more than its pods serve, so that messages wait. */
const model = workloadModel(workload({ trace: constantTrace(9_000) }), {
  seed: 1,
  startMs: START_MS,
});
const simulation = new Simulation([model], START_MS, () => nowMs);
simulation.now();
const scraped = { workloads: simulation.workloads(), nowMs };
const waiting = recordedQueue(scraped.workloads, "web", nowMs)?.waiting ?? 0;

const scaledObject = (triggers: readonly Json[]): CustomObject => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: { namespace: "shop", name: "web", uid: "1", resourceVersion: "1" },
  spec: { triggers },
});
const servedFor = (trigger: Json, { index = 0, name = "web" } = {}): number | undefined =>
  kedaValue(
    { ...scraped, objects: [scaledObject([trigger])] },
    {
      namespace: "shop",
      metric: `s${index}-x`,
      selector: `scaledobject.keda.sh/name=${name}`,
    },
  );

describe("what the stand-in of KEDA serves for a trigger", () => {
  it("is what the sources of the run answer to the same question", () => {
    expect(waiting).toBeGreaterThan(0);
    const sqs = { queueURL: "https://sqs.eu-west-1.amazonaws.com/000000000000/web" };
    expect(servedFor({ type: "aws-sqs-queue", metadata: sqs })).toBeGreaterThan(waiting);
    const queues: Readonly<Record<string, Json>> = {
      kafka: { consumerGroup: "web" },
      rabbitmq: { queueName: "web" },
      redis: { listName: "web" },
      prometheus: { query: 'sum(requests_waiting{app="web"})' },
    };
    for (const [type, metadata] of Object.entries(queues))
      expect([type, servedFor({ type, metadata })]).toEqual([type, waiting]);
  });

  it("is 0 for an answer without a series, and nothing where the run cannot answer", () => {
    const query = 'sum(requests_waiting{app="none"})';
    expect(servedFor({ type: "prometheus", metadata: { query } })).toBe(0);
    const unread = { type: "prometheus", metadata: { query: "absent(up)" } };
    for (const trigger of [unread, { type: "redis", metadata: { listName: "none" } }])
      expect(servedFor(trigger)).toBeUndefined();
    expect(servedFor({ type: "kafka", metadata: { consumerGroup: "web" } }, { index: 1 })).toBe(
      undefined,
    );
    expect(servedFor({ type: "kafka", metadata: { consumerGroup: "web" } }, { name: "api" })).toBe(
      undefined,
    );
  });
});

describe("the series of exporters", () => {
  const lag = 'kafka_consumergroup_lag{consumergroup="web",topic="web"}';

  it("add up to the queue of the name", () => {
    for (const query of [
      `sum(${lag})`,
      'sum(rabbitmq_queue_messages{queue="web"})',
      'sum(redis_key_size{db="db0",key="web"})',
    ])
      expect([query, queriedValue(query, scraped, -1)]).toEqual([query, waiting]);
    expect(queriedValue(`count(${lag})`, scraped, -1)).toBe(24);
  });

  it("are capped by the partitions in the query that the conversion writes", () => {
    const capped = (target: number) =>
      queriedValue(
        `clamp_max(sum(${lag}), scalar(count(${lag}) or vector(0)) * ${target})`,
        scraped,
        -1,
      );
    expect(capped(1)).toBe(24);
    expect(capped(1_000_000)).toBe(waiting);
  });
});
