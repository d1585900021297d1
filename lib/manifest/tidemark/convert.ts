import type { Admitted } from "../admit.ts";
import { type Json, present } from "../json.ts";
import { isObject } from "../shape.ts";
import { storedCarried } from "./carried.ts";

/** A manifest of any accepted form as a PodAutoscaler that decides the same; or the rule that a PodAutoscaler cannot say. */
export type Conversion =
  | { readonly kind: "converted"; readonly document: Json }
  | { readonly kind: "refused"; readonly rule: ConversionRule; readonly message: string };

/** Rules of other forms that no PodAutoscaler follows. */
export type ConversionRule = "original-pauses";

/** Whatever the form says is carried along under the name of its rules, word for word as it reads back; so nothing is guessed, and what cannot be carried is refused. */
export const convert = ({ stored, spec }: Pick<Admitted, "stored" | "spec">): Conversion => {
  if (spec.dialect === "tidemark" || stored["apiVersion"] === "tidemark.dev/v1") return converted(stored, stored["spec"]);
  if (spec.dialect === "hpa" && spec.rules === "original") {
    const message =
      "extensions/v1beta1 pauses 3 minutes after a scale before it grows and 5 before it shrinks, by utilization of each pod's own request";
    return { kind: "refused", rule: "original-pauses", message };
  }
  const foreign = isObject(stored["spec"]) ? stored["spec"] : {};
  const watermark = spec.dialect === "watermark" ? { counts: spec.counts } : undefined;
  return converted(stored, storedCarried(spec.dialect, { dryRun: false, ...(watermark && { watermark }) }, foreign));
};

/** The generation belongs to the object that was stored, not to the manifest. */
const converted = (stored: Json, spec: unknown): Conversion => {
  const { generation: _counted, ...metadata } = isObject(stored["metadata"]) ? stored["metadata"] : {};
  return { kind: "converted", document: present({ apiVersion: "tidemark.dev/v1", kind: "PodAutoscaler", metadata, spec }) };
};
