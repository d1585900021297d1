import type { Because, Refusal } from "../model/decision.ts";
import { foreignText } from "../model/foreign-text.ts";
import type { Evaluation } from "../model/scale-records.ts";

/** Codes of an API server that refuses our credentials or rights. */
export const FORBIDDEN: ReadonlySet<number> = new Set([401, 403]);
const CONFLICT = 409;

/** The refusal of a scale that a person must look at. A conflict is none: the next sync decides on the newer object. */
export const refusalOf = ({ refused }: Pick<Evaluation, "refused">): Refusal | undefined => (refused?.code === CONFLICT ? undefined : refused);

/** What kept an autoscaler from being decided, or its scale from being made; undefined when nothing did. */
export const failureOf = (evaluation: Pick<Evaluation, "failed" | "failedRead" | "refused">): "failing" | "forbidden" | undefined => {
  const { failed, failedRead } = evaluation;
  const code = failed ? (failedRead?.code ?? 0) : refusalOf(evaluation)?.code;
  if (code === undefined) return undefined;
  return FORBIDDEN.has(code) ? "forbidden" : "failing";
};

/** The reason of a scale that was decided and not made. */
export const scaleRefused = ({ from, to }: Pick<Evaluation, "from" | "to">, { code, message }: Refusal): Because => ({
  reason: FORBIDDEN.has(code) ? "ScaleForbidden" : "ScaleRefused",
  message: `the scale from ${from} to ${to} was refused: ${foreignText(message)}`,
});
