import type { RuleCondition, Rule, Term } from "./rule.ts";

/** Texts that the words of a rule name in braces. */
export type Texts = Readonly<Record<string, string>>;

const BRACES = /\{(=?)([\w.]+)\}/g;

/**
 * The words of a rule with its texts, and with the values of its terms where they are known. A term
 * that is no name of `terms` is a field.
 */
export const filledText = (
  words: string,
  { terms = {} }: Pick<Rule, "terms">,
  texts: Texts,
  valueFor: (term: Term) => string | undefined,
): string =>
  words.replaceAll(BRACES, (_all, named: string, name: string) => {
    const text = texts[name];
    if (text !== undefined) return text;
    const term = terms[name] ?? name;
    const value = valueFor(term);
    if (value === undefined) return termWords(term);
    return named === "" ? value : `${termWords(term)}, which is ${value}`;
  });

/**
 * The rule as a sentence without values: the words of the API server, and of the table in
 * docs/pod-autoscaler.md.
 */
export const ruleText = (rule: Rule): string => {
  if (rule.says !== undefined) return rule.says;
  const fields =
    rule.at === undefined ? fieldsOfCondition(rule.needs) : rule.at === "" ? [] : [rule.at];
  const named = listed(fields, "and");
  const texts = { ...GENERAL, given: listed(givenFields(rule), "or") };
  const words = (text: string): string => filledText(text, rule, texts, () => undefined);
  const detail = words(
    rule.detail === "" ? (fields.length === 0 ? "" : "must be set") : rule.detail,
  );
  const premise = rule.when ? conditionWords(rule.when) : "";
  const begin = premise === "" || isSaid(premise, rule.detail) ? "" : `${premise}, `;
  const sentence = [named, detail].filter((part) => part !== "").join(" ");
  return `${begin}${sentence === "" ? "" : `${sentence}; `}${words(rule.fix)}`;
};

/** True where the words of the problem say already what the rule is about. */
const isSaid = (premise: string, detail: string): boolean =>
  detail.includes("{given}") ||
  detail.includes(" only be set ") ||
  detail.includes(premise.replace(/^with(?:out)? (?:\w+\.)*/, ""));

/** What stands for a text that only a manifest has. */
const GENERAL: Texts = { first: "another one of them", name: "it" };

/** The fields of which one is set where the rule applies. */
export const givenFields = ({ when }: Pick<Rule, "when">): readonly string[] =>
  when === undefined
    ? []
    : (when.kind === "any" ? when.of : [when]).flatMap((one) =>
        one.kind === "set" ? [one.field] : [],
      );

/** The fields that a condition asks something of. */
export const fieldsOfCondition = (condition: RuleCondition): readonly string[] => {
  switch (condition.kind) {
    case "all":
      return [...new Set(condition.of.flatMap(fieldsOfCondition))];
    case "any":
    case "not":
      return [];
    case "unset":
    case "atMostOne":
      return condition.fields;
    case "each":
      return fieldsOfCondition(condition.item).map((field) => `${condition.field}[].${field}`);
    case "unique":
      return [`${condition.field}[].${String(condition.by[0])}`];
    case "set":
    case "some":
    case "is":
    case "compared":
    case "multiple":
    case "matches":
    case "length":
      return [condition.field];
  }
};

const SIGNS = { "<": "less than", "<=": "at most", ">": "above", ">=": "at least" } as const;

const conditionWords = (condition: RuleCondition): string => {
  switch (condition.kind) {
    case "set":
      return `with ${condition.field}`;
    case "unset":
      return `without ${listed(condition.fields, "and")}`;
    case "is":
      return `with ${condition.field}: ${listed(condition.values.map(String), "or")}`;
    case "compared":
      return `with ${condition.field} ${SIGNS[condition.sign]} ${termWords(condition.term)}`;
    case "not":
      return negatedWords(condition.of);
    case "all":
      return listed(condition.of.map(conditionWords), "and");
    case "any":
      return listed(condition.of.map(conditionWords), "or").replaceAll(/(, | or )with /g, "$1");
    case "atMostOne":
    case "multiple":
    case "matches":
    case "length":
    case "some":
    case "each":
    case "unique":
      throw new RangeError(
        `a rule that applies by "${condition.kind}" needs words of its own: write \`says\``,
      );
  }
};

const negatedWords = (condition: RuleCondition): string => {
  if (condition.kind !== "is") return `not ${conditionWords(condition)}`;
  const { field, values } = condition;
  return values.includes(true)
    ? `without ${field}`
    : `with ${field} other than ${listed(values.map(String), "and")}`;
};

const termWords = (term: Term): string => {
  if (typeof term === "number" || typeof term === "string") return String(term);
  switch (term.kind) {
    case "outer":
      return term.field;
    case "times":
      return `${term.factor} times ${termWords(term.of)}`;
    case "difference":
      return term.of.map(termWords).join(" - ");
    case "larger":
      return `the larger of ${listed(term.of.map(termWords), "and")}`;
  }
};

const listed = (parts: readonly string[], word: "and" | "or"): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} ${word} ${parts.at(-1)}`;
