import { choice } from "../../../fields/field-types.ts";
import { foreignText } from "../../../model/foreign-text.ts";
import { parseSelector } from "../../../model/selector-text.ts";
import { ownership } from "../../shared/pods/owned.ts";
import { rivalOf } from "../../shared/rivals.ts";
import { withCondition } from "../../shared/steps.ts";
import { scalingActive } from "./sentences.ts";
import type { NativeStep, NativeSync } from "./sync.ts";

declare module "../../../model/spec-native.ts" {
  interface NativeSpec {
    readonly pods: "owned" | "stable" | "asHpa";
  }
}

export const PODS_FIELDS = {
  pods: choice(
    "Which pods count: owned, the pods of the target that have not ended, and no more of them than its count on the way up; stable, of these only the values of the revision that most of them have; asHpa, every pod that the selector matches.",
    ["owned", "stable", "asHpa"],
    { default: "owned" },
  ),
};

/**
 * The pods that the selector of the scale matches. Where it cannot be said which of them belong to
 * the target, they must be shared with no other autoscaler: whose load it is could not be known. A
 * dry run, which writes nothing, may share them.
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
  const { spec } = sync.input;
  const isKnownWhose = spec.pods !== "asHpa" && ownership(spec.target) !== undefined;
  const rival =
    isKnownWhose || spec.dryRun ? undefined : rivalOf(selected, others, sync.input.name);
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
