import { logAttributes } from "../../../lib/rules/manifest/watermark/admit-watermark.ts";
import { defaulted } from "../../../lib/rules/manifest/watermark/shape.ts";
import { metricOf } from "../../../lib/rules/manifest/watermark/spec.ts";
import { breaches } from "../../../lib/rules/manifest/watermark/validity.ts";
import { canonicalOf, milliOf, parseQuantity, wholeOf } from "../../../lib/rules/model/quantity.ts";
import { differences } from "../differences.ts";
import type { CaseRunner } from "../registry.ts";
import { only, type Raw, rawOf, specFrom, textOf } from "./raw.ts";
import { isDefaulted } from "./is-defaulted.ts";

export const validityKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  const given = specFrom(input["spec"]);
  const [breach] = breaches(input["defaulted"] === true ? defaulted(given) : given, "ready");
  return differences(
    expect,
    only(expect, { error: breach?.detail ?? null, isDefaulted: isDefaulted(given) }),
  );
};

/** Marks as thousandths: the fill happens on the way to the spec that is decided. */
export const fillWatermarksKind: CaseRunner = (vector) => {
  const marksOf = (value: unknown) => {
    const [metric] = specFrom({ metrics: [rawOf(value)["metric"]] }).metrics.flatMap(metricOf);
    return { high: metric?.highMilli, low: metric?.lowMilli };
  };
  return differences(marksOf(vector["expect"]), marksOf(vector["input"]));
};

export const quantityKind: CaseRunner = (vector) => {
  const expect = rawOf(vector["expect"]);
  const quantity = parseQuantity(textOf(rawOf(vector["input"])["text"]));
  const actual: Raw = quantity
    ? {
        milli: String(milliOf(quantity)),
        whole: String(wholeOf(quantity)),
        canonical: canonicalOf(quantity),
      }
    : {};
  return differences(expect, only(expect, actual));
};

export const logAttributesKind: CaseRunner = (vector) => {
  const read = logAttributes(
    (rawOf(vector["input"])["annotations"] ?? {}) as Readonly<Record<string, string>>,
  );
  return differences(vector["expect"], {
    attributes: read.kind === "read" ? Object.entries(read.attributes).flat() : null,
    error: read.kind === "unreadable",
  });
};
