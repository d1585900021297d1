import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BESIDE_RULES } from "../../lib/rules/doctor/beside/examine-beside.ts";
import { asksDays, DOCTOR_RULES, examine } from "../../lib/rules/doctor/examine.ts";
import { lasted, type Patient } from "../../lib/rules/doctor/patient.ts";
import { AT_MAXIMUM_MS } from "../../lib/rules/doctor/rules/at-maximum.ts";
import { OLD_SECONDS } from "../../lib/rules/doctor/rules/old-samples.ts";
import { NOT_READY_MS } from "../../lib/rules/doctor/rules/pods-not-ready.ts";
import { specOf } from "../../lib/rules/manifest/admit.ts";
import type { MetricOutcome } from "../../lib/rules/model/decision.ts";
import type { Evaluation, Sample } from "../../lib/rules/model/scale-records.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { slowAnswer } from "../../lib/rules/model/metric-source.ts";
import { NOON } from "../noon.ts";

const STEP_MS = 5 * MINUTE_MS;
const WEEK_MS = 7 * DAY_MS;

const manifestOf = (spec: object = {}) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 2,
    maxReplicas: 12,
    metrics: [{ name: "cpu", resource: { name: "cpu" }, target: "60" }],
    ...spec,
  },
});

const hpaOf = (spec: object) => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 2,
    maxReplicas: 12,
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
      },
    ],
    ...spec,
  },
});

type Measured = Extract<MetricOutcome, { readonly kind: "measured" }>;

const measured = (more: Partial<Measured> = {}): Measured => ({
  kind: "measured",
  name: "cpu",
  type: "Resource",
  value: "60%",
  target: "60%",
  ratio: 1,
  proposal: 4,
  ...more,
});

const evaluation = (more: Partial<Evaluation> = {}): Evaluation =>
  ({
    uid: "u",
    namespace: "shop",
    name: "web",
    kind: "hold",
    failed: false,
    from: 4,
    because: { reason: "WithinTarget", message: "" },
    metrics: [measured()],
    steps: [],
    events: [],
    bounds: { min: 2, max: 12 },
    ready: more.from ?? 4,
    ...more,
  }) as Evaluation;

/** Samples of five minutes each, up to now. */
const daysOf = (lastsMs: number, of: Partial<Sample>): readonly Sample[] =>
  Array.from({ length: Math.floor(lastsMs / STEP_MS) + 1 }, (_, at) => ({
    atMs: NOON - lastsMs + at * STEP_MS,
    current: 4,
    wanted: 4,
    ready: 4,
    min: 2,
    max: 12,
    metrics: [],
    reason: "",
    ...of,
  }));

const patient = (more: Partial<Patient> & { readonly spec?: never } = {}): Patient => {
  const manifest = more.manifest ?? manifestOf();
  return {
    createdMs: NOON - 30 * DAY_MS,
    spec: specOf(JSON.stringify(manifest), "shop/web"),
    syncPeriodMs: 15_000,
    evaluation: evaluation(),
    nowMs: NOON,
    ...more,
    manifest,
  };
};

const foundIn = (one: Patient, rule: string) => examine(one).filter((found) => found.rule === rule);
const evaluatedAs = (more: Partial<Evaluation>, rest: Partial<Patient> = {}): Patient =>
  patient({ evaluation: evaluation(more), ...rest } as never);

describe("the doctor", () => {
  it("finds nothing at an autoscaler that works", () => {
    expect(examine(patient())).toEqual([]);
    expect(asksDays(patient(), "everything")).toBe(false);
  });

  it("says the largest two units of a time", () => {
    const times = [4_000, 12 * MINUTE_MS, 5 * HOUR_MS + 12 * MINUTE_MS, 3 * DAY_MS + 4 * HOUR_MS];
    expect(times.map(lasted)).toEqual(["4 s", "12 min", "5 h 12 min", "3 d 4 h"]);
  });

  it("has rules of different names, each with its sentence", () => {
    expect(new Set(DOCTOR_RULES.map(({ name }) => name)).size).toBe(DOCTOR_RULES.length);
    expect(DOCTOR_RULES.every(({ finds }) => finds.length > 20)).toBe(true);
  });
});

describe("fought-over", () => {
  it("names who, how often and how long, and what to do about this program", () => {
    const contested = {
      changes: 12,
      firstMs: NOON - 14 * MINUTE_MS,
      lastMs: NOON - MINUTE_MS,
      by: "argocd-controller",
    };
    const [found] = foundIn(evaluatedAs({ contested }), "fought-over");
    expect(found?.evidence).toBe(
      'others changed the count 12 times in 13 min, the last time "argocd-controller", 1 min ago (2026-03-01T11:59:00Z)',
    );
    expect(found?.change).toMatchObject({ field: 'Deployment "web": spec.replicas' });
    expect(found?.change.advice).toContain("ignoreDifferences");
  });
});

describe("at-maximum", () => {
  const steps = [{ step: "limit", before: 18, after: 12 }];
  const at = (lastsMs: number, wanted = 18, current = 12): Patient =>
    evaluatedAs(
      { from: 12, steps },
      { days: daysOf(lastsMs, { current, wanted, ready: 12 }), nowMs: NOON },
    );

  it.each([
    ["below a day", at(AT_MAXIMUM_MS - STEP_MS), 0],
    ["a day", at(AT_MAXIMUM_MS), 1],
    ["beyond a day", at(AT_MAXIMUM_MS + STEP_MS), 1],
    ["with no more wanted", at(AT_MAXIMUM_MS, 12), 0],
    ["where the count was below it", at(AT_MAXIMUM_MS, 18, 11), 0],
  ])("is found or not where it was so for %s", (_when, one, findings) => {
    expect(foundIn(one, "at-maximum")).toHaveLength(findings);
  });

  it("counts from the last gap or the last time that it was below", () => {
    const days = daysOf(2 * DAY_MS, { current: 12, wanted: 18 });
    const gap = days.filter(({ atMs }) => Math.abs(atMs - (NOON - HOUR_MS)) > 20 * MINUTE_MS);
    expect(foundIn(evaluatedAs({ from: 12, steps }, { days: gap }), "at-maximum")).toEqual([]);
  });

  it("says what is missing, and the line with its value", () => {
    const lastsMs = 3 * DAY_MS + 4 * HOUR_MS;
    const [found] = foundIn({ ...at(lastsMs), createdMs: NOON - lastsMs }, "at-maximum");
    expect(found).toMatchObject({
      evidence:
        "more than the maximum of 12 has been wanted for 3 d 4 h, since 2026-02-26T08:00:00Z: up to 18",
      cost: "the load is above its target: up to 6 pods are missing",
      change: { field: "spec.maxReplicas", value: "12" },
    });
  });

  it("is known to last at least so long where it began before the days that are looked at", () => {
    const since = (createdMs: number): string =>
      foundIn({ ...at(3 * DAY_MS), createdMs }, "at-maximum")[0]?.evidence ?? "";
    expect(since(NOON - 30 * DAY_MS)).toContain(
      "has been wanted for at least 3 d, since 2026-02-26T12:00:00Z or before: up to 18",
    );
    expect(since(NOON - 3 * DAY_MS)).toContain(
      "has been wanted for 3 d, since 2026-02-26T12:00:00Z: up to 18",
    );
  });

  it("asks for the days only at the maximum, where more is wanted", () => {
    expect(asksDays(evaluatedAs({ from: 12, ready: 12, steps }), "problems")).toBe(true);
    expect(asksDays(evaluatedAs({ from: 12, ready: 12 }), "problems")).toBe(false);
    expect(asksDays(evaluatedAs({ from: 11, ready: 11, steps }), "problems")).toBe(false);
  });
});

describe("minimum-never-left", () => {
  const at = (lastsMs: number, of: Partial<Sample>): Patient =>
    evaluatedAs({ from: 2, ready: 2 }, { days: daysOf(lastsMs, { current: 2, ready: 2, ...of }) });

  it.each([
    ["six days", at(6 * DAY_MS, { wanted: 1 }), 0],
    ["seven days", at(WEEK_MS, { wanted: 1 }), 1],
    ["seven days, and as many were wanted", at(WEEK_MS, { wanted: 2 }), 0],
    ["seven days, and it was above", at(WEEK_MS, { wanted: 1, current: 3 }), 0],
  ])("is found or not after %s", (_when, one, findings) => {
    expect(foundIn(one, "minimum-never-left")).toHaveLength(findings);
  });

  it("is advice, with the count that was enough", () => {
    const [found] = foundIn(at(WEEK_MS, { wanted: 1 }), "minimum-never-left");
    expect(found).toMatchObject({
      severity: "advice",
      cost: "1 pod all day that the load does not need",
      change: { field: "spec.minReplicas", value: "2" },
    });
  });
});

describe("advice about seven days", () => {
  it("asks for the days of those at rest only where everything is looked for", () => {
    const atRest = evaluatedAs({ from: 2, ready: 2 });
    expect(asksDays(atRest, "problems")).toBe(false);
    expect(asksDays(atRest, "everything")).toBe(true);
  });
});

describe("target-never-reached", () => {
  const at = (ratio: number, lastsMs = WEEK_MS): Patient =>
    evaluatedAs(
      { metrics: [measured({ ratio: 0.2, value: "12%" })] },
      {
        days: daysOf(lastsMs, { metrics: [{ name: "cpu", value: "29%", target: "60%", ratio }] }),
      },
    );

  it.each([
    [0.49, WEEK_MS, 1],
    [0.5, WEEK_MS, 0],
    [0.51, WEEK_MS, 0],
    [0.49, 6 * DAY_MS, 0],
  ])("at most %d of the target in %d ms: %d", (ratio, lastsMs, findings) => {
    expect(foundIn(at(ratio, lastsMs), "target-never-reached")).toHaveLength(findings);
  });

  it.each<readonly [string, number, string]>([
    ["Resource", 1, "write a lower target, or smaller requests"],
    ["External", 1, "write a lower target"],
    ["External", 2, "write a lower target, or remove the metric"],
  ])("of %s, one of %d metrics, advises what there is to change", (type, count, advice) => {
    const one = at(0.4);
    const metrics = [measured({ ratio: 0.2, type }), measured({ name: "other" })].slice(0, count);
    const [found] = foundIn(
      { ...one, evaluation: evaluation({ metrics }) },
      "target-never-reached",
    );
    expect(found?.change.advice).toBe(advice);
  });
});

describe("pods-not-ready", () => {
  const at = (lastsMs: number): Patient =>
    evaluatedAs({ from: 4, ready: 3 }, { days: daysOf(lastsMs, { ready: 3 }) });

  it.each([
    [NOT_READY_MS - STEP_MS, 0],
    [NOT_READY_MS, 1],
    [NOT_READY_MS + STEP_MS, 1],
  ])("for %d ms: %d", (lastsMs, findings) => {
    expect(foundIn(at(lastsMs), "pods-not-ready")).toHaveLength(findings);
  });
});

describe("the pods of a metric", () => {
  it.each([
    ["foreign-pods", { matched: 6, owned: 6 }, 0],
    ["foreign-pods", { matched: 7, owned: 6 }, 1],
    ["foreign-pods", { matched: 7 }, 0],
    ["finished-pods", { matched: 7, finished: 0 }, 0],
    ["finished-pods", { matched: 7, finished: 1 }, 1],
    ["finished-pods", { matched: 7, finished: 1, leftOut: 1 }, 0],
    ["finished-pods", { matched: 7, finished: 2, leftOut: 1 }, 1],
    ["old-samples", { matched: 7, oldestSeconds: OLD_SECONDS - 1 }, 0],
    ["old-samples", { matched: 7, oldestSeconds: OLD_SECONDS }, 1],
    ["old-samples", { matched: 7, oldestSeconds: OLD_SECONDS + 1 }, 1],
  ])("%s of %o: %d", (rule, pods, findings) => {
    const assumed = { pods: 1, as: "100%", value: "60%" };
    const seen = evaluation({ metrics: [measured({ pods, assumed })] });
    const all = patient({ manifest: hpaOf({}), evaluation: seen } as never);
    expect(foundIn(all, rule)).toHaveLength(findings);
    // Native rules leave them out; an old sample that counts is old by any rules.
    const own = patient({ evaluation: seen } as never);
    expect(foundIn(own, rule)).toHaveLength(rule === "old-samples" ? findings : 0);
  });
});

describe("pods that count and should not", () => {
  const assumed = { pods: 1, as: "0", value: "43%" };
  const seen = evaluation({
    metrics: [measured({ pods: { matched: 7, owned: 6, finished: 1 }, assumed })],
  });

  it.each(["foreign-pods", "finished-pods"])("%s names the one word of a PodAutoscaler", (rule) => {
    const asHpa = manifestOf({ pods: "asHpa" });
    expect(
      foundIn(patient({ manifest: asHpa, evaluation: seen } as never), rule)[0]?.change,
    ).toEqual({
      field: "spec.pods",
      value: "asHpa",
      advice: "write owned, so that only pods count that the target owns and that run",
    });
    const hpa = patient({ manifest: hpaOf({}), evaluation: seen } as never);
    expect(foundIn(hpa, rule)[0]?.change.field).toBe('Deployment "web": spec.selector');
  });
});

describe("policy-never-binds", () => {
  const hpa = (value: number) =>
    patient({
      manifest: hpaOf({
        behavior: { scaleUp: { policies: [{ type: "Pods", value, periodSeconds: 600 }] } },
      }),
    });

  it.each([
    [9, 0],
    [10, 1],
    [11, 1],
  ])("%d pods where the bounds are 10 apart: %d", (value, findings) => {
    expect(foundIn(hpa(value), "policy-never-binds")).toHaveLength(findings);
  });

  it("names the line of an HPA", () => {
    expect(foundIn(hpa(200), "policy-never-binds")[0]?.change).toMatchObject({
      field: "spec.behavior.scaleUp.policies[0]",
      value: '{"type":"Pods","value":200,"periodSeconds":600}',
    });
  });

  it("says nothing of what Kubernetes writes by itself", () => {
    const policies = [
      { type: "Pods", value: 4, periodSeconds: 15 },
      { type: "Percent", value: 100, periodSeconds: 15 },
    ];
    const one = patient({
      manifest: hpaOf({ minReplicas: 9, behavior: { scaleUp: { policies } } }),
    });
    expect(foundIn(one, "policy-never-binds")).toEqual([]);
  });
});

describe("fallback-cannot-act", () => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 0],
    [12, 0],
    [13, 1],
  ])("a fallback of %d between 2 and 12: %d", (replicas, findings) => {
    const onMissing = { action: "fallback", replicas, afterSeconds: 60 };
    const metrics = [{ name: "lag", external: { name: "lag" }, target: "10", onMissing }];
    const manifest = manifestOf({ metrics });
    const one = { ...patient(), manifest };
    expect(foundIn(one, "fallback-cannot-act")).toHaveLength(findings);
  });
});

describe("threshold-out-of-reach", () => {
  const ofLimit = (above: string) =>
    evaluatedAs(
      { metrics: [measured({ turns: { value: "60%", above: { value: above, asks: "more" } } })] },
      {
        manifest: manifestOf({
          metrics: [{ name: "cpu", resource: { name: "cpu", of: "limit" }, target: "95" }],
        }),
      },
    );

  it.each([
    ["99%", 0],
    ["100%", 0],
    ["104.5%", 1],
  ])("more from %s of the limit on: %d", (above, findings) => {
    const found = foundIn(ofLimit(above), "threshold-out-of-reach");
    expect(found.filter(({ evidence }) => evidence.includes("stopped"))).toHaveLength(findings);
  });

  it.each([
    ["at a count above the minimum", 4, 4, 1],
    ["at the minimum", 2, 2, 0],
    ["where fewer are asked for already", 4, 3, 0],
  ])("no value asks for fewer, %s", (_where, from, proposal, findings) => {
    const turns = { value: "60%", above: { value: "70%", asks: "more" } } as const;
    const one = evaluatedAs({ from, metrics: [measured({ proposal, turns })] });
    expect(foundIn(one, "threshold-out-of-reach")).toHaveLength(findings);
  });
});

describe("metrics that are missing", () => {
  const failed = (message: string) =>
    evaluatedAs({
      failed: true,
      metrics: [
        {
          kind: "failed",
          name: "cpu",
          type: "Resource",
          reason: "FailedGetResourceMetric",
          message,
        },
      ],
    });

  it("names the container without a request", () => {
    const one = failed("missing request for cpu in container proxy of Pod web-1");
    expect(foundIn(one, "requests-missing")[0]?.change.field).toBe(
      'Deployment "web": spec.template.spec.containers["proxy"].resources.requests.cpu',
    );
    expect(foundIn(one, "metric-missing")).toEqual([]);
  });

  it("names the line of the metric for every other reason", () => {
    const one = failed("no metrics returned from resource metrics API");
    expect(foundIn(one, "metric-missing")[0]?.change).toMatchObject({ field: "spec.metrics[0]" });
    expect(foundIn(one, "requests-missing")).toEqual([]);
  });
});

describe("old-samples", () => {
  const pods = { matched: 4, oldestSeconds: 600 };
  const change = (manifest: object) =>
    foundIn(
      patient({ manifest, evaluation: evaluation({ metrics: [measured({ pods })] }) } as never),
      "old-samples",
    )[0]?.change;

  it("names maxAgeSeconds where the rules have it, and else the metric", () => {
    expect(change(manifestOf())).toMatchObject({
      field: "spec.metrics[0].maxAgeSeconds",
      advice: expect.stringMatching(/^write 180, /),
    });
    const metrics = [{ name: "cpu", resource: { name: "cpu" }, target: "60", maxAgeSeconds: 900 }];
    expect(change(manifestOf({ metrics }))).toMatchObject({ value: "900" });
    const { scaleTargetRef } = hpaOf({}).spec;
    const head = { scaleTargetRef, minReplicas: 2, maxReplicas: 12 };
    const inside = { ...head, rules: "hpa", hpa: { metrics: hpaOf({}).spec.metrics } };
    for (const other of [hpaOf({}), { ...manifestOf(), spec: inside }])
      expect(change(other)).toMatchObject({
        field: expect.stringMatching(/^spec\.(hpa\.)?metrics\[0\]$/),
        advice: expect.stringContaining("convert --pods owned"),
      });
    const old = { ...head, targetCPUUtilizationPercentage: 60 };
    expect(change({ ...hpaOf({}), apiVersion: "autoscaling/v1", spec: old })).toMatchObject({
      field: "spec.targetCPUUtilizationPercentage",
    });
  });
});

describe("pods-refused", () => {
  it("is found while the controller of the workload says so, with its words", () => {
    const podsRefused = { reason: "FailedCreate", message: "exceeded quota: shop" };
    expect(foundIn(evaluatedAs({ podsRefused }), "pods-refused")[0]?.evidence).toBe(
      'the cluster refuses pods of Deployment "web" (FailedCreate): exceeded quota: shop',
    );
    expect(foundIn(evaluatedAs({}), "pods-refused")).toEqual([]);
  });
});

describe("selectors-overlap", () => {
  it("is found where the rules hold for it", () => {
    const because = { reason: "AmbiguousSelector", message: "pods by selector are shared" };
    expect(foundIn(evaluatedAs({ because }), "selectors-overlap")).toHaveLength(1);
  });
});

describe("held", () => {
  it("is found where another count is wanted, and only then", () => {
    const because = { reason: "AutoscalerPaused", message: "paused by ada" };
    const wanted = { to: 9, because: { reason: "AboveTarget", message: "" } };
    expect(foundIn(evaluatedAs({ because, withoutHold: wanted }), "held")).toMatchObject([
      {
        evidence: "it holds at 4 and would scale to 9: paused by ada",
        cost: "the count is 5 away from what the load asks for",
      },
    ]);
    const none = { because: { reason: "WithinTarget", message: "" } };
    expect(foundIn(evaluatedAs({ because, withoutHold: none }), "held")).toEqual([]);
  });
});

describe("slow-sync", () => {
  it.each([
    [11_999, 0],
    [12_000, 1],
    [12_001, 1],
  ])("%d ms of 15 s: %d", (tookMs, findings) => {
    const one = patient({ sync: { partition: "a", tookMs } });
    expect(foundIn(one, "slow-sync")).toHaveLength(findings);
  });
});

describe("slow-source", () => {
  const source = { name: "main", timeoutSeconds: 3 };
  const metrics = [
    { name: "lag", prometheus: { source: "main", query: "lag" }, target: "10", everySeconds: 30 },
  ];
  const at = (tookMs: number): Patient => {
    const answer = slowAnswer(source, tookMs);
    const slow = answer ? [{ metric: "lag", at: 0, ...answer }] : [];
    return evaluatedAs({ slow }, { manifest: manifestOf({ metrics }) });
  };

  it.each([
    [1_499, 0],
    [1_500, 1],
    [1_501, 1],
  ])("%d ms of 3 s: %d", (tookMs, findings) => {
    expect(foundIn(at(tookMs), "slow-source")).toHaveLength(findings);
  });

  it("names the source, its time limit and the line of the metric", () => {
    const [found] = foundIn(at(2_340), "slow-source");
    expect(found).toMatchObject({
      severity: "advice",
      evidence: 'source "main" took 2.3 s of its time limit of 3 s to answer metric "lag"',
      change: { field: "spec.metrics[0].everySeconds", value: "30" },
    });
    expect(found?.change.advice).toContain('timeoutSeconds of source "main"');
  });
});

describe("docs/doctor.md", () => {
  it("has each rule in the order of the findings, with its severity and its sentence", () => {
    const page = readFileSync(new URL("../../docs/doctor.md", import.meta.url), "utf8");
    const rows = page.split("\n").filter((line) => line.startsWith("| `"));
    expect(rows).toEqual(
      [...DOCTOR_RULES, ...BESIDE_RULES].map(
        ({ name, severity, finds }) => `| \`${name}\` | ${severity} | ${finds} |`,
      ),
    );
  });
});
