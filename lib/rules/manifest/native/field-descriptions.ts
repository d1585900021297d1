import type { FieldDescription } from "../../fields/field-types.ts";
import { all, type RuleCondition, type Rule } from "../../fields/rule.ts";
import { invalidField, type Problem } from "../../fields/problem.ts";
import { isObject } from "../../model/json.ts";
import { printable } from "../../model/foreign-text.ts";

/**
 * Descriptions of fields that another form reads and checks, for editors and `explain-schema`, with
 * that form's bounds.
 */
type More = Omit<FieldDescription, "type" | "meaning" | "fields" | "items">;

export const text = (meaning: string, more: More = {}): FieldDescription => ({
  type: "text",
  meaning,
  ...more,
});
export const integer = (meaning: string, more: More = {}): FieldDescription => ({
  type: "integer",
  meaning,
  ...more,
});
export const quantity = (meaning: string, more: More = {}): FieldDescription => ({
  type: "quantity",
  meaning,
  ...more,
});
export const flag = (meaning: string, more: More = {}): FieldDescription => ({
  type: "flag",
  meaning,
  ...more,
});
export const choice = (
  meaning: string,
  choices: readonly string[],
  more: More = {},
): FieldDescription => ({
  type: "choice",
  meaning,
  choices,
  ...more,
});
export const textMap = (meaning: string): FieldDescription => ({ type: "texts", meaning });
export const listOf = (
  meaning: string,
  items: FieldDescription,
  more: More = {},
): FieldDescription => ({ type: "list", meaning, items, ...more });
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
export const saying = (says: string, needs: RuleCondition, when?: RuleCondition): Rule => ({
  says,
  needs,
  ...(when && { when }),
  detail: "",
  fix: "",
  reportedElsewhere: true,
});

/**
 * A rule that is printed as one, and whose parts report its problems in the words of another form's
 * API.
 */
export const inParts = (says: string, ...parts: readonly [Rule, ...Rule[]]): Rule => ({
  says,
  needs: parts.length === 1 ? parts[0].needs : all(...parts.map(({ needs }) => needs)),
  detail: "",
  fix: "",
  parts,
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

/**
 * Patterns of texts for the API server of a cluster, in the syntax of RE2, which has no look-ahead.
 */
export const LABEL = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/**
 * A resource that a container can request: a standard one, or one with the prefix of its vendor.
 */
export const CONTAINER_RESOURCE_PATTERN = `^(cpu|memory|ephemeral-storage|hugepages-${QUALIFIED}|[a-z0-9]([-a-z0-9.]*[a-z0-9])?/${QUALIFIED})$`;
export const GROUP_VERSION = "^[^/]*(/[^/]*)?$";
export const HTTP_ADDRESS = "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s]+";
/** One segment of a path: no / and no %, and not only one or two dots. */
export const SEGMENT = "^([^/%.]|[^/%][^/%.]|[^/%.][^/%]|[^/%]{3,})$";

const SUFFIX = "([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})?";
const ZERO = "(0+(\\.0*)?|\\.0+)";
const ABOVE_ZERO = "(0*[1-9][0-9]*(\\.[0-9]*)?|0*\\.0*[1-9][0-9]*)";
const ANY = "([0-9]+(\\.[0-9]*)?|\\.[0-9]+)";

/** The text of a quantity: of any one, of one that is not negative, and of one above zero. */
export const QUANTITY_PATTERN = `^[+-]?${ANY}${SUFFIX}$`;
export const NOT_NEGATIVE_QUANTITY = `^([+]?${ANY}|-${ZERO})${SUFFIX}$`;
export const POSITIVE_QUANTITY = `^[+]?${ABOVE_ZERO}${SUFFIX}$`;

/**
 * A text without control characters (C0, DEL, C1), bidirectional controls, line separators and
 * invisible characters: it is shown to people, and such characters hide what it says. What is above
 * \xff stands for itself, because the engines that read the pattern write its escape in different
 * ways.
 */
const HIDDEN = "\\x7f-\\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff";
const PRINTABLE = `^[^\\x00-\\x1f${HIDDEN}]*$`;
/** The same with tabs and line ends, for a text of a language. */
const PRINTABLE_LINES = `^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f${HIDDEN}]*$`;

/** The pattern of the characters that the text of a field may have. */
export const printablePattern = ({ lines }: Pick<FieldDescription, "lines">): string =>
  lines ? PRINTABLE_LINES : PRINTABLE;

const SHOWN = new RegExp(PRINTABLE);
const SHOWN_LINES = new RegExp(PRINTABLE_LINES);
/** Characters of a text that a problem quotes. */
const QUOTED_MAX = 60;

/**
 * Problems of texts with characters that a terminal executes or hides, wherever they stand below a
 * value. Of the fields that are described as texts of a language, line ends and tabs are none.
 */
export const unprintableProblems = (
  value: unknown,
  path: string,
  about?: FieldDescription,
): readonly Problem[] => {
  if (typeof value === "string")
    return (about?.lines ? SHOWN_LINES : SHOWN).test(value) ? [] : [unprintable(value, path)];
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) =>
      unprintableProblems(item, `${path}[${index}]`, about?.items),
    );
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    SHOWN.test(key)
      ? unprintableProblems(member, `${path}.${key}`, memberOf(about, key))
      : [unprintable(key, path)],
  );
};

const memberOf = (
  about: FieldDescription | undefined,
  name: string,
): FieldDescription | undefined =>
  about?.fields && Object.hasOwn(about.fields, name) ? about.fields[name] : undefined;

const unprintable = (value: string, path: string): Problem =>
  invalidField(
    path,
    `may not contain control or invisible characters: "${printable(value.slice(0, QUOTED_MAX))}"`,
    "write the text without them",
  );
