import { describe, expect, it } from "vitest";
import { admitted, faults, faultsOf, manifest, v2 } from "./manifests.ts";

const constrained = (constraints: unknown, spec: Readonly<Record<string, unknown>> = {}) =>
  v2({ maxReplicas: 1000, constraints, ...spec });
const behaviorOf = (constraints: unknown) => admitted(constrained(constraints)).spec.behavior;
const warningsOf = (constraints: unknown, spec: Readonly<Record<string, unknown>> = {}) =>
  admitted(constrained(constraints, spec)).warnings.map(
    ({ field, message, fix }) => `${field}: ${message}; ${fix}`,
  );

const pods = (value: number, periodSeconds = 60) => ({ type: "Pods", value, periodSeconds });
const percent = (value: number, periodSeconds = 60) => ({ type: "Percent", value, periodSeconds });
const OWN = { countedChanges: "SameDirection" };
const DEFAULT_UP = {
  ...OWN,
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [pods(4), percent(100)],
};
const UNLIMITED_DOWN = { ...OWN, selectPolicy: "Min", policies: [] };

describe("constraints (proposals.md §3)", () => {
  it("are absent by default: the manifest is a plain HPA", () => {
    expect(admitted(v2()).spec.behavior).toBeUndefined();
    expect(admitted(v2({ constraints: null })).spec.behavior).toBeUndefined();
  });

  it("take the defaults of every field when empty, with a period of 60 seconds", () =>
    expect(behaviorOf({})).toEqual({ scaleUp: DEFAULT_UP, scaleDown: UNLIMITED_DOWN }));

  it("story 1 scales up as fast as possible", () =>
    expect(behaviorOf({ scaleUp: { percent: 900 } })?.scaleUp.policies).toEqual([
      pods(4),
      percent(900),
    ]));

  it("story 2 scales up fast and down gradually", () =>
    expect(
      behaviorOf({ scaleUp: { percent: 900 }, scaleDown: { pods: 1, periodSeconds: 600 } }),
    ).toEqual({
      scaleUp: { ...DEFAULT_UP, policies: [pods(4), percent(900)] },
      scaleDown: { ...OWN, selectPolicy: "Min", policies: [pods(1, 600)] },
    }));

  it("story 3 scales up gradually", () => {
    expect(behaviorOf({ scaleUp: { pods: 1, percent: 0 } })?.scaleUp).toEqual({
      ...DEFAULT_UP,
      policies: [pods(1)],
    });
    expect(warningsOf({ scaleUp: { pods: 1, percent: 0 } })).toEqual([]);
  });

  it("story 3, as the document has it: the default percentage counts, and a warning shows the fix", () => {
    expect(behaviorOf({ scaleUp: { pods: 1 } })?.scaleUp.policies).toEqual([pods(1), percent(100)]);
    expect(warningsOf({ scaleUp: { pods: 1 } })).toEqual([
      "spec.constraints.scaleUp.percent: the default percentage is faster than the pods given: from 2 replicas on, 100 percent adds more than 1 pod; write percent: 0 beside pods: 1 if only the pods are meant",
    ]);
  });

  it("story 4 never scales down", () =>
    expect(behaviorOf({ scaleDown: { percent: 0, pods: 0 } })?.scaleDown).toEqual({
      ...OWN,
      selectPolicy: "Disabled",
      policies: [],
    }));

  it("story 5 waits before it scales down", () =>
    expect(behaviorOf({ scaleDown: { pods: 5, delaySeconds: 600 } })?.scaleDown).toEqual({
      ...OWN,
      stabilizationWindowSeconds: 600,
      selectPolicy: "Min",
      policies: [pods(5)],
    }));

  it("largest constraint: its other example has the warning of story 3", () => {
    expect(behaviorOf({ scaleUp: { pods: 5 } })?.scaleUp.policies).toEqual([pods(5), percent(100)]);
    expect(warningsOf({ scaleUp: { pods: 5 } })).toHaveLength(1);
  });

  it("read the nested form and the short form as the same", () => {
    const nested = {
      scaleUp: { rate: { percent: 50, pods: 3, periodSeconds: 120 }, delaySeconds: 30 },
      scaleDown: { rate: { pods: 2 }, delaySeconds: 90 },
    };
    const short = {
      scaleUp: { percent: 50, pods: 3, periodSeconds: 120, delaySeconds: 30 },
      scaleDown: { pods: 2 },
      delaySeconds: 90,
    };
    expect(behaviorOf(nested)).toEqual({
      scaleUp: {
        ...OWN,
        stabilizationWindowSeconds: 30,
        selectPolicy: "Max",
        policies: [pods(3, 120), percent(50, 120)],
      },
      scaleDown: {
        ...OWN,
        stabilizationWindowSeconds: 90,
        selectPolicy: "Min",
        policies: [pods(2)],
      },
    });
    expect(behaviorOf(short)).toEqual(behaviorOf(nested));
  });

  it("take the same value from two places, and refuse two values, naming both places", () => {
    expect(
      behaviorOf({ scaleUp: { pods: 5, percent: 0, rate: { pods: 5 } } })?.scaleUp.policies,
    ).toEqual([pods(5)]);
    expect(
      faults(
        constrained({
          scaleUp: { pods: 5, rate: { pods: 4 } },
          delaySeconds: 60,
          scaleDown: { delaySeconds: 90 },
        }),
      ),
    ).toEqual([
      "spec.constraints.delaySeconds Invalid may not be 60 while spec.constraints.scaleDown.delaySeconds is 90",
      "spec.constraints.scaleUp.pods Invalid may not be 5 while spec.constraints.scaleUp.rate.pods is 4",
    ]);
  });

  it("refuse a behavior beside them", () =>
    expect(faults(constrained({}, { behavior: {} }))).toEqual([
      "spec.constraints Forbidden may not be set together with spec.behavior",
    ]));

  it.each([
    ["both 0: disabled", { pods: 0, percent: 0 }, "Disabled", []],
    ["pods 0, percent given: the percentage alone", { pods: 0, percent: 30 }, "Max", [percent(30)]],
    ["pods 0, percent absent: the default percentage", { pods: 0 }, "Max", [percent(100)]],
    ["percent 0, pods absent: the default pods", { percent: 0 }, "Max", [pods(4)]],
    ["both given: the faster", { pods: 2, percent: 30 }, "Max", [pods(2), percent(30)]],
  ])("read the rate upwards: %s", (_, scaleUp, selectPolicy, policies) =>
    expect(behaviorOf({ scaleUp })?.scaleUp).toMatchObject({ selectPolicy, policies }),
  );

  it.each([
    ["both 0: disabled", { pods: 0, percent: 0 }, "Disabled", []],
    ["pods 0, percent given: the percentage alone", { pods: 0, percent: 30 }, "Min", [percent(30)]],
    ["percent given, pods absent: the percentage alone", { percent: 30 }, "Min", [percent(30)]],
    ["pods 0, percent absent: no limit", { pods: 0 }, "Min", []],
    ["both given: the more careful", { pods: 2, percent: 30 }, "Min", [pods(2), percent(30)]],
    ["both absent: no limit", {}, "Min", []],
  ])("read the rate downwards: %s", (_, scaleDown, selectPolicy, policies) =>
    expect(behaviorOf({ scaleDown })?.scaleDown).toEqual({ ...OWN, selectPolicy, policies }),
  );

  it.each([
    ["pods", 0, 2 ** 31 - 1],
    ["percent", 0, 2 ** 31 - 1],
    ["periodSeconds", 1, 86_400],
    ["delaySeconds", 0, 86_400],
  ])("%s may be %d to %d", (name, least, most) => {
    const at = (value: number) => faultsOf(constrained({ scaleDown: { [name]: value } }));
    const path = `spec.constraints.scaleDown.${name}`;
    expect([at(least), at(most)]).toEqual([[], []]);
    expect(at(least - 1)).toEqual([`${path} Invalid must be greater than or equal to ${least}`]);
    expect(at(most + 1)).toEqual(
      most === 2 ** 31 - 1
        ? [`${path} TypeInvalid must be a whole number below 2147483648, not 2147483648`]
        : [`${path} Invalid must be less than or equal to ${most}`],
    );
  });

  it("warn of default pods faster than a small percentage, as long as the count can be small", () => {
    expect(warningsOf({ scaleUp: { percent: 10 } })).toEqual([
      "spec.constraints.scaleUp.pods: the default of 4 pods is faster than the percentage given: below 40 replicas it adds more; write pods: 0 beside percent: 10 if only the percentage is meant",
    ]);
    expect(warningsOf({ scaleUp: { percent: 10 } }, { minReplicas: 39 })).toHaveLength(1);
    expect(warningsOf({ scaleUp: { percent: 10 } }, { minReplicas: 40 })).toEqual([]);
    expect(warningsOf({ scaleUp: { percent: 99 } })).toHaveLength(1);
    expect(warningsOf({ scaleUp: { percent: 100 } })).toEqual([]);
  });

  it("warn of the default percentage only where the maximum leaves it room", () => {
    expect(warningsOf({ scaleUp: { pods: 5 } }, { maxReplicas: 7 })).toHaveLength(1);
    expect(warningsOf({ scaleUp: { pods: 5 } }, { maxReplicas: 6 })).toEqual([]);
    expect(warningsOf({ scaleUp: { pods: 0 } })).toEqual([]);
  });

  it("warn of a percentage alone that would have to scale up from 0", () => {
    const external = {
      type: "External",
      external: { metric: { name: "load" }, target: { type: "AverageValue", averageValue: "1" } },
    };
    const zero = { minReplicas: 0, metrics: [external] };
    expect(warningsOf({ scaleUp: { pods: 0, percent: 100 } }, zero)).toEqual([
      "spec.constraints.scaleUp.pods: with minReplicas: 0 a percentage without pods never scales up from 0: a percentage of 0 pods is 0; write pods: 1 or more, or minReplicas: 1",
    ]);
    expect(warningsOf({ scaleUp: { pods: 0 } }, zero)).toHaveLength(1);
    expect(warningsOf({ scaleUp: { pods: 0, percent: 0 } }, zero)).toEqual([]);
    expect(warningsOf({ scaleUp: { pods: 0, percent: 100 } })).toEqual([]);
    expect(warningsOf({}, zero)).toEqual([]);
  });

  it("warn of a single 0 downwards, which forbids nothing", () => {
    expect(warningsOf({ scaleDown: { pods: 0 } })).toEqual([
      "spec.constraints.scaleDown.pods: pods: 0 alone does not limit scaling down: percent is absent, which is no limit; write percent: 0 as well to never scale down",
    ]);
    expect(warningsOf({ scaleDown: { percent: 0 } })).toEqual([
      "spec.constraints.scaleDown.percent: percent: 0 alone does not limit scaling down: pods is absent, which is no limit; write pods: 0 as well to never scale down",
    ]);
    expect(warningsOf({ scaleDown: { percent: 0, pods: 1 } })).toEqual([]);
  });

  const target = { kind: "ReplicationController", name: "web" };
  it.each([
    ["autoscaling/v1", { scaleTargetRef: target, maxReplicas: 10 }],
    ["autoscaling/v2beta1", { scaleTargetRef: target, maxReplicas: 10 }],
    ["autoscaling/v2beta2", { scaleTargetRef: target, maxReplicas: 10 }],
    ["autoscaling/v2alpha1", { scaleTargetRef: target, maxReplicas: 10 }],
    ["extensions/v1beta1", { scaleRef: target, maxReplicas: 10 }],
  ])("are read in %s", (apiVersion, spec) => {
    const document = manifest(apiVersion, { ...spec, constraints: { scaleDown: { pods: 1 } } });
    expect(admitted(document).spec.behavior).toEqual({
      scaleUp: DEFAULT_UP,
      scaleDown: { ...OWN, selectPolicy: "Min", policies: [pods(1)] },
    });
  });

  it("take an object of the original design out of its rules, and say so", () => {
    const document = manifest("extensions/v1beta1", {
      scaleRef: target,
      maxReplicas: 10,
      constraints: {},
    });
    const { spec, stored, warnings } = admitted(document);
    expect([spec.dialect, stored["apiVersion"]]).toEqual(["hpa", "autoscaling/v2"]);
    expect(warnings).toEqual([
      {
        field: "spec.constraints",
        message:
          "with constraints this is decided by the rules of autoscaling/v2, not by the original ones with their pauses of 3 and 5 minutes",
        fix: "remove constraints to keep the original rules",
      },
    ]);
  });

  it("are stored complete, in the nested words of today's fields", () =>
    expect(
      admitted(constrained({ scaleDown: { rate: { pods: 1 } }, delaySeconds: 60 })).stored,
    ).toMatchObject({
      spec: {
        constraints: {
          scaleUp: { percent: 100, pods: 4, periodSeconds: 60, delaySeconds: 0 },
          scaleDown: { pods: 1, periodSeconds: 60, delaySeconds: 60 },
        },
      },
    }));

  it.each([
    ["a text", "fast", 'spec.constraints TypeInvalid must be an object, not "fast"'],
    [
      "a direction that is a number",
      { scaleUp: 5 },
      "spec.constraints.scaleUp TypeInvalid must be an object, not 5",
    ],
    [
      "pods as text",
      { scaleUp: { rate: { pods: "4" } } },
      'spec.constraints.scaleUp.rate.pods TypeInvalid must be a whole number below 2147483648, not "4"',
    ],
  ])("refuse %s", (_, constraints, fault) =>
    expect(faults(constrained(constraints))).toEqual([fault]),
  );
});
