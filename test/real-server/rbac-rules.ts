import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

const ROOT = join(import.meta.dirname, "../..");

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** The rules of both roles of infra/cluster-rbac.yaml. */
export const RULES: readonly Rule[] = parseAllDocuments(
  readFileSync(join(ROOT, "infra/cluster-rbac.yaml"), "utf8"),
)
  .map((document): { readonly kind: string; readonly rules?: readonly Rule[] } => document.toJS())
  .flatMap(({ kind, rules = [] }) => (kind === "ClusterRole" ? rules : []));

/**
 * The words of a rule in the table: its verbs, the names that it is about, and its resources as
 * kubectl writes them.
 */
export const wordsOf = ({
  apiGroups,
  resources,
  resourceNames = [],
  verbs,
}: Rule): readonly string[] => {
  const [group = ""] = apiGroups;
  const named = resources.map((resource) => {
    const [plural = "", part] = resource.split("/");
    return [
      group === "" ? plural : `${plural}.${group}`,
      ...(part === undefined ? [] : [part]),
    ].join("/");
  });
  return [...verbs, ...named, ...resourceNames];
};

/** The points of `tidemark cluster check` that ask for this rule. */
export const pointsOf = (rule: Rule): readonly string[] => {
  const [group = ""] = rule.apiGroups;
  if (group.endsWith("metrics.k8s.io")) return [group];
  if (rule.resources.includes("namespaces")) return ["identity"];
  return rule.resources.map((resource) =>
    [resource.split("/")[0] ?? "", ...(group === "" ? [] : [group])].join("."),
  );
};

const codeIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

/** The table "With less than this" of docs/clusters.md: what is missing, and as what it shows. */
export const TABLE: readonly {
  readonly without: readonly string[];
  readonly shows: readonly string[];
}[] = (() => {
  const page = readFileSync(join(ROOT, "docs/clusters.md"), "utf8");
  const table = page.slice(page.indexOf("| without |")).split("\n\n")[0] ?? "";
  return table
    .split("\n")
    .slice(2)
    .map((row) => row.split(" | "))
    .map((cells) => ({ without: codeIn(cells[0] ?? ""), shows: codeIn(cells.at(-1) ?? "") }));
})();
