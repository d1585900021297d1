import * as z from "zod";
import { refusal } from "./problem.ts";

/** Tells the tokens of one version from those of another. */
const VERSION = 1;

/** A list's token: where it goes on, and for which question, as base64url of JSON. It holds names and times alone; whoever may ask may also make one up. */
export const pageToken = (question: object, place: object): string =>
  Buffer.from(JSON.stringify([VERSION, questionText(question), place])).toString("base64url");

/** The place in a token. Throws `api.invalid` for one of another question, or that is none. */
export const placeIn = <Place>(schema: z.ZodType<Place>, question: object, token: string): Place => {
  const whole = z.tuple([z.literal(VERSION), z.literal(questionText(question)), schema]);
  const read = whole.safeParse(parsed(token));
  if (read.success) return read.data[2];
  const message = "is no place in this list: give the page of the answer before, and the same other parameters";
  throw refusal("api.invalid", `Cannot read the request: "page" ${message}`, { status: 400, errors: [{ field: "page", message }] });
};

const questionText = (question: object): string => JSON.stringify(Object.entries(question).toSorted(([one], [other]) => (one < other ? -1 : 1)));

const parsed = (token: string): unknown => {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
};
