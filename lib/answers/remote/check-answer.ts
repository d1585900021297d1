import type * as z from "zod";
import { type Verb, ANSWERS } from "../api/answers.ts";
import type { ViewOf } from "../views/view-of.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import { TidemarkError } from "../../rules/model/errors.ts";

/** What a route answers. */
export type AnswerTo<Of extends Verb> = ViewOf<(typeof ANSWERS)[Of]>;

type Issue = z.core.$ZodIssue;

/**
 * Checks an answer of a stack, which may run another version of Tidemark, by the schema of its
 * view. A field that this version does not know stays, and so does a word that is new in a list of
 * words, such as a state: they are printed as they are. Throws `remote.unreadable` for a field that
 * is missing or has another type.
 */
export const checkAnswer = <Of extends Verb>(
  verb: Of,
  path: string,
  answer: unknown,
): AnswerTo<Of> => {
  const { error } = ANSWERS[verb].safeParse(answer);
  const fault = error?.issues.find((issue) => !isNewWord(issue));
  if (!fault) return answer as AnswerTo<Of>;
  const field = fault.path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${foreignText(String(part))}`))
    .join("");
  throw new TidemarkError(
    "remote.unreadable",
    `Cannot read the answer to "${path}": ${field.replace(/^\./, "") || "the document"}: ${fault.message}; the stack may run another version of Tidemark`,
    {},
  );
};

/**
 * True for a word outside the known ones, also where it says which of several forms an object has.
 */
const isNewWord = (issue: Issue): boolean => {
  if (issue.code === "invalid_value" || issue.code === "unrecognized_keys") return true;
  if (issue.code !== "invalid_union") return false;
  return (
    issue.discriminator !== undefined || issue.errors.some((issues) => issues.every(isNewWord))
  );
};
