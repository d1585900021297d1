import { describe, expect, it } from "vitest";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import {
  CONTRADICTIONS,
  document,
  entry,
  M,
  METRIC,
  metric,
  policies,
  up,
} from "./contradictions.ts";

const problemsOf = (spec: Readonly<Record<string, unknown>>, without: readonly string[] = []) => {
  const admission = admit(document(spec, without));
  return admission.ok ? [] : admission.problems.map(({ field, detail }) => `${field}: ${detail}`);
};
const warningsOf = (spec: Readonly<Record<string, unknown>>) =>
  admit(document(spec)).warnings.map(({ field, message }) => `${field}: ${message}`);
describe("a PodAutoscaler", () => {
  it("with target, max and one metric is complete", () => {
    const admission = admit(document());
    expect(admission).toMatchObject({
      ok: true,
      warnings: [],
      spec: { dialect: "native", combine: "Max", scaleDown: { stabilizationWindowSeconds: 300 } },
    });
  });

  it("reads back complete: admitted again nothing changes", () => {
    const full = document({
      owner: "shop",
      pausedUntil: "2030-01-01T00:00:00Z",
      dryRun: true,
      combine: "Mean",
      metrics: [
        {
          resource: { name: "cpu", of: "limit" },
          target: 60,
          tolerance: { up: "0.1" },
          onMissing: { action: "scaleUpOnly" },
        },
        {
          name: "queue",
          external: { metric: "lag", selector: { matchLabels: { a: "b" } } },
          watermarks: { low: "1500m", high: "2k" },
          scaleUpOnly: true,
          activation: 1,
        },
      ],
      flapBudget: { reversals: 2, periodSeconds: 600 },
      idle: {},
    });
    const first = admit(full);
    if (!first.ok) throw new Error(JSON.stringify(first.problems));
    const again = admit(first.stored, { old: full, oldGeneration: 3 });
    expect(again).toMatchObject({ ok: true, changed: false });
    expect(again.ok && again.spec).toEqual(first.spec);
    expect(again.ok && again.stored["spec"]).toEqual(first.stored["spec"]);
  });

  it("means the same however quantities are written, and another thing with another value", () => {
    const old = document(metric({ target: 10 }));
    expect(admit(document(metric({ target: "10000m" })), { old })).toMatchObject({
      changed: false,
    });
    expect(admit(document(metric({ target: 11 })), { old })).toMatchObject({ changed: true });
  });

  it("tells all that is wrong at once, with what to write instead", () => {
    const admission = admit(
      document({
        maxReplicas: 1,
        combine: "Most",
        metrics: [{ ...METRIC, target: undefined }],
        scaleUp: { stepMinimum: 0 },
      }),
    );
    expect(admission.ok ? [] : admission.problems.map(({ field, fix }) => [field, fix])).toEqual([
      ["spec.combine", 'write one of "Max", "Mean", "Min"'],
      ["spec.scaleUp.stepMinimum", "write 1 or more"],
      ["spec.maxReplicas", "write 2 or more"],
      ["spec.metrics[0].target", "write target, or watermarks with low and high"],
    ]);
  });
});

describe("a quantity just below 0", () => {
  it.each(["-1n", -5e-324, "-1m"])("%s is below 0, though it is rounded", (target) =>
    expect(problemsOf(metric({ target }))).toEqual([
      `${M}.target: must be greater than or equal to 0.001`,
    ]),
  );
});

describe("contradictions are errors", () => {
  it.each(CONTRADICTIONS)("%s", (_, spec, problems) => expect(problemsOf(spec)).toEqual(problems));

  it("a ReplicationController is of the core group", () =>
    expect(
      problemsOf({
        scaleTargetRef: { apiVersion: "v1", kind: "ReplicationController", name: "web" },
      }),
    ).toEqual([]));

  it("a step as large as the room, and one pod in a room of none, are allowed", () =>
    expect([
      problemsOf(up({ stepMinimum: 8 })),
      problemsOf({ minReplicas: 10, ...up({ stepMinimum: 1 }) }),
    ]).toEqual([[], []]));
});

describe("what can never have an effect is a warning", () => {
  const short = "14 s are shorter than the sync period of 15 s, so the next sync comes after it";
  const pods = (value: number) => ({ type: "Pods", value, periodSeconds: 60 });
  it.each([
    [
      "a sustain below the sync period",
      up({ sustainSeconds: 14 }),
      [`spec.scaleUp.sustainSeconds: ${short}`],
    ],
    [
      "a stabilization below it",
      up({ stabilizationWindowSeconds: 14 }),
      [`spec.scaleUp.stabilizationWindowSeconds: ${short}`],
    ],
    [
      "a forbidden window below it",
      up({ forbiddenAfterEventSeconds: 14 }),
      [`spec.scaleUp.forbiddenAfterEventSeconds: ${short}`],
    ],
    [
      "a flap period below it",
      { flapBudget: { reversals: 1, periodSeconds: 14 } },
      [`spec.flapBudget.periodSeconds: ${short}`],
    ],
    [
      "windows of the sync period",
      up({ sustainSeconds: 15, stabilizationWindowSeconds: 15, forbiddenAfterEventSeconds: 15 }),
      [],
    ],
    ["pods below the room", up(policies(pods(7))), []],
    [
      "pods of the whole room",
      up(policies(pods(8))),
      [
        "spec.scaleUp.policies[0]: this policy can never bind: it allows 8 pods, and the bounds are 8 apart",
      ],
    ],
    [
      "a factor below the room",
      up(policies({ type: "Factor", value: "4.9", periodSeconds: 60 })),
      [],
    ],
    [
      "a factor of the room",
      up(policies({ type: "Factor", value: 5, periodSeconds: 60 })),
      ["spec.scaleUp.policies[0]: this policy can never bind: it leads beyond the other bound"],
    ],
    [
      "percent down to min",
      { scaleDown: policies({ type: "Percent", value: 80, periodSeconds: 60 }) },
      ["spec.scaleDown.policies[0]: this policy can never bind: it leads beyond the other bound"],
    ],
    [
      "percent down above min",
      { scaleDown: policies({ type: "Percent", value: 79, periodSeconds: 60 }) },
      [],
    ],
    [
      "one that a larger one overrules",
      up(policies(pods(2), pods(3))),
      [
        "spec.scaleUp.policies[0]: this policy can never bind: another policy of the same type and period allows more",
      ],
    ],
    [
      "one that a smaller one overrules",
      up({ selectPolicy: "Min", ...policies(pods(2), pods(3)) }),
      [
        "spec.scaleUp.policies[1]: this policy can never bind: another policy of the same type and period allows less",
      ],
    ],
    [
      "policies of a disabled direction",
      up({ selectPolicy: "Disabled", ...policies(pods(2)) }),
      ["spec.scaleUp.policies[0]: it has no effect, because the direction is disabled"],
    ],
    [
      "other fields of a disabled direction",
      up({ selectPolicy: "Disabled", sustainSeconds: 30, stepMinimum: 2 }),
      [
        "spec.scaleUp.sustainSeconds: it has no effect, because the direction is disabled",
        "spec.scaleUp.stepMinimum: it has no effect, because the direction is disabled",
      ],
    ],
    ["a disabled direction and nothing else", { scaleDown: { selectPolicy: "Disabled" } }, []],
    [
      "one that stands there twice",
      up(policies(pods(2), pods(2))),
      ["spec.scaleUp.policies[1]: this policy can never bind: an earlier policy is equal to it"],
    ],
    [
      "steps that the policies allow",
      up({ stepMinimum: 2, ...policies(pods(1), pods(2)) }),
      [
        "spec.scaleUp.policies[0]: this policy can never bind: another policy of the same type and period allows more",
      ],
    ],
    [
      "steps that no policy allows",
      up({ stepMinimum: 3, ...policies(pods(2)) }),
      [
        "spec.scaleUp.stepMinimum: the policies allow 2 pods at a time: a wanted change of 3 or more is made in steps smaller than that",
      ],
    ],
    ["a modulo with a multiple between the bounds", up({ replicaModulo: 10 }), []],
    [
      "a modulo without one",
      up({ replicaModulo: 11 }),
      [
        "spec.scaleUp.replicaModulo: no multiple of 11 lies between minReplicas and maxReplicas: only the bounds can be reached",
      ],
    ],
    [
      "a factor that takes a pod away",
      { scaleDown: policies({ type: "Factor", value: "1.12", periodSeconds: 60 }) },
      [],
    ],
    [
      "a factor that takes none away",
      { scaleDown: policies({ type: "Factor", value: "1.1", periodSeconds: 60 }) },
      [
        "spec.scaleDown.policies: the count never shrinks: divided by the factor and rounded up, 10 stays 10",
      ],
    ],
    [
      "a factor that takes none away beside pods",
      { scaleDown: policies({ type: "Factor", value: "1.1", periodSeconds: 60 }, pods(1)) },
      [],
    ],
    [
      "both directions disabled",
      { ...up({ selectPolicy: "Disabled" }), scaleDown: { selectPolicy: "Disabled" } },
      ["spec.scaleDown.selectPolicy: both directions are disabled: no metric ever moves the count"],
    ],
    [
      "a percentage below the limit",
      { metrics: [{ resource: { name: "cpu", of: "limit" }, target: 99 }] },
      [],
    ],
    [
      "a percentage of the whole limit",
      {
        metrics: [
          { resource: { name: "cpu", of: "limit" }, target: 90, tolerance: { up: "0.12" } },
        ],
      },
      [`${M}.target: no pod uses more than its limit: the metric never asks for more pods`],
    ],
    [
      "a mark at the limit",
      {
        metrics: [
          {
            containerResource: { name: "cpu", container: "app", of: "limit" },
            watermarks: { low: 50, high: 100 },
          },
        ],
      },
      [
        `${M}.watermarks.high: no pod uses more than its limit: the metric never asks for more pods`,
      ],
    ],
    [
      "a percentage above the request",
      { metrics: [{ resource: { name: "cpu" }, target: 250 }] },
      [],
    ],
    [
      "one count",
      { minReplicas: 10 },
      ["spec.maxReplicas: with minReplicas and maxReplicas both 10 the count never moves"],
    ],
    [
      "a fallback above min",
      metric({ onMissing: { action: "fallback", replicas: 3, afterSeconds: 60 } }),
      [],
    ],
    [
      "a fallback to min",
      metric({ onMissing: { action: "fallback", replicas: 2, afterSeconds: 60 } }),
      [
        `${M}.onMissing.replicas: a fallback to minReplicas adds no pod: there are never fewer than 2`,
      ],
    ],
    [
      "a fallback to min that wakes a workload at rest",
      {
        idle: {},
        ...metric({
          activation: 0,
          onMissing: { action: "fallback", replicas: 2, afterSeconds: 60 },
        }),
      },
      [],
    ],
    [
      "a fallback that wakes nothing, because its metric has no activation",
      {
        idle: {},
        metrics: [
          ...(metric({ onMissing: { action: "fallback", replicas: 3, afterSeconds: 60 } })
            .metrics as readonly object[]),
          { name: "b", external: { metric: "other" }, target: 10, activation: 1 },
        ],
      },
      [
        `${M}.onMissing.action: this fallback does not wake a workload at rest: only a metric with an activation does`,
      ],
    ],
    [
      "a fallback where nothing may grow",
      {
        scaleUp: { selectPolicy: "Disabled" },
        ...metric({ onMissing: { action: "fallback", replicas: 3, afterSeconds: 60 } }),
      },
      [`${M}.onMissing.action: a fallback adds no pod while scaleUp has selectPolicy: Disabled`],
    ],
    [
      "a floor at whose end most pods may go",
      {
        minReplicas: 2,
        maxReplicas: 100,
        schedule: [
          { name: "day", timeZone: "Etc/UTC", from: "08:00", to: "20:00", minReplicas: 50 },
        ],
      },
      [
        "spec.schedule[0].minReplicas: when it ends, up to 48 pods go in one sync where the metrics want so few: windows record what the metrics wanted, and no policy of scaleDown says less",
      ],
    ],
    [
      "one that falls in a line",
      {
        minReplicas: 2,
        maxReplicas: 100,
        schedule: [
          {
            name: "day",
            timeZone: "Etc/UTC",
            from: "08:00",
            to: "20:00",
            minReplicas: 50,
            rampMinutes: { out: 30 },
          },
        ],
      },
      [],
    ],
    [
      "one with a policy for the fall",
      {
        minReplicas: 2,
        maxReplicas: 100,
        schedule: [
          { name: "day", timeZone: "Etc/UTC", from: "08:00", to: "20:00", minReplicas: 50 },
        ],
        scaleDown: { policies: [{ type: "Percent", value: 20, periodSeconds: 60 }] },
      },
      [],
    ],
    [
      "one of few pods more",
      {
        minReplicas: 2,
        maxReplicas: 100,
        schedule: [
          { name: "day", timeZone: "Etc/UTC", from: "08:00", to: "20:00", minReplicas: 11 },
        ],
      },
      [],
    ],
    [
      "a fallback before the next sync",
      metric({ onMissing: { action: "fallback", replicas: 3, afterSeconds: 14 } }),
      [`${M}.onMissing.afterSeconds: ${short}`],
    ],
    [
      "a rest before the next sync",
      { idle: { afterSeconds: 14 }, ...metric({ activation: 1 }) },
      [`spec.idle.afterSeconds: ${short}`],
    ],
    ["an activation at the level", { idle: {}, ...metric({ activation: 10 }) }, []],
    [
      "an activation above it",
      { idle: {}, ...metric({ activation: "10.001" }) },
      [
        `${M}.activation: the workload rests at values for which this metric asks for more than minReplicas`,
      ],
    ],
    [
      "an activation at the level of min pods",
      { idle: {}, ...metric({ measure: "Average", activation: 20 }) },
      [],
    ],
    [
      "an activation above that",
      { idle: {}, ...metric({ measure: "Average", activation: 21 }) },
      [
        `${M}.activation: the workload rests at values for which this metric asks for more than minReplicas`,
      ],
    ],
    [
      "nothing that shrinks",
      metric({ scaleUpOnly: true }),
      ["spec.metrics: every metric is scaleUpOnly: the count never shrinks"],
    ],
    [
      "a tolerance of all",
      metric({ tolerance: { down: 1 } }),
      [`${M}.tolerance.down: from 1 on the metric never asks for fewer pods`],
    ],
    [
      "activation without idle",
      metric({ activation: 1 }),
      [`${M}.activation: without spec.idle it has no effect`],
    ],
    [
      "a mistyped field",
      { combin: "Max" },
      ['spec.combin: unknown field "spec.combin" is ignored'],
    ],
  ])("%s", (_, spec, warnings) => {
    expect(problemsOf(spec)).toEqual([]);
    expect(warningsOf(spec)).toEqual(warnings);
  });
});

describe("windows beside the sync period of the cluster", () => {
  const spec = {
    scaleUp: { sustainSeconds: 30 },
    scaleDown: { policies: [{ type: "Pods", value: 2, periodSeconds: 59 }] },
  };
  it.each([
    [30, []],
    [31, ["spec.scaleUp.sustainSeconds"]],
    [59, ["spec.scaleUp.sustainSeconds"]],
    [60, ["spec.scaleUp.sustainSeconds", "spec.scaleDown.policies[0].periodSeconds"]],
  ])("are warned of under a period of %i s where they are shorter", (syncPeriodSeconds, fields) =>
    expect(admit(document(spec), { syncPeriodSeconds }).warnings.map(({ field }) => field)).toEqual(
      fields,
    ),
  );
});

describe("rules of another form", () => {
  const without = ["metrics"];
  const hpa = {
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
      },
    ],
  };
  const marks = {
    metrics: [
      {
        type: "External",
        external: { metricName: "lag", metricSelector: {}, highWatermark: 4, lowWatermark: 2 },
      },
    ],
  };

  it("hpa: the spec of an autoscaling/v2 manifest, governed by this one", () => {
    const plain = admit({
      ...document({ ...hpa }),
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
    });
    const carried = admit(document({ rules: "hpa", hpa, owner: "shop", dryRun: true }, without));
    if (!plain.ok || !carried.ok) throw new Error("refused");
    expect(carried.spec).toEqual({ ...plain.spec, owner: "shop", dryRun: true });
  });

  it("hpa with cpuUtilization: the spec of an extensions/v1beta1 manifest, decided by the rules of the first design", () => {
    const scaleRef = { kind: "Deployment", name: "web" };
    const form = { apiVersion: "extensions/v1beta1", kind: "HorizontalPodAutoscaler" };
    const cpuUtilization = { targetPercentage: 75 };
    const plain = admit({
      ...document({ scaleRef, cpuUtilization }, ["metrics", "scaleTargetRef"]),
      ...form,
    });
    const carried = admit(
      document({ rules: "hpa", scaleTargetRef: scaleRef, hpa: { cpuUtilization } }, without),
    );
    if (!plain.ok || !carried.ok) throw new Error("refused");
    expect(carried.spec).toEqual(plain.spec);
    expect(carried.spec).toMatchObject({ dialect: "original", target: { apiVersion: "apps/v1" } });
    expect(carried.stored["spec"]).toMatchObject({
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment" },
      hpa: { cpuUtilization },
    });
    expect(admit(carried.stored)).toMatchObject({ ok: true, spec: plain.spec });
  });

  it("hpa with cpuUtilization: its problems and warnings with the paths of this manifest, and nothing beside it", () => {
    const cpu = (targetPercentage: unknown) => ({ hpa: { cpuUtilization: { targetPercentage } } });
    const former = {
      scaleTargetRef: { apiVersion: "extensions/v1beta1", kind: "Deployment", name: "" },
    };
    expect(problemsOf({ rules: "hpa", ...cpu(0), ...former }, without)).toEqual([
      "spec.scaleTargetRef.name: ",
      "spec.hpa.cpuUtilization.targetPercentage: must be greater than 0",
    ]);
    expect(problemsOf({ rules: "hpa", ...cpu("x") }, without)).toEqual([
      'spec.hpa.cpuUtilization.targetPercentage: must be a whole number below 2147483648, not "x"',
    ]);
    expect(problemsOf({ rules: "hpa", hpa: { ...cpu(75).hpa, behavior: {} } }, without)).toEqual([
      "spec.hpa.behavior: may not be set together with cpuUtilization",
    ]);
    const { warnings } = admit(document({ rules: "hpa", ...cpu(75), ...former }, without));
    expect(warnings.map(({ field }) => field)).toEqual(["spec.scaleTargetRef.apiVersion"]);
  });

  it.each(["ready", "current"] as const)(
    "watermark: the spec of that form, counting %s pods",
    (counts) => {
      const admission = admit(
        document({ rules: "watermark", watermark: { ...marks, counts }, dryRun: true }, without),
      );
      expect(admission).toMatchObject({
        ok: true,
        spec: { dialect: "watermark", counts, dryRun: true, maxReplicas: 10 },
      });
      const again = admission.ok ? admit(admission.stored) : undefined;
      expect(again?.ok && again.spec).toEqual(admission.ok && admission.spec);
    },
  );

  it("watermark: counts of no other kind", () =>
    expect(
      problemsOf({ rules: "watermark", watermark: { ...marks, counts: "all" } }, without),
    ).toEqual(['spec.watermark.counts: supported values: "current", "ready"']));

  it.each([
    ["hpa", { hpa: { ...hpa, minReplicas: 3 } }, "minReplicas"],
    ["watermark", { watermark: { ...marks, dryRun: true } }, "dryRun"],
  ])("%s: what stands outside the block may not stand in it", (rules, block, name) =>
    expect(problemsOf({ rules, ...block }, without)).toEqual([
      `spec.${rules}.${name}: may not be set inside the block`,
    ]),
  );

  it("give the problems of that form with the paths of this manifest", () => {
    const broken = {
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 0 } },
        },
      ],
    };
    expect(problemsOf({ rules: "hpa", hpa: broken }, without)).toEqual([
      "spec.hpa.metrics[0].resource.target.averageUtilization: must be greater than 0",
    ]);
    expect(problemsOf({ rules: "hpa", hpa: { metrics: 7 } }, without)).toEqual([
      "spec.hpa.metrics: must be a list, not 7",
    ]);
    expect(problemsOf({ rules: "hpa", hpa, pausedUntil: "x" }, without)).toEqual([
      "spec.pausedUntil: must be an RFC 3339 time",
    ]);
  });
});

describe("the limits of a schedule", () => {
  const named = (count: number) => ({
    schedule: Array.from({ length: count }, (_, at) => ({
      ...entry({}).schedule[0],
      name: `entry-${at}`,
    })),
  });
  const dated = (field: "dates" | "except", count: number) =>
    entry({ [field]: Array.from({ length: count }, () => "2026-12-24") });

  it.each([
    ["64 entries", named(64), named(65), "spec.schedule"],
    ["200 dates", dated("dates", 200), dated("dates", 201), "spec.schedule[0].dates"],
    ["200 excepted dates", dated("except", 200), dated("except", 201), "spec.schedule[0].except"],
  ])("are %s: no more are accepted", (_what, most, more, path) => {
    expect(admit(document(most)).ok).toBe(true);
    const refused = admit(document(more));
    expect(refused.ok ? [] : refused.problems.map(({ field }) => field)).toEqual([path]);
  });
});
