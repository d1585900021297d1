import { invalid, type Problem } from "../../fields/problem.ts";
import { isObject } from "../../model/json.ts";
import { printable } from "../../model/foreign-text.ts";
import { PRINTABLE } from "./text-patterns.ts";

const SHOWN = new RegExp(PRINTABLE);
/** Characters of a text that a problem quotes. */
const QUOTED_MAX = 60;

/** Problems of texts with characters that a terminal executes or hides, wherever they stand below a value. */
export const unprintableProblems = (value: unknown, path: string): readonly Problem[] => {
  if (typeof value === "string") return SHOWN.test(value) ? [] : [unprintable(value, path)];
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => unprintableProblems(item, `${path}[${index}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    SHOWN.test(key) ? unprintableProblems(member, `${path}.${key}`) : [unprintable(key, path)],
  );
};

const unprintable = (text: string, path: string): Problem =>
  invalid(path, `may not contain control or invisible characters: "${printable(text.slice(0, QUOTED_MAX))}"`, "write the text without them");
