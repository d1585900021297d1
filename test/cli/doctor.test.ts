import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rightsOf } from "../../lib/rules/model/access.ts";
import { clusterName, partitionName } from "../../lib/rules/model/ids.ts";
import type { Sample } from "../../lib/rules/model/scale-records.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { SAMPLES, sampleItem } from "../../lib/stack/projections/samples.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import type { ServiceContext } from "../../lib/answers/service/context.ts";
import { type AskedServer, askedServer, look } from "../cluster/check/looked-at.ts";
import { workload } from "../cluster/stand-in/kubernetes.ts";
import { status } from "../cluster/stand-in/server.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { hpa } from "../service/world/manifests.ts";
import { recordOf } from "../service/world/shop.ts";
import { storeSync } from "../service/world/synced.ts";
import { inside } from "./inside.ts";

const CLUSTER = clusterName("eu-1");
const NEVER_BINDS = `  behavior:
    scaleUp:
      policies:
        - type: Pods
          value: 200
          periodSeconds: 600
`;

let world: ServiceWorld;
beforeEach(async () => {
  world = await serviceWorld();
  world.set(NOON - HOUR_MS);
  const service = openService(world.context);
  await service.addCluster({
    name: CLUSTER,
    connection: { kind: "secret", secretId: "tidemark-prod/eu-1" },
  });
  const sources = [
    { file: "web", text: hpa("web", { namespace: "shop" }) },
    { file: "api", text: hpa("api", { namespace: "shop", more: NEVER_BINDS }) },
    { file: "other", text: hpa("other", { namespace: "lab" }) },
  ];
  await service.apply(sources, { cluster: CLUSTER, dryRun: false });
  world.set(NOON);
});
afterEach(() => world.close());

/** "web" is at its maximum of 10 and has wanted 18 for so long. */
const atMaximum = async (lastsMs: number): Promise<void> => {
  const { context } = world;
  const record = await recordOf(context, "web", "shop", CLUSTER);
  const evaluation = {
    kind: "hold",
    failed: false,
    from: 10,
    because: { reason: "TooManyReplicas", message: "" },
    metrics: [],
    steps: [{ step: "limit", before: 18, after: 10 }],
    events: [],
    bounds: { min: 2, max: 10 },
  } as const;
  await storeSync(context, CLUSTER, NOON - 15_000, [{ record, windows: NEW_WINDOWS, evaluation }]);
  const { beginOf, endOf } = SAMPLES.slots;
  for (let fromMs = beginOf(NOON - lastsMs); fromMs < NOON; fromMs = endOf(fromMs)) {
    const source = {
      partition: { cluster: CLUSTER, partition: partitionName("default") },
      page: 0,
      slot: { fromMs, endMs: endOf(fromMs) },
    };
    const samples = Array.from(
      { length: (endOf(fromMs) - fromMs) / (5 * MINUTE_MS) },
      (_, at): Sample => {
        const atMs = fromMs + at * 5 * MINUTE_MS;
        return { atMs, current: 10, wanted: 18, max: 10, metrics: [], reason: "" };
      },
    ).filter(({ atMs }) => atMs >= NOON - lastsMs && atMs < NOON);
    await context.insert([sampleItem(source, record, samples)]);
  }
};

const doctor = (...args: readonly string[]) =>
  inside(["doctor", ...args], {
    open: async () => ({
      place: "folder here",
      service: openService(world.context),
      nowMs: NOON,
      clock: () => NOON,
      close: async () => {},
    }),
  });

describe("tidemark doctor", () => {
  it("says what was seen, what it costs and the line to change, and ends with 1 for a problem", async () => {
    await atMaximum(30 * HOUR_MS);
    expect(await doctor("shop/web")).toEqual({
      code: 1,
      err: "",
      out: `eu-1/shop/web
  at-maximum: more than the maximum of 10 has been wanted for 1 d 6 h, since 2026-02-28T06:00:00Z: up to 18
    costs:  the load is above its target: up to 8 pods are missing
    change: spec.maxReplicas: 10 (write 18, or a higher target)
1 autoscaler examined: 1 problem, 0 advice
`,
    });
  });

  it("ends with 0 where there is only advice, or nothing", async () => {
    const { code, out } = await doctor("-A", "-o", "table");
    expect(code).toBe(0);
    expect(out.split("\n").map((line) => line.split(/ {3,}/).slice(0, 4))).toEqual([
      ["CLUSTER", "NAMESPACE", "NAME", "FINDING"],
      ["eu-1", "shop", "api", "policy-never-binds"],
      [""],
    ]);
    expect((await doctor("shop/web")).out).toBe("1 autoscaler examined: nothing found\n");
  });

  it("examines what the caller may see, and no other autoscaler", async () => {
    const grant = { id: "g-1", arn: "arn:aws:iam::123456789012:user/bo", role: "view" } as const;
    const rights = rightsOf(
      {
        required: true,
        version: 1,
        grants: [{ ...grant, cluster: CLUSTER, namespace: "lab", by: "ada", atMs: 0 }],
      },
      grant.arn,
    );
    const seen = await Array.fromAsync(openService({ ...world.context, rights }).doctor({}));
    expect(seen.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual(["lab/other"]);
  });
});

describe("tidemark doctor --ask-cluster", () => {
  const ask = async (
    checkConnection: NonNullable<ServiceContext["checkConnection"]>,
    ...args: readonly string[]
  ) =>
    inside(["doctor", ...args, "--ask-cluster"], {
      open: async () => ({
        place: "folder here",
        service: openService({ ...world.context, checkConnection }),
        nowMs: NOON,
        clock: () => NOON,
        close: async () => {},
      }),
    });
  let server: AskedServer;
  beforeEach(async () => {
    server = await askedServer();
    server.collections.set("/apis/apps/v1/deployments", [
      {
        ...workload("shop", "web"),
        spec: {
          replicas: 3,
          selector: { matchLabels: { app: "web" } },
          template: {
            metadata: { labels: { app: "web" } },
            spec: { containers: [{ name: "app", resources: { requests: { cpu: "1" } } }] },
          },
        },
      },
    ]);
  });
  afterEach(() => server.close());

  const looksThere: NonNullable<ServiceContext["checkConnection"]> = ({ scaled }) =>
    look(server, scaled && { scaled });

  it("shows what is found beside the workload, and which right is missing", async () => {
    server.collections.set("/apis/autoscaling.k8s.io/v1/verticalpodautoscalers", [
      {
        metadata: { name: "sizes", namespace: "shop" },
        spec: { targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
      },
    ]);
    server.collections.set("/api/v1/resourcequotas", []);
    server.overrides.push({
      match: ({ url }) => url.pathname.endsWith("/poddisruptionbudgets"),
      answer: status(403, "Forbidden", "poddisruptionbudgets.policy is forbidden"),
    });
    const { code, out } = await ask(looksThere, "shop/web");
    expect(code).toBe(1);
    expect(out).toBe(`eu-1/shop/web
  vertical-autoscaler: VerticalPodAutoscaler "sizes" (updateMode Auto) sets the requests of cpu of Deployment "web", and cpu is measured in percent of them
    costs:  each request that it changes moves the percentage, and so the count, without a change of the load
    change: VerticalPodAutoscaler "sizes": spec.resourcePolicy.containerPolicies.controlledResources (leave out cpu, or measure an amount for each pod (averageValue) in place of a percentage)
  not looked at: poddisruptionbudgets.policy: poddisruptionbudgets.policy is forbidden (tidemark cluster rbac --doctor | kubectl apply -f -)
1 autoscaler examined: 1 problem, 0 advice
`);
  });

  it("still says what is stored where the cluster cannot be asked", async () => {
    await atMaximum(30 * HOUR_MS);
    const refuses: typeof looksThere = async () => {
      throw new TidemarkError("service.busy", "Cannot look at cluster: it is busy", {});
    };
    const { code, out } = await ask(refuses, "shop/web");
    expect(code).toBe(1);
    expect(out).toContain("at-maximum: more than the maximum of 10");
    expect(out).toContain("  not looked at: the cluster: Cannot look at cluster: it is busy\n");
  });

  it("is refused without a name, before anything is read", async () => {
    const { code, err } = await ask(looksThere, "-A");
    expect(code).toBe(1);
    expect(err).toContain("give one name with --ask-cluster");
  });
});
