import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, present } from "../../model/json.ts";
import { type Admitted, admit } from "../admit.ts";
import { storedForeign } from "./foreign-rules.ts";

/**
 * A manifest of any accepted form as a PodAutoscaler with the same decisions, or the rule that a
 * PodAutoscaler cannot express.
 */
export type Conversion =
  | { readonly kind: "converted"; readonly document: Json }
  | { readonly kind: "refused"; readonly rule: string; readonly message: string };

/**
 * Moves the fields of the form into the block of its rules, as they read back, so nothing is
 * guessed. Then it admits the result: a result that would decide differently is refused, with the
 * rule.
 */
export const convertedForm = ({ stored, spec }: Pick<Admitted, "stored" | "spec">): Conversion => {
  const document = documentOf(stored, specOf({ stored, spec }));
  const again = admit(document);
  if (!again.ok) {
    const [problem] = again.problems;
    return {
      kind: "refused",
      rule: problem?.field ?? "spec",
      message: problem?.detail ?? "the result would not be accepted",
    };
  }
  const rule = differenceOf(spec, again.spec);
  return rule === undefined
    ? { kind: "converted", document }
    : { kind: "refused", rule, message: "the result would decide with another value" };
};

const specOf = ({ stored, spec }: Pick<Admitted, "stored" | "spec">): unknown => {
  if (spec.dialect === "native" || stored["apiVersion"] === "tidemark.dev/v1")
    return stored["spec"];
  const foreign = isObject(stored["spec"]) ? stored["spec"] : {};
  if (spec.dialect === "watermark")
    return storedForeign(
      "watermark",
      { dryRun: false, watermark: { counts: spec.counts } },
      foreign,
    );
  return storedForeign("hpa", { dryRun: false }, foreign);
};

/** Without the generation, which belongs to the stored object. */
const documentOf = (stored: Json, spec: unknown): Json => {
  const { generation: _counted, ...metadata } = isObject(stored["metadata"])
    ? stored["metadata"]
    : {};
  return present({ apiVersion: "tidemark.dev/v1", kind: "PodAutoscaler", metadata, spec });
};

/** The first member that differs. */
const differenceOf = (one: object, other: object): string | undefined => {
  const [before, after] = [one, other].map((spec) => new Map(Object.entries(spec)));
  const names = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
  return [...names].find((name) => !isDeepStrictEqual(before?.get(name), after?.get(name)));
};
