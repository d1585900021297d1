import * as z from "zod";
import { questionText, TOKEN_VERSION } from "./page-token.ts";
import { refusal } from "./problem.ts";

/** The place in a token. Throws `api.invalid` for one of another question, or that is none. */
export const cursorIn = <Place>(schema: z.ZodType<Place>, question: object, token: string): Place => {
  const whole = z.tuple([z.literal(TOKEN_VERSION), z.literal(questionText(question)), schema]);
  const read = whole.safeParse(parsed(token));
  if (read.success) return read.data[2];
  const message = "is no place in this list: give the page of the answer before, and the same other parameters";
  throw refusal("api.invalid", `Cannot read the request: "page" ${message}`, { status: 400, errors: [{ field: "page", message }] });
};

const parsed = (token: string): unknown => {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
};
