import type { Json } from "../json.ts";
import type { About } from "./field.ts";

/** Fields of the blocks that another form reads and checks: described for editors and for `explain-schema`, with that form's bounds. */
type More = Omit<About, "type" | "meaning" | "fields" | "items">;

export const text = (meaning: string, more: More = {}): About => ({ type: "text", meaning, ...more });
export const whole = (meaning: string, more: More = {}): About => ({ type: "integer", meaning, ...more });
export const quantity = (meaning: string, more: More = {}): About => ({ type: "quantity", meaning, ...more });
export const yesOrNo = (meaning: string, more: More = {}): About => ({ type: "flag", meaning, ...more });
export const oneOf = (meaning: string, choices: readonly string[], more: More = {}): About => ({ type: "choice", meaning, choices, ...more });
export const textsOf = (meaning: string): About => ({ type: "texts", meaning });
export const listed = (meaning: string, items: About, more: More = {}): About => ({ type: "list", meaning, items, ...more });
export const object = (meaning: string, fields: Readonly<Record<string, About>>, demands: readonly Json[] = [], more: More = {}): About => ({
  type: "object",
  meaning,
  fields,
  ...(demands.length > 0 && { demands }),
  ...more,
});

export const MUST = { required: true } as const;

/** Not checked when applied, in these forms. */
export const SELECTOR = object("Labels that the series must carry.", {
  matchLabels: textsOf("Label by label, the value it must have."),
  matchExpressions: listed(
    "Further demands on labels.",
    object("One demand.", {
      key: text("The label."),
      operator: text("In, NotIn, Exists or DoesNotExist."),
      values: listed("Values of In and NotIn.", text("One value.")),
    }),
  ),
});
