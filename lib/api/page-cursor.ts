import * as z from "zod";
import { refusal } from "./problem.ts";

/** Format of the tokens. A token of another version is refused. */
const TOKEN_VERSION = 1;

/** The token of a page: version, query and cursor, as base64url of JSON. It holds names and times only, and a caller can make one up. */
export const pageToken = (question: object, cursor: object): string =>
  Buffer.from(JSON.stringify([TOKEN_VERSION, questionText(question), cursor])).toString("base64url");

const questionText = (question: object): string => JSON.stringify(Object.entries(question).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** Reads the cursor in a page token. Throws `api.invalid` when the token is malformed or belongs to another query. */
export const cursorIn = <Cursor>(schema: z.ZodType<Cursor>, question: object, token: string): Cursor => {
  const whole = z.tuple([z.literal(TOKEN_VERSION), z.literal(questionText(question)), schema]);
  const read = whole.safeParse(parsed(token));
  if (read.success) return read.data[2];
  const message = 'is not a page of this list; use "next" of the previous answer with the same other parameters';
  throw refusal("api.invalid", `Cannot read the request: "page" ${message}`, { status: 400, errors: [{ field: "page", message }] });
};

const parsed = (token: string): unknown => {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
};
