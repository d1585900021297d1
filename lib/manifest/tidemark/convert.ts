import { isDeepStrictEqual } from "node:util";
import { type Admitted, admit } from "../admit.ts";
import { type Json, present } from "../json.ts";
import { isObject } from "../shape.ts";
import { storedCarried } from "./carried.ts";

/** A manifest of any accepted form as a PodAutoscaler that decides the same; or the rule that a PodAutoscaler cannot say. */
export type Conversion =
  | { readonly kind: "converted"; readonly document: Json }
  | { readonly kind: "refused"; readonly rule: string; readonly message: string };

/**
 * Whatever the form says is carried along under the name of its rules, word for word as it reads back; so nothing is guessed. The result is admitted before it is given:
 * what it would decide by other numbers is refused, and the rule named.
 */
export const convert = ({ stored, spec }: Pick<Admitted, "stored" | "spec">): Conversion => {
  const document = documentOf(stored, specOf({ stored, spec }));
  const again = admit(document);
  if (!again.ok) {
    const [problem] = again.problems;
    return { kind: "refused", rule: problem?.field ?? "spec", message: problem?.detail ?? "it would not be accepted" };
  }
  const rule = differenceOf(spec, again.spec);
  return rule === undefined ? { kind: "converted", document } : { kind: "refused", rule, message: "it would be decided by another value" };
};

const specOf = ({ stored, spec }: Pick<Admitted, "stored" | "spec">): unknown => {
  if (spec.dialect === "native" || stored["apiVersion"] === "tidemark.dev/v1") return stored["spec"];
  const foreign = isObject(stored["spec"]) ? stored["spec"] : {};
  const watermark = spec.dialect === "watermark" ? { counts: spec.counts } : undefined;
  return storedCarried(spec.dialect, { dryRun: false, ...(watermark && { watermark }) }, foreign);
};

/** The generation belongs to the object that was stored, not to the manifest. */
const documentOf = (stored: Json, spec: unknown): Json => {
  const { generation: _counted, ...metadata } = isObject(stored["metadata"]) ? stored["metadata"] : {};
  return present({ apiVersion: "tidemark.dev/v1", kind: "PodAutoscaler", metadata, spec });
};

/** The first member that the two do not share. */
const differenceOf = (one: object, other: object): string | undefined => {
  const [before, after] = [one, other].map((spec) => new Map(Object.entries(spec)));
  const names = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
  return [...names].find((name) => !isDeepStrictEqual(before?.get(name), after?.get(name)));
};
