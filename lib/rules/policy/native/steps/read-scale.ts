import { withCondition } from "../../shared/steps.ts";
import { ableToScale, scalingActive } from "./sentences.ts";
import type { NativeStep, NativeSync } from "./sync.ts";
import { foreignText } from "../../../model/foreign-text.ts";
import { parseSelector } from "../../../model/selector-text.ts";
import { rivalOf } from "../../shared/rivals.ts";

/**
 * A scale that cannot be read ends the sync; else the list of recommendations begins with the count
 * that was found.
 */
export const readScale: NativeStep = (sync) => {
  const { scale } = sync.input.observation;
  if (scale.kind === "failed") {
    const report = ableToScale(
      "False",
      "FailedGetScale",
      `the scale of the target cannot be read: ${scale.failure.message}`,
    );
    return {
      ...sync,
      conditions: withCondition(sync, report),
      events: [{ type: "Warning", reason: report.reason, message: report.message }],
      ending: { kind: "unreadable", because: { reason: report.reason, message: report.message } },
    };
  }
  const current = scale.specReplicas;
  const { nowMs, windows } = sync.input;
  return {
    ...sync,
    conditions: withCondition(
      sync,
      ableToScale("True", "SucceededGetScale", "the scale of the target was read"),
    ),
    recommendations: windows.memory.recommendations ?? [
      { replicas: current, firstMs: nowMs, lastMs: nowMs },
    ],
    current,
    count: current,
  };
};

/**
 * The pods of the target, by the selector of its scale, shared with no other autoscaler; a dry run,
 * which writes nothing, may share them. Without them nothing is decided: whose load it is cannot be
 * known.
 */
export const selectPods: NativeStep = (sync) => {
  const { scale, pods, others } = sync.input.observation;
  if (scale.kind !== "read" || scale.selector === "")
    return refused(sync, "InvalidSelector", "the scale of the target carries no selector");
  const text = scale.selector;
  const reading = parseSelector(text);
  if (reading.kind === "invalid")
    return refused(
      sync,
      "InvalidSelector",
      `the selector of the target cannot be read: ${foreignText(reading.message)}`,
    );
  const selected = pods.select(reading.selector);
  const next = { ...sync, selectorText: text, selector: reading.selector, pods: selected };
  const rival = sync.input.spec.dryRun ? undefined : rivalOf(selected, others, sync.input.name);
  if (rival === undefined) return next;
  const { namespace, name } = sync.input;
  const names = [`"${name}"`, `"${rival}"`].toSorted().join(" and ");
  return refused(
    next,
    "AmbiguousSelector",
    `pods by selector ${foreignText(text)} in namespace "${namespace}" belong to more than one autoscaler: ${names}`,
  );
};

const refused = (sync: NativeSync, reason: string, message: string): NativeSync => ({
  ...sync,
  conditions: withCondition(sync, scalingActive("False", reason, message)),
  events: [...sync.events, { type: "Warning", reason, message }],
  ending: { kind: "failed", because: { reason, message } },
});
