import { watermarkSpecOf } from "../../../lib/rules/manifest/watermark/spec.ts";
import type { Decision, GaugeWrite } from "../../../lib/rules/model/decision.ts";
import type { MonitorReading } from "../../../lib/rules/model/observation.ts";
import type { WatermarkSpec } from "../../../lib/rules/model/spec-watermark.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { scaleDownLimit, scaleUpLimit } from "../../../lib/rules/policy/shared/arithmetic.ts";
import { decideInner, decideWatermark } from "../../../lib/rules/policy/watermark/decide.ts";
import { afterWatermarkWrite } from "../../../lib/rules/policy/watermark/steps/after-write.ts";
import {
  combine,
  type ProposalSource,
  proposalSources,
} from "../../../lib/rules/policy/watermark/steps/combine.ts";
import type { Deviations } from "../../../lib/rules/policy/watermark/steps/bounds.ts";
import { shouldScale } from "../../../lib/rules/policy/watermark/steps/gates.ts";
import { newestFirst } from "../../../lib/rules/policy/watermark/steps/sync.ts";
import { limitSentence } from "../../../lib/rules/policy/watermark/steps/sentences.ts";
import { started } from "../../../lib/rules/policy/watermark/steps/sync.ts";
import { normalise } from "../../../lib/rules/policy/watermark/steps/velocity.ts";
import { observationOf } from "../../observation.ts";
import { said } from "../../policy/watermark/world.ts";
import { differences } from "../differences.ts";
import type { CaseRunner } from "../registry.ts";
import {
  bareSpec,
  conditionsOf,
  numberOf,
  only,
  type Raw,
  rawOf,
  scaleOf,
  specFrom,
  textOf,
  timeOf,
} from "./raw.ts";
import { isDefaulted } from "./is-defaulted.ts";

const AS_THE_ORIGINAL: Deviations = {
  boundsWithoutMetrics: false,
  neverBelowMin: false,
  noShrinkOnNothing: false,
};
const OPTIONS = { skipNotScalingEvents: false, clusterName: "" };

export const scaleLimitsKind: CaseRunner = (vector) => {
  const { direction, currentReplicas, ...factors } = rawOf(vector["input"]);
  const spec = bareSpec(factors);
  const limit =
    direction === "up"
      ? scaleUpLimit(spec.scaleUpLimit, numberOf(currentReplicas))
      : scaleDownLimit(spec.scaleDownLimit, numberOf(currentReplicas));
  return differences(vector["expect"], { limit });
};

export const normaliseKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  const result = normalise(
    numberOf(input["currentReplicas"]),
    numberOf(input["desiredReplicas"]),
    numberOf(input["readyReplicas"]),
    bareSpec(input["spec"]),
  );
  const restrictedScaling = Object.fromEntries(
    said(result.notes).gauges.map(({ labels, value }) => [labels["reason"], value]),
  );
  return differences(
    expect,
    only(expect, {
      replicas: result.replicas,
      condition: result.reason,
      reason: limitSentence(result.reason),
      restrictedScaling,
    }),
  );
};

export const shouldScaleKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  const status = rawOf(input["status"]);
  const lastScaleMs =
    status["lastScaleTime"] === undefined ? undefined : timeOf(status["lastScaleTime"]);
  const before = conditionsOf(status["conditions"]);
  const clock = { decisionMs: timeOf(input["decisionTime"]), wallMs: timeOf(input["wallClock"]) };
  const counts = {
    current: numberOf(input["currentReplicas"]),
    wanted: numberOf(input["desiredReplicas"]),
    stable: input["stableRegime"] === true,
  };
  const { gate, notes } = shouldScale(
    counts,
    { lastScaleMs, conditions: before },
    bareSpec(input["spec"]),
    clock,
  );
  const able = said(notes, before, clock.wallMs).conditions.find(
    ({ type }) => type === "AbleToScale",
  );
  const written =
    able === undefined || before.includes(able)
      ? null
      : { status: able.status, reason: able.reason };
  return differences(expect, only(expect, { scale: gate.kind === "open", ableToScale: written }));
};

export const conditionsKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  const conditions = conditionsOf(input["conditions"]);
  if (input["function"] === "get-condition") {
    const found = conditions.find(({ type }) => type === input["type"]);
    return differences(expect, {
      status: found?.status,
      lastTransitionTime: found && new Date(found.transitionMs).toISOString().replace(".000Z", "Z"),
    });
  }
  const [set] = conditionsOf([{ ...rawOf(input["set"]) }]);
  if (!set) throw new RangeError("The vector sets no condition");
  const order = newestFirst(conditions, set, timeOf(input["now"])).map(({ type }) => type);
  return differences(expect, { order });
};

/** Sources whose proposals the vector gives. */
const stubbed =
  (calculations: readonly Raw[]) =>
  (subject: Parameters<typeof proposalSources>[0]): readonly ProposalSource[] =>
    proposalSources(subject).map((source, index) => ({
      ...source,
      propose: () => proposalOf(calculations[index] ?? {}),
    }));

const proposalOf = ({
  error,
  replicas,
  utilizationMilli,
  readyReplicas,
  above,
  below,
  details,
}: Raw): ReturnType<ProposalSource["propose"]> =>
  error === undefined
    ? {
        kind: "counted",
        value: {
          replicas: numberOf(replicas),
          utilisation: BigInt(numberOf(utilizationMilli)),
          ready: numberOf(readyReplicas),
          above: above === true,
          below: below === true,
          details: textOf(details),
          zero: false,
          notes: [],
        },
      }
    : { kind: "failed", message: textOf(error) };

export const computeReplicasKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  const scale = scaleOf({ ...input, selector: "" });
  const observation = observationOf({ scale });
  const subject = {
    spec: bareSpec(input["spec"]),
    namespace: "default",
    scale,
    observation,
    nowMs: 0,
  };
  const { counted: combined, notes } = combine(
    stubbed(input["calculations"] as readonly Raw[])(subject),
  );
  const wanted = textOf(expect["someConditionMessageContains"]);
  const actual =
    combined.kind === "failed"
      ? { replicas: 0, metricName: "", statusCount: 0, error: combined.message }
      : {
          replicas: combined.value.replicas,
          metricName: combined.value.name,
          statusCount: combined.value.statuses.length,
          error: null,
        };
  const told = said(notes, [], 0).conditions.some(({ message }) => message.includes(wanted));
  return differences(
    expect,
    only(expect, { ...actual, someConditionMessageContains: told ? wanted : "" }),
  );
};

interface Stepped {
  readonly decision: Decision;
  readonly windows: Windows;
  readonly events: readonly { readonly type: string; readonly reason: string }[];
  readonly gauges: readonly GaugeWrite[];
}

const applied = (decision: Decision, nowMs: number): Stepped => {
  if (decision.kind === "hold")
    return {
      decision,
      windows: decision.windows,
      events: decision.events,
      gauges: decision.gauges ?? [],
    };
  const after = afterWatermarkWrite({ decision, outcome: { kind: "applied" }, atMs: nowMs });
  return { decision, windows: after.windows, events: after.events, gauges: after.gauges ?? [] };
};

export const reconcileStepKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  const status = rawOf(input["status"]);
  const nowMs = timeOf(input["now"]);
  const spec =
    input["applyDefaults"] === true
      ? withoutVerdict(watermarkSpecOf(specFrom(input["spec"]), {}, OPTIONS))
      : bareSpec(input["spec"]);
  const scale = { ...scaleOf(input["scale"]) };
  const lastScaleMs =
    status["lastScaleTime"] === undefined ? {} : { lastScaleMs: timeOf(status["lastScaleTime"]) };
  const windows: Windows = {
    ...NEW_WINDOWS,
    status: {
      ...NEW_WINDOWS.status,
      conditions: conditionsOf(status["conditions"]),
      ...lastScaleMs,
    },
  };
  const observation = observationOf({ scale });
  const sync = { spec, namespace: "default", name: "foo", observation, windows, nowMs };
  const sources = stubbed(input["calculations"] as readonly Raw[]);
  const stepped = applied(
    decideInner({ ...started(sync, sources, AS_THE_ORIGINAL), scale }),
    nowMs,
  );
  return differences(expect, comparedStep(expect, stepped, windows));
};

/** This function is below the check of the spec: some of the vectors' specs would not pass it. */
const withoutVerdict = ({ invalid: _checked, ...spec }: WatermarkSpec): WatermarkSpec => spec;

const comparedStep = (
  expect: Raw,
  { decision, windows, events, gauges }: Stepped,
  before: Windows,
): Raw => {
  const { conditions } = windows.status;
  const expected = rawOf(expect["conditions"]);
  const byType = Object.fromEntries(
    conditions.map(({ type, status, reason, message }) => [type, { status, reason, message }]),
  );
  return only(expect, {
    desiredReplicas: windows.status.desiredReplicas,
    written: decision.kind === "scale" ? decision.to : null,
    lastScaleTimeUpdated: windows.status.lastScaleMs !== before.status.lastScaleMs,
    conditionCount: conditions.length,
    conditionOrder: conditions.map(({ type }) => type),
    conditions: Object.fromEntries(
      Object.entries(expected).map(([type, shown]) => [
        type,
        only(rawOf(shown), byType[type] ?? {}),
      ]),
    ),
    gauges: onlySeries(rawOf(expect["gauges"]), gauges),
    events: events.map(({ type, reason }) => `${type} ${reason}`),
    error: false,
    recoveredPanic: expect["recoveredPanic"],
  });
};

/** A counter that was not moved reads 0; the marks are shown of the first metric. */
const onlySeries = (expected: Raw, gauges: readonly GaugeWrite[]): Raw =>
  Object.fromEntries(
    Object.keys(expected).map((key) => {
      const written = gauges.findLast(({ name, labels }) =>
        key === name && !("metric_name" in labels) ? true : key === seriesKey(name, labels),
      );
      const first = gauges.find(({ name, labels }) => name === key && "metric_name" in labels);
      return [key, (written ?? first)?.value ?? 0];
    }),
  );

const seriesKey = (name: string, labels: Readonly<Record<string, string>>): string => {
  const [label] = Object.entries(labels);
  return label ? `${name}{${label[0]}=${label[1]}}` : name;
};

export const reconcileOuterKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  if (input["object"] === null) return differences(expect, { result: {}, error: false });
  const object = rawOf(input["object"]);
  const given = specFrom(object["spec"]);
  // The original writes its defaults back and looks again at once; here they are filled in whenever
  // a spec is read.
  if (object["applyDefaultsBeforeReconcile"] !== true && !isDefaulted(given))
    return differences(only(expect, { result: expect["result"] }), { result: { requeue: true } });
  const spec = watermarkSpecOf(
    given,
    (object["annotations"] ?? {}) as Readonly<Record<string, string>>,
    OPTIONS,
  );
  const nowMs = timeOf(input["now"]);
  const observation = observationOf({
    scale: scaleOf(input["scale"]),
    monitor: monitorOf(input["datadogMonitor"]),
  });
  const { windows, gauges, decision } = applied(
    decideWatermark({
      spec,
      namespace: textOf(input["namespace"]),
      name: textOf(input["name"]),
      observation,
      windows: NEW_WINDOWS,
      nowMs,
    }),
    nowMs,
  );
  const { conditions } = windows.status;
  const condition = rawOf(expect["condition"]);
  const indexed = conditions[numberOf(condition["index"])];
  const due = decision.dueAgainSeconds;
  return differences(
    expect,
    only(expect, {
      result:
        due === null || due === undefined
          ? {}
          : { requeueAfterSeconds: due === 15 ? "syncPeriod" : due },
      firstCondition: only(rawOf(expect["firstCondition"]), { ...conditions[0] }),
      condition: { index: condition["index"], ...only({ message: 0 }, { ...indexed }) },
      conditionCount: conditions.length,
      gauges: onlySeries(rawOf(expect["gauges"]), gauges),
      error: false,
    }),
  );
};

const monitorOf = (monitor: unknown): MonitorReading => {
  if (monitor === null || monitor === undefined) return { kind: "missing" };
  const state = rawOf(rawOf(monitor)["status"])["monitorState"];
  return { kind: "found", ...(state === undefined ? {} : { state: textOf(state) }) };
};
