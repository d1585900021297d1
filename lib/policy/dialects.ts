import type { AutoscalerSpec } from "../model/spec.ts";
import type { Dialect } from "./dialect.ts";
import { HPA } from "./hpa/dialect.ts";
import { MULTI_THRESHOLD } from "./multi-threshold/dialect.ts";
import { NATIVE } from "./native/dialect.ts";
import { ORIGINAL } from "./original/dialect.ts";
import { WATERMARK } from "./watermark/dialect.ts";

/** Puts a question to the dialect of a spec, with the spec as that dialect knows it. This is the one place that tells dialects apart. */
export const askDialect = <Answer>(
  spec: AutoscalerSpec,
  ask: <Spec extends AutoscalerSpec>(dialect: Dialect<Spec>, spec: Spec) => Answer,
): Answer => {
  switch (spec.dialect) {
    case "hpa":
      if (spec.rules === "original") return ask(ORIGINAL, spec);
      return ask(spec.thresholds ? MULTI_THRESHOLD : HPA, spec);
    case "watermark":
      return ask(WATERMARK, spec);
    case "native":
      return ask(NATIVE, spec);
  }
};

/** All dialects, without their specs. */
export const DIALECTS: readonly Pick<Dialect<never>, "name" | "timesBy">[] = [HPA, MULTI_THRESHOLD, ORIGINAL, WATERMARK, NATIVE];
