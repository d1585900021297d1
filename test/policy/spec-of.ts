import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";

/** The spec by which a manifest is decided; throws where the manifest is refused. */
export const specOf = (document: unknown): AutoscalerSpec =>
  admitOrThrow({ document, where: "the manifest" }).spec;
