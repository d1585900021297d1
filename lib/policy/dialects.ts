import type { AutoscalerSpec, DialectName } from "../model/spec.ts";
import type { Dialect } from "./dialect.ts";
import { HPA } from "./hpa/dialect.ts";
import { MULTI_THRESHOLD } from "./multi-threshold/dialect.ts";
import { NATIVE } from "./native/dialect.ts";
import { ORIGINAL } from "./original/dialect.ts";
import { WATERMARK } from "./watermark/dialect.ts";

/** The specs that a dialect decides. */
type SpecOf<Name extends DialectName> = { [Each in Name]: AutoscalerSpec & { readonly dialect: Each } }[Name];

/** The table of all dialects. */
const DIALECT_OF: { readonly [Name in DialectName]: Dialect<SpecOf<Name>> } = {
  hpa: HPA,
  original: ORIGINAL,
  "multi-threshold": MULTI_THRESHOLD,
  watermark: WATERMARK,
  native: NATIVE,
};

/** Puts a question to the dialect of a spec, with the spec as that dialect knows it. This is the one place that tells dialects apart. */
export const askDialect = <Answer>(spec: AutoscalerSpec, ask: <Spec extends AutoscalerSpec>(dialect: Dialect<Spec>, spec: Spec) => Answer): Answer =>
  askNamed(spec, ask);

const askNamed = <Name extends DialectName, Answer>(
  spec: SpecOf<Name>,
  ask: <Spec extends AutoscalerSpec>(dialect: Dialect<Spec>, spec: Spec) => Answer,
): Answer => ask(DIALECT_OF[spec.dialect], spec);

/** All dialects, without their specs. */
export const DIALECTS: readonly Pick<Dialect<never>, "name" | "timesBy">[] = Object.values(DIALECT_OF);
