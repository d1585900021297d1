import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { startSimulatedCluster } from "../../lib/embedded/cluster/simulated-cluster.ts";
import { deploymentsOf } from "../../lib/embedded/run/manifest-files.ts";
import { workloadsOf } from "../../lib/embedded/run/world.ts";
import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import { readManifests } from "../../lib/rules/manifest/documents.ts";
import { asList, asObject, type Json } from "../../lib/rules/model/json.ts";
import { labelIndex } from "../../lib/rules/model/selector.ts";
import { decide, metricsInDetail } from "../../lib/rules/policy/decide.ts";
import { readPodMetrics } from "../../lib/rules/sources/resource.ts";
import { readPod } from "../../lib/stack/cluster/read/pods.ts";
import { NOON } from "../noon.ts";
import { observationOf, scaleRead } from "../observation.ts";
import { decideInput } from "../policy/applied-sync.ts";

const FILE = "pods.yaml";
const text = readFileSync(join(import.meta.dirname, "../../examples", FILE), "utf8");
const MINUTE_MS = 60_000;
const deployments = [...deploymentsOf([{ file: FILE, text }])];
const workloads = await workloadsOf({ kind: "simulated", seed: 1, startMs: NOON, deployments });
let nowMs = NOON;
const cluster = await startSimulatedCluster({
  dataDir: mkdtempSync(join(tmpdir(), "pods-")),
  clock: () => nowMs,
  seed: 1,
  workloads,
});
afterAll(() => cluster.close());

const GET = {
  method: "GET",
  query: new URLSearchParams(),
  contentType: "",
  accept: "application/json",
  body: "",
};

const itemsOf = async (path: string): Promise<readonly Json[]> =>
  asList(asObject(await cluster.call({ ...GET, path }))["items"]).map(asObject);

/** What the autoscaler of the example decides so many minutes after the start. */
const decided = async (name: string, minute: number) => {
  nowMs = NOON + minute * MINUTE_MS;
  const given = readManifests(text, FILE).map((manifest) => admitOrThrow(manifest));
  const spec = given.find(({ metadata }) => metadata.name === name)?.spec;
  if (!spec) throw new RangeError(`There is no ${name}`);
  const pods = (await itemsOf("/api/v1/namespaces/shop/pods")).map(readPod);
  const usages = await itemsOf("/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods");
  const input = decideInput({
    spec,
    nowMs,
    observation: observationOf({
      scale: scaleRead(4, { selector: `app=${name}` }),
      pods,
      answers: {
        resource: { kind: "answered", items: labelIndex(usages.map(readPodMetrics)) },
      },
    }),
  });
  const decision = decide(input);
  return { decision, metric: metricsInDetail(decision, input)[0] };
};

describe("examples/pods.yaml, pods that should not count", () => {
  it("counts the four pods of the target, and says what else the selector matches", async () => {
    const { metric } = await decided("own-pods", 5);
    expect(metric).toMatchObject({
      kind: "measured",
      pods: { matched: 14, owned: 10, finished: 6, counted: 4 },
    });
  });

  it("counts the busy pods of the other workload too where the HPA would", async () => {
    const [own, all] = [await decided("own-pods", 5), await decided("all-pods", 5)];
    const ratio = ({ metric }: typeof own) =>
      metric?.kind === "measured" ? (metric.ratio ?? 0) : 0;
    expect(all.metric).toMatchObject({ pods: { matched: 14, counted: 8, missing: 6 } });
    expect(ratio(all)).toBeGreaterThan(ratio(own));
  });

  it.each([
    [29, undefined, 4],
    // They have only just started.
    [30, 3, 4],
    [31, 3, 7],
    [59, 3, 7],
    [60, undefined, 4],
  ])(
    "shows a rollout from the 30th minute to the 60th: minute %i",
    async (minute, pods, counted) => {
      const { metric } = await decided("own-pods", minute);
      const seen = metric?.kind === "measured" ? metric.pods : undefined;
      expect(seen?.otherRevision).toBe(pods);
      expect(seen?.counted).toBe(counted);
    },
  );

  it.each(["foreign", "foreign=x", "busy=3", "surge=3@30m"])("refuses the pods %j", (wrong) => {
    const other = text.replaceAll("foreign=4, finished=6, surge=3@30m-60m", JSON.stringify(wrong));
    expect(() => deploymentsOf([{ file: FILE, text: other }])).toThrow(
      `Cannot simulate the pods "${wrong}" for "${FILE}, document 1": the annotation tidemark.dev/simulated-pods has foreign, finished, surge`,
    );
  });
});
