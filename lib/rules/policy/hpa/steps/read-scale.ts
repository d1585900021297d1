import { warningEvent, withCondition } from "../../shared/steps.ts";
import { failedGetScale, SUCCEEDED_GET_SCALE, scalingInactive } from "./sentences.ts";
import type { HpaStep, HpaSync } from "./sync.ts";
import type { Because } from "../../../model/decision.ts";
import { foreignText } from "../../../model/foreign-text.ts";
import { parseSelector } from "../../../model/selector-text.ts";
import { rivalOf } from "../../shared/rivals.ts";

/**
 * hpa.md 2.4 steps 1 to 3: a scale that cannot be read ends the sync; else the list of
 * recommendations begins with the count that was found.
 */
export const readScale: HpaStep = (sync) => {
  const { scale } = sync.input.observation;
  if (scale.kind === "failed") {
    const { message } = scale.failure;
    const report = failedGetScale(message);
    return {
      ...sync,
      conditions: withCondition(sync, report),
      events: [warningEvent("FailedGetScale", message)],
      ending: { kind: "unreadable", because: { reason: report.reason, message: report.message } },
    };
  }
  const current = scale.specReplicas;
  return {
    ...sync,
    conditions: withCondition(sync, SUCCEEDED_GET_SCALE),
    current,
    statusReplicas: scale.statusReplicas,
    count: current,
  };
};

/** hpa.md 2.4 step 3: only a list that does not exist is seeded, an empty one is not. */
export const seed: HpaStep = (sync) => {
  if (sync.recommendations !== null) return sync;
  const { nowMs } = sync.input;
  return { ...sync, recommendations: [{ replicas: sync.current, firstMs: nowMs, lastMs: nowMs }] };
};

/**
 * hpa.md 2.5 steps 1 to 3: the pods of the target, unless its selector is missing, unreadable, or
 * shared with another autoscaler. A dry run writes nothing, so it may share them.
 */
export const selectPods: HpaStep = (sync) => {
  const { scale, pods, others } = sync.input.observation;
  const text = scale.kind === "read" ? scale.selector : "";
  if (text === "")
    return refused(
      sync,
      { reason: "InvalidSelector", message: "the HPA target's scale is missing a selector" },
      { reason: "SelectorRequired", message: "selector is required" },
    );
  const reading = parseSelector(text);
  if (reading.kind === "invalid") {
    const message = `couldn't convert selector into a corresponding internal selector object: ${foreignText(reading.message)}`;
    return refused(sync, { reason: "InvalidSelector", message });
  }
  const selected = pods.select(reading.selector);
  const next = { ...sync, selectorText: text, selector: reading.selector, pods: selected };
  const rival = sync.input.spec.dryRun ? undefined : rivalOf(selected, others, sync.input.name);
  if (rival === undefined) return next;
  const { namespace, name } = sync.input;
  const names = [`${namespace}/${name}`, `${namespace}/${rival}`].toSorted().join(" ");
  const message = `pods by selector ${foreignText(text)} are controlled by more than one HPA (e.g. [${names}])`;
  // Both autoscalers stop: one that went on would fight the other (hpa.md 2.5).
  return refused(next, { reason: "AmbiguousSelector", message });
};

const refused = (sync: HpaSync, because: Because, event: Because = because): HpaSync => ({
  ...sync,
  conditions: withCondition(sync, scalingInactive(because.reason, because.message)),
  events: [
    ...sync.events,
    warningEvent(event.reason, event.message),
    warningEvent("FailedComputeMetricsReplicas", event.message),
  ],
  ending: { kind: "failed", because },
});
