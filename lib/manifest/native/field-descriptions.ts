import type { FieldDescription } from "../../fields/field-types.ts";
import type { Condition, Rule } from "../../fields/rule.ts";

/** Descriptions of fields that another form reads and checks, for editors and `explain-schema`, with that form's bounds. */
type More = Omit<FieldDescription, "type" | "meaning" | "fields" | "items">;

export const text = (meaning: string, more: More = {}): FieldDescription => ({ type: "text", meaning, ...more });
export const integer = (meaning: string, more: More = {}): FieldDescription => ({ type: "integer", meaning, ...more });
export const quantity = (meaning: string, more: More = {}): FieldDescription => ({ type: "quantity", meaning, ...more });
export const flag = (meaning: string, more: More = {}): FieldDescription => ({ type: "flag", meaning, ...more });
export const choice = (meaning: string, choices: readonly string[], more: More = {}): FieldDescription => ({
  type: "choice",
  meaning,
  choices,
  ...more,
});
export const textMap = (meaning: string): FieldDescription => ({ type: "texts", meaning });
export const listOf = (meaning: string, items: FieldDescription, more: More = {}): FieldDescription => ({ type: "list", meaning, items, ...more });
export const object = (
  meaning: string,
  fields: Readonly<Record<string, FieldDescription>>,
  rules: readonly Rule[] = [],
  more: More = {},
): FieldDescription => ({
  type: "object",
  meaning,
  fields,
  ...(rules.length > 0 && { rules }),
  ...more,
});

/** A rule whose problem the other form reports, in the words of its own API. */
export const saying = (says: string, needs: Condition, when?: Condition): Rule => ({
  says,
  needs,
  ...(when && { when }),
  detail: "",
  fix: "",
  reportedElsewhere: true,
});

export const REQUIRED = { required: true } as const;

/** These forms do not check selectors. */
export const SELECTOR = object("Labels that the series must have.", {
  matchLabels: textMap("The value of each label."),
  matchExpressions: listOf(
    "Further conditions on labels.",
    object("One condition.", {
      key: text("The label."),
      operator: text("In, NotIn, Exists or DoesNotExist."),
      values: listOf("Values of In and NotIn.", text("One value.")),
    }),
  ),
});
