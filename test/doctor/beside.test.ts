import { describe, expect, it } from "vitest";
import type {
  BesideObjects,
  DisruptionBudget,
  Quota,
  Vertical,
} from "../../lib/rules/doctor/beside/beside.ts";
import { scaledBy } from "../../lib/rules/doctor/beside/beside.ts";
import { DISRUPTION_BUDGET } from "../../lib/rules/doctor/beside/disruption-budget.ts";
import { BESIDE_RULES, examineBeside } from "../../lib/rules/doctor/beside/examine-beside.ts";
import { specOf } from "../../lib/rules/manifest/admit.ts";

const targetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

const native = (metric: object) =>
  specOf(
    JSON.stringify({
      apiVersion: "tidemark.dev/v1",
      kind: "PodAutoscaler",
      metadata: { name: "web", namespace: "shop" },
      spec: { scaleTargetRef: targetRef, minReplicas: 2, maxReplicas: 12, metrics: [metric] },
    }),
  );
const hpa = (target: object) =>
  specOf(
    JSON.stringify({
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web", namespace: "shop" },
      spec: {
        scaleTargetRef: targetRef,
        minReplicas: 2,
        maxReplicas: 12,
        metrics: [{ type: "Resource", resource: { name: "cpu", target } }],
      },
    }),
  );
const CPU_PERCENT = { name: "cpu", resource: { name: "cpu" }, target: "60" };

const beside = (more: Partial<BesideObjects> = {}): BesideObjects => ({
  workload: {
    replicas: 4,
    labels: { app: "web" },
    containers: ["app", "proxy"],
    takes: { pods: 1_000n, "requests.cpu": 500n },
  },
  verticals: [],
  budgets: [],
  quotas: [],
  ...more,
});

const found = (of: BesideObjects, spec = native(CPU_PERCENT)) => examineBeside(scaledBy(spec), of);
const namesOf = (...args: Parameters<typeof found>) => found(...args).map(({ rule }) => rule);

describe("vertical-autoscaler", () => {
  const vertical = (more: Partial<Vertical> = {}): BesideObjects =>
    beside({
      verticals: [
        { name: "web", mode: "Auto", sets: new Map([["*", ["cpu", "memory"]]]), ...more },
      ],
    });

  it("names the object, the resource and the line", () => {
    expect(found(vertical())).toEqual([
      {
        rule: "vertical-autoscaler",
        severity: "problem",
        evidence:
          'VerticalPodAutoscaler "web" (updateMode Auto) sets the requests of cpu of Deployment "web", and cpu is measured in percent of them',
        cost: "each request that it changes moves the percentage, and so the count, without a change of the load",
        change: {
          field:
            'VerticalPodAutoscaler "web": spec.resourcePolicy.containerPolicies.controlledResources',
          advice:
            "leave out cpu, or measure an amount for each pod (averageValue) in place of a percentage",
        },
      },
    ]);
  });

  it.each<[string, Partial<Vertical>, object, readonly string[]]>([
    ["one that only recommends", { mode: "Off" }, CPU_PERCENT, []],
    ["one that sets memory only", { sets: new Map([["*", ["memory"]]]) }, CPU_PERCENT, []],
    [
      "one that sets another container than the measured one",
      {
        sets: new Map([
          ["*", []],
          ["proxy", ["cpu"]],
        ]),
      },
      { name: "cpu", containerResource: { name: "cpu", container: "app" }, target: "60" },
      [],
    ],
    [
      "one that leaves out every container but one",
      {
        sets: new Map([
          ["*", []],
          ["proxy", ["cpu"]],
        ]),
      },
      CPU_PERCENT,
      ["vertical-autoscaler"],
    ],
    [
      "a container whose name is a property of every object",
      { sets: new Map([["*", []]]) },
      { name: "cpu", containerResource: { name: "cpu", container: "constructor" }, target: "60" },
      [],
    ],
    [
      "a percentage of the limit",
      {},
      { name: "cpu", resource: { name: "cpu", of: "limit" }, target: "60" },
      [],
    ],
  ])("finds what it should of %s", (_name, more, metric, expected) => {
    expect(namesOf(vertical(more), native(metric))).toEqual(expected);
  });

  it("is found for an HPA in percent, and not for one with an average value", () => {
    const percent = hpa({ type: "Utilization", averageUtilization: 60 });
    expect(namesOf(vertical(), percent)).toEqual(["vertical-autoscaler"]);
    const average = hpa({ type: "AverageValue", averageValue: "300m" });
    expect(namesOf(vertical(), average)).toEqual([]);
  });
});

describe("quotas", () => {
  const quota = (hard: Quota["hard"], used: Quota["used"]): BesideObjects =>
    beside({ quotas: [{ name: "shop", hard, used }] });

  // The count is 4 and the maximum 12: eight more pods.
  it.each([
    [11_000n, "quota-refuses"],
    [10_001n, "quota-refuses"],
    [10_000n, "quota-below-maximum"],
    [4_000n, "quota-below-maximum"],
    [3_001n, "quota-below-maximum"],
    [3_000n, undefined],
  ])("11 pods, and %s thousandths in use: %s", (used, rule) => {
    expect(namesOf(quota({ pods: 11_000n }, { pods: used }))).toEqual(rule ? [rule] : []);
  });

  it("says how much room there is, and what to write", () => {
    const of = quota(
      { pods: 20_000n, "requests.cpu": 4_000n },
      { pods: 4_000n, "requests.cpu": 2_400n },
    );
    expect(found(of)).toEqual([
      {
        rule: "quota-below-maximum",
        severity: "advice",
        evidence:
          'ResourceQuota "shop" has 2400m of 4 of requests.cpu in use: 3 more pods fit, and maxReplicas 12 is 8 above the count of 4',
        cost: "pods beyond 7 are refused, while the count says that they are there",
        change: {
          field: 'ResourceQuota "shop": spec.hard["requests.cpu"]',
          advice: "raise it, or write maxReplicas 7",
        },
      },
    ]);
  });

  it("says nothing of resources that the pods do not take, and nothing at the maximum", () => {
    expect(namesOf(quota({ "requests.memory": 1n }, {}))).toEqual([]);
    const full = quota({ pods: 12_000n }, { pods: 12_000n });
    const workload = { ...full.workload, replicas: 12 };
    expect(namesOf({ ...full, workload })).toEqual([]);
  });
});

describe("disruption-budget", () => {
  const budget = (more: Partial<DisruptionBudget>): BesideObjects =>
    beside({
      budgets: [
        { name: "web", selector: [{ key: "app", operator: "=", values: ["web"] }], ...more },
      ],
    });

  // The minimum is 2.
  it.each<[Partial<DisruptionBudget>, number]>([
    [{ minAvailable: 1 }, 0],
    [{ minAvailable: 2 }, 1],
    [{ minAvailable: 3 }, 1],
    [{ minAvailable: "50%" }, 0],
    [{ minAvailable: "51%" }, 1],
    [{ maxUnavailable: 0 }, 1],
    [{ maxUnavailable: 1 }, 0],
    [{ maxUnavailable: "0%" }, 1],
    [{ maxUnavailable: "1%" }, 0],
    [{ minAvailable: "many" }, 0],
    [{}, 0],
  ])("of a budget with %o has %d findings", (more, findings) => {
    expect(namesOf(budget(more))).toHaveLength(findings);
  });

  // The minimum is 2 and the maximum 12.
  it.each<[Partial<DisruptionBudget>, string, string]>([
    [{ minAvailable: 2 }, "spec.minReplicas", "write 3 or more, or a minAvailable"],
    [{ minAvailable: 11 }, "spec.minReplicas", "write 12 or more, or a minAvailable"],
    [{ minAvailable: "75%" }, "spec.minReplicas", "write 4 or more, or a minAvailable"],
    [{ minAvailable: "91%" }, "spec.minReplicas", "write 12 or more, or a minAvailable"],
    [{ minAvailable: 12 }, 'PodDisruptionBudget "web": spec.minAvailable', "write a value"],
    [{ minAvailable: "92%" }, 'PodDisruptionBudget "web": spec.minAvailable', "write a value"],
    [{ minAvailable: "100%" }, 'PodDisruptionBudget "web": spec.minAvailable', "write a value"],
    [{ maxUnavailable: 0 }, 'PodDisruptionBudget "web": spec.maxUnavailable', "write a value"],
  ])("of a budget with %o names a line that helps: %s", (more, field, advice) => {
    const [finding] = found(budget(more));
    expect(finding?.change).toMatchObject({ field, advice: expect.stringContaining(advice) });
    const [, pods] = /^write (\d+) or more/.exec(finding?.change.advice ?? "") ?? [];
    if (pods === undefined) return;
    // One fewer would still be found, and this many is not.
    const at = (minReplicas: number) =>
      DISRUPTION_BUDGET.examine({ ...scaledBy(native(CPU_PERCENT)), minReplicas }, budget(more));
    expect([at(Number(pods) - 1).length, at(Number(pods)).length]).toEqual([1, 0]);
  });

  it("says nothing of a budget of other pods", () => {
    const selector = [{ key: "app", operator: "=", values: ["api"] }] as const;
    expect(namesOf(budget({ minAvailable: 2, selector }))).toEqual([]);
  });
});

describe("the rules beside a workload", () => {
  it("are pure: the same answer twice, and each has a name of its own", () => {
    expect(new Set(BESIDE_RULES.map(({ name }) => name)).size).toBe(BESIDE_RULES.length);
  });
});
