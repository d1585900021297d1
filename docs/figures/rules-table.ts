import { ruleText } from "../../lib/rules/fields/rule-text.ts";
import { explainField } from "../../lib/rules/manifest/native/explain-field.ts";
import { ruleSchema } from "../../lib/rules/manifest/native/rule-schema.ts";
import { RULE_TABLE } from "../../lib/rules/manifest/native/rule-table.ts";

/** The object of a rule as the page names its fields: without "spec." */
const nameOf = (path: string): string =>
  path === "spec" ? "the spec" : `\`${path.replace(/^spec\./, "")}\``;

/**
 * Every rule between fields of a PodAutoscaler, in the order in which they are checked, and whether
 * the JSON Schema has it.
 */
export const rulesMarkdown = (): string => {
  const rows = RULE_TABLE.flatMap(({ path, rules }) => {
    const field = explainField(path);
    if (field.kind !== "known")
      throw new Error(`Cannot print the rules at "${path}": there is no such field`);
    const about = field.about.items ?? field.about;
    return rules.map(
      (rule) =>
        `| ${nameOf(path)} | ${ruleText(rule).replaceAll("|", "\\|")} | ${ruleSchema(rule, about) ? "yes" : "no"} |`,
    );
  });
  return ["| object | rule | in the JSON Schema |", "|---|---|---|", ...new Set(rows)].join("\n");
};
