import type { Command } from "commander";

/** The names that the data folder or the stack holds, each kind read when it is asked for. */
export interface Named {
  readonly clusters: () => Promise<readonly string[]>;
  readonly namespaces: () => Promise<readonly string[]>;
  readonly partitions: () => Promise<readonly string[]>;
  readonly calendars: () => Promise<readonly string[]>;
  /** Ids of overrides that have not expired. */
  readonly overrides: () => Promise<readonly string[]>;
  readonly autoscalers: () => Promise<readonly NamedAutoscaler[]>;
}

interface NamedAutoscaler {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

const AUTOSCALER_COMMANDS: ReadonlySet<string> = new Set([
  "get",
  "describe",
  "explain",
  "schedule",
  "events",
  "changes",
  "edit",
  "delete",
  "pause",
  "resume",
  "override set",
  "override list",
]);
/** Commands of a group that take no name that is stored. */
const NAMELESS: ReadonlySet<string> = new Set(["cluster list", "cluster add", "calendar list"]);
const TYPES = ["hpa", "pa", "wpa"];

/** The names that a command takes: of autoscalers, clusters or partitions. */
export const namesFor = async (command: Command, start: string, named: Named): Promise<readonly string[]> => {
  const group = command.parent?.name() ?? "";
  const path = group === "tidemark" ? command.name() : `${group} ${command.name()}`;
  if (NAMELESS.has(path)) return [];
  if (AUTOSCALER_COMMANDS.has(path)) return autoscalerWords(await named.autoscalers(), start);
  switch (group) {
    case "cluster":
      return named.clusters();
    case "partition":
      return named.partitions();
    case "calendar":
      return named.calendars();
    case "override":
      return named.overrides();
    default:
      return [];
  }
};

/** Short names first; with a point of a path in the word, the longer forms: "shop/web", "eu-1/shop/web" and "hpa/web". */
const autoscalerWords = (autoscalers: readonly NamedAutoscaler[], start: string): readonly string[] => {
  const [first = "", ...more] = start.split("/");
  const names = [...new Set(autoscalers.map(({ name }) => name))];
  if (more.length === 0) return [...names, ...autoscalers.map(({ namespace, name }) => `${namespace}/${name}`), ...TYPES];
  if (TYPES.includes(first)) return names.map((name) => `${first}/${name}`);
  const paths = autoscalers.map(({ cluster, namespace, name }) => `${cluster}/${namespace}/${name}`);
  return [...new Set([...autoscalers.map(({ namespace, name }) => `${namespace}/${name}`), ...paths])];
};
