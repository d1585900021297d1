import { isObject } from "../../model/is-object.ts";
import type { Json } from "../json.ts";
import { forbidden, type Problem } from "../problem.ts";
import { fieldsOf } from "./explain-field.ts";
import { GOVERNING, SPEC_FIELDS, type SpecRead } from "./spec-fields.ts";

const SHARED: readonly string[] = [...GOVERNING, "scaleTargetRef", "minReplicas", "maxReplicas"];
const RULES: readonly string[] = SPEC_FIELDS.rules.about.choices ?? [];

/** Fields of other rules. They would have no effect, and their meaning cannot be guessed. */
export const misplacedFields = (rules: SpecRead["rules"], written: Json): readonly Problem[] => {
  if (!RULES.includes(rules)) return [];
  const names = writtenNames(written).filter((name) => Object.hasOwn(SPEC_FIELDS, name) && !SHARED.includes(name) && !isForeignList(name, written));
  const misplaced = names.filter((name) => (rules === "native" ? isBlock(name) : name !== rules));
  return misplaced.map((name) =>
    forbidden(
      `spec.${name}`,
      `may not be set with rules: ${rules}`,
      isBlock(name) ? `write rules: ${name}` : `move it into spec.${rules}, or write rules: native`,
    ),
  );
};

const BLOCKS = ["hpa", "watermark"] as const;
const isBlock = (name: string): boolean => BLOCKS.some((block) => block === name);

/** Fields of a block that stand beside it, as in the form that they come from. Metrics are recognized by their type. */
export const strayFields = (rules: SpecRead["rules"], written: Json): readonly Problem[] => {
  if (!RULES.includes(rules)) return [];
  return BLOCKS.flatMap((block) =>
    writtenNames(written)
      .filter((name) =>
        Object.hasOwn(SPEC_FIELDS, name) ? block === "hpa" && isForeignList(name, written) : Object.hasOwn(fieldsOf(SPEC_FIELDS[block].about), name),
      )
      .map((name) =>
        forbidden(
          `spec.${name}`,
          "may not stand here: it belongs to another form",
          `move it into spec.${block} with rules: ${block}, or use tidemark convert`,
        ),
      ),
  );
};

const writtenNames = (written: Json): readonly string[] => Object.keys(written).filter((name) => (written[name] ?? undefined) !== undefined);

/** Metrics of autoscaling/v2 and of a WatermarkPodAutoscaler have a type; native metrics have none. */
const isForeignList = (name: string, written: Json): boolean =>
  name === "metrics" &&
  Array.isArray(written[name]) &&
  written[name].some((metric: unknown) => isObject(metric) && typeof metric["type"] === "string");
