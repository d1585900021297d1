import { readSelector } from "../../answers/service/label-selector.ts";
import type { Service } from "../../answers/service/service.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import {
  namesText,
  resourcesInClusters,
  type NamedAutoscalerOfKind,
  type Selection,
  selectionOf,
} from "./selected-names.ts";
import { type ListOptions, listedRows } from "./listed-autoscalers.ts";
import { filterOf, refuseNamespaceTwice } from "../options/scope-options.ts";
import { usage } from "../usage-error.ts";

export interface ChoiceOptions extends ListOptions {
  readonly allNamespaces?: true;
  readonly all?: true;
}

/**
 * What an edit or `describe` works on: the autoscalers with these names, or each that a list has.
 */
export interface Choice extends Selection {
  readonly command: string;
  readonly options: ChoiceOptions;
}

/**
 * An autoscaler that a list had. It has the labels that were asked for in this version, and perhaps
 * not in the next one.
 */
export interface Chosen extends NamedAutoscalerOfKind {
  readonly version?: Pick<AutoscalerView, "uid" | "generation">;
}

/**
 * Reads the names and options of an edit, before anything is opened. Labels, and `--all`, also need
 * a namespace or -A, because an edit of more than was meant cannot be taken back.
 */
export const choiceOfEdit = (
  command: string,
  words: readonly string[],
  options: ChoiceOptions,
): Choice => {
  const choice = choiceOf(command, words, options);
  const { all, allNamespaces, namespace, selector } = options;
  if (all && selector !== undefined)
    throw usage(`Cannot use --all and --selector "${selector}" together: give one of them`);
  if (choice.resources.length > 0) return choice;
  const option = listOption(options);
  if (option === undefined)
    throw usage(
      `Cannot choose an autoscaler: give its name, such as ${words[0] ? `${words[0]}/web` : "web"}, or --selector`,
    );
  if (namespace === undefined && !allNamespaces)
    throw usage(
      `Cannot use ${option} with ${command}: give a namespace with -n too, or -A for all of them`,
    );
  return choice;
};

/** The same for a command that only reads: only a type, as in "describe hpa", is enough. */
export const choiceOfQuery = (
  command: string,
  words: readonly string[],
  options: ChoiceOptions,
): Choice => {
  const choice = choiceOf(command, words, options);
  if (choice.resources.length > 0 || choice.kinds !== undefined || options.selector !== undefined)
    return choice;
  throw usage(
    "Cannot choose an autoscaler: give its name, such as web, or a type (pa, hpa, wpa), or --selector",
  );
};

const choiceOf = (command: string, words: readonly string[], options: ChoiceOptions): Choice => {
  const { selector } = options;
  const selection = selectionOf(words, filterOf(options));
  refuseNamespaceTwice(options);
  const [first] = selection.resources;
  const option = listOption(options);
  if (first && option !== undefined)
    throw usage(`Cannot use "${first.name}" and ${option} together: give one of them`);
  if (selector !== undefined) readSelector(selector);
  return { ...selection, command, options };
};

const listOption = ({ all, selector }: ChoiceOptions): string | undefined =>
  selector === undefined ? (all ? "--all" : undefined) : `--selector "${selector}"`;

/** The autoscalers that a command reads. */
export const chosenForQuery = async (
  service: Service,
  { resources, kinds, options }: Choice,
): Promise<readonly Chosen[]> => {
  if (resources.length > 0)
    return options.clusters === undefined
      ? resources
      : resourcesInClusters(service, resources, options.clusters);
  const rows = await Array.fromAsync(listedRows(service, kinds, options));
  return rows.map(({ cluster, namespace, name, uid, generation }) => ({
    cluster,
    namespace,
    name,
    version: { uid, generation },
  }));
};

/**
 * The autoscalers that an edit changes. Labels that match in several clusters are refused unless
 * the clusters were given: the same labels are often in all of them.
 */
export const chosenForEdit = async (
  service: Service,
  choice: Choice,
): Promise<readonly Chosen[]> => {
  const chosen = await chosenForQuery(service, choice);
  const { cluster, clusters } = choice.options;
  if (choice.resources.length > 0 || cluster !== undefined || clusters !== undefined) return chosen;
  const matched = [...new Set(chosen.map((each) => each.cluster))];
  if (matched.length > 1)
    throw usage(
      `Cannot use ${listOption(choice.options)} with ${choice.command}: ${chosen.length} autoscalers in ${matched.length} clusters match, in ${namesText(matched, SHOWN_MAX)}; name one with --cluster, or all of them with --clusters '*'`,
    );
  return chosen;
};

/** Names in a message; the others are counted. */
const SHOWN_MAX = 5;
