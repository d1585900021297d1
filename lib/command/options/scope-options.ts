import { type Command, Option } from "commander";
import { present } from "../../rules/model/json.ts";
import type { Filter } from "../../answers/service/service.ts";
import { repeatable, withTarget } from "./command-options.ts";
import type { TargetOptions } from "../select/command-target.ts";
import { usage } from "../usage-error.ts";

export interface ScopeOptions extends TargetOptions {
  readonly namespace?: string;
  readonly cluster?: string;
  /** Patterns of names, of a command that reads several clusters at once. */
  readonly clusters?: string;
}

/** What the names of a command can look like. */
export const NAMES =
  "NAME, NAMESPACE/NAME, CLUSTER/NAMESPACE/NAME or TYPE/NAME; a type (pa, hpa, wpa) can also stand before the names";

/** The same for a command that takes one. */
export const ONE_NAME =
  "NAME, NAMESPACE/NAME, CLUSTER/NAMESPACE/NAME or TYPE/NAME; a type (pa, hpa, wpa) can also stand before the name";

export const filterOf = ({ namespace, cluster: inCluster, clusters }: ScopeOptions): Filter => {
  if (inCluster !== undefined && clusters !== undefined) throw clustersTwice(inCluster, clusters);
  return present({ namespace, cluster: inCluster });
};

/** Refuses `-A` beside `-n`. */
export const refuseNamespaceTwice = ({
  allNamespaces,
  namespace,
}: ScopeOptions & { readonly allNamespaces?: true }): void => {
  if (allNamespaces && namespace !== undefined)
    throw usage(
      `Cannot use --all-namespaces and --namespace "${namespace}" together: give one of them`,
    );
};

/** What a list of events or changes is of, and its time. */
export interface PastOptions extends ScopeOptions {
  readonly all?: true;
  readonly allNamespaces?: true;
  readonly since?: string;
  readonly until?: string;
}

/** Refuses choices of a list that contradict each other, and a list of nothing in particular. */
export const checkListed = (
  list: "events" | "changes",
  name: string | undefined,
  options: PastOptions,
): void => {
  const { all, allNamespaces, namespace, cluster, clusters } = options;
  const allFlag = all ? "--all" : allNamespaces ? "--all-namespaces" : undefined;
  if (name !== undefined && allFlag !== undefined)
    throw usage(`Cannot list ${list}: "${name}" and ${allFlag} cannot be used together`);
  refuseNamespaceTwice(options);
  if ([name, allFlag, namespace, cluster, clusters].every((choice) => choice === undefined))
    throw usage(`Cannot list ${list}: give the name of an autoscaler, or --all, -n or --cluster`);
};

const clustersTwice = (cluster: string, clusters: string): Error =>
  usage(
    `Cannot use --cluster "${cluster}" and --clusters "${clusters}" together: give one of them`,
  );

const withNamespace = (command: Command): Command =>
  withTarget(command).addOption(once("-n, --namespace <namespace>", "only in this namespace"));

/** Adds the options that choose the target, a namespace and one cluster. */
export const withScope = (command: Command): Command => {
  const refused = new Option("--clusters <patterns>", "for commands that read a list")
    .hideHelp()
    .argParser((patterns: string) => {
      throw usage(
        `Cannot use --clusters "${patterns}" with ${command.name()}: it works on one cluster; name it with --cluster`,
      );
    });
  return withNamespace(command)
    .addOption(once("--cluster <cluster>", "only in this cluster"))
    .addOption(refused);
};

/** The same for a command that reads several clusters at once. */
export const withScopes = (command: Command): Command =>
  withPatterns(
    withNamespace(command).option(
      "--cluster <cluster>",
      "only in this cluster; repeatable",
      repeatable,
    ),
  ).hook("preAction", joinClusters);

/**
 * The same for a command that edits in several clusters at once. `--cluster` names one: a second
 * one, such as the cluster of an alias, is refused, because an edit would reach a cluster that was
 * not meant.
 */
export const withEditScopes = (command: Command): Command =>
  withPatterns(
    withNamespace(command).addOption(once("--cluster <cluster>", "only in this cluster")),
  );

const withPatterns = (command: Command): Command =>
  command.addOption(
    once("--clusters <patterns>", "only in clusters with such names: 'prod-*', or 'prod-*,eu-1'"),
  );

/** Several `--cluster` mean the same as one `--clusters` with all of the names. */
const joinClusters = (command: Command): void => {
  const { cluster: repeated, clusters } = command.opts<{
    readonly cluster?: readonly string[];
    readonly clusters?: string;
  }>();
  const names = [...new Set(repeated)];
  if (names.length > 1 && clusters !== undefined)
    throw clustersTwice(names.join('" and --cluster "'), clusters);
  command.setOptionValue("cluster", names.length > 1 ? undefined : names[0]);
  if (names.length > 1) command.setOptionValue("clusters", names.join(","));
};

/** The labels that choose autoscalers. */
export const withSelector = (
  command: Command,
  description = "those whose manifests have these labels: app=web,tier!=db",
): Command =>
  command
    .option("-l, --selector <selector>", description)
    .option("-A, --all-namespaces", "with --selector: in every namespace");

/**
 * An option that is refused when it is given twice. The last one would win silently, and an edit
 * would reach another cluster than was meant.
 */
const once = (flags: string, description: string): Option => {
  const option = new Option(flags, description);
  return option.argParser((value: string, before: string | undefined) => {
    if (before !== undefined && before !== value)
      throw usage(
        `Cannot use ${option.long} "${before}" and ${option.long} "${value}" together: give one of them`,
      );
    return value;
  });
};
