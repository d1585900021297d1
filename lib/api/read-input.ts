import type * as z from "zod";
import { type Refusal, refusal } from "./problem.ts";
import type { ApiRequest } from "./request-and-answer.ts";

type FieldProblem = NonNullable<Refusal["errors"]>[number];

/** Characters of the input that a message repeats. */
const SHOWN_CHARACTERS = 60;
const shown = (text: string): string => JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);

/** The refusal of a request with invalid fields. */
export const invalid = (errors: readonly FieldProblem[]): Error =>
  refusal("api.invalid", errors.map(({ field, message }) => `Cannot read the request: ${shown(field)} ${message}`).join("\n"), {
    status: 400,
    errors,
  });

const unreadable = (what: string): Error => refusal("api.invalid", `Cannot read the request: ${what}`, { status: 400 });

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((field, part) => (typeof part === "number" ? `${field}[${part}]` : `${field}${field === "" ? "" : "."}${String(part)}`), "");

const problemsOf = (issue: z.core.$ZodIssue): readonly FieldProblem[] => {
  const field = fieldOf(issue.path) || "body";
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ field: fieldOf([...issue.path, key]), message: "is an unknown field" }));
  if (issue.code === "invalid_type") return [{ field, message: issue.input === undefined ? "is missing" : `must be of type ${issue.expected}` }];
  return [{ field, message: issue.message }];
};

const checked = <Input>(schema: z.ZodType<Input>, input: unknown): Input => {
  const read = schema.safeParse(input, { reportInput: true });
  if (read.success) return read.data;
  throw invalid(read.error.issues.flatMap(problemsOf));
};

/** Reads the query parameters, each of which may be given once. Throws `api.invalid`. */
export const queryInput = <Input>(schema: z.ZodType<Input>, { query }: ApiRequest): Input => {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (parameters.has(name)) throw invalid([{ field: name, message: "is given twice; give it once" }]);
    parameters.set(name, value);
  }
  return checked(schema, Object.fromEntries(parameters));
};

/** Reads the JSON body. Throws `api.invalid`, `api.too-large`. */
export const bodyInput = <Input>(schema: z.ZodType<Input>, { body }: ApiRequest, bodyBytesMax: number): Input => {
  if (body.length > bodyBytesMax) {
    throw refusal("api.too-large", `Cannot read the request: its body has ${body.length} bytes, and the limit is ${bodyBytesMax}`, { status: 413 });
  }
  return checked(schema, parsed(textOf(body)));
};

const textOf = (body: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw unreadable("its body is not UTF-8");
  }
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message repeats the input, which may be anything.
    const at = error instanceof Error ? /position \d+/.exec(error.message)?.[0] : undefined;
    throw unreadable(`its body is not JSON${at === undefined ? "" : `, at ${at}`}`);
  }
};
