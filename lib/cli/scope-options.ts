import { type Command, Option } from "commander";
import type { Filter } from "../service/service.ts";
import type { TargetOptions } from "./command-target.ts";
import { withTarget } from "./target-options.ts";
import { usage } from "./usage-error.ts";

export interface ScopeOptions extends TargetOptions {
  readonly namespace?: string;
  readonly cluster?: string;
  /** Patterns of names, of a command that reads several clusters at once. */
  readonly clusters?: string;
}

/** What the names of a command can look like. */
export const NAMES = "NAME, NAMESPACE/NAME, CLUSTER/NAMESPACE/NAME or TYPE/NAME; a type (pa, hpa, wpa) can also stand before the names";

/** The same for a command that takes one. */
export const ONE_NAME = "NAME, NAMESPACE/NAME, CLUSTER/NAMESPACE/NAME or TYPE/NAME; a type (pa, hpa, wpa) can also stand before the name";

export const filterOf = ({ namespace, cluster: inCluster, clusters }: ScopeOptions): Filter => {
  if (inCluster !== undefined && clusters !== undefined)
    throw usage(`Cannot use --cluster "${inCluster}" and --clusters "${clusters}" together: give one of them`);
  return { ...(namespace === undefined ? {} : { namespace }), ...(inCluster === undefined ? {} : { cluster: inCluster }) };
};

const withPlaces = (command: Command): Command =>
  withTarget(command)
    .addOption(once("-n, --namespace <namespace>", "only in this namespace"))
    .addOption(once("--cluster <cluster>", "only in this cluster"));

/** Adds the options that choose the target, a namespace and one cluster. */
export const withScope = (command: Command): Command => {
  const refused = new Option("--clusters <patterns>", "for commands that read a list").hideHelp().argParser((patterns: string) => {
    throw usage(`Cannot use --clusters "${patterns}" with ${command.name()}: it works on one cluster; name it with --cluster`);
  });
  return withPlaces(command).addOption(refused);
};

/** The same for a command that works on several clusters at once. */
export const withScopes = (command: Command): Command =>
  withPlaces(command).addOption(once("--clusters <patterns>", "only in clusters with such names: 'prod-*', or 'prod-*,eu-1'"));

/** The labels that choose autoscalers. */
export const withSelector = (command: Command, description = "those whose manifests have these labels: app=web,tier!=db"): Command =>
  command.option("-l, --selector <selector>", description).option("-A, --all-namespaces", "with --selector: in every namespace");

/** An option that is refused when it is given twice. The last one would win silently, and an edit would reach another cluster than was meant. */
const once = (flags: string, description: string): Option => {
  const option = new Option(flags, description);
  return option.argParser((value: string, before: string | undefined) => {
    if (before !== undefined && before !== value)
      throw usage(`Cannot use ${option.long} "${before}" and ${option.long} "${value}" together: give one of them`);
    return value;
  });
};
