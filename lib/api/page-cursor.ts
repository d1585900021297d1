import * as z from "zod";
import { questionText, TOKEN_VERSION } from "./page-token.ts";
import { refusal } from "./problem.ts";

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
