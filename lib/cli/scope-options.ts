import { type Command, Option } from "commander";
import type { Filter } from "../service/service.ts";
import type { TargetOptions } from "./command-target.ts";
import { withTarget } from "./target-options.ts";
import { usage } from "./usage-error.ts";

export interface ScopeOptions extends TargetOptions {
  readonly namespace?: string;
  readonly cluster?: string;
}

/** What the names of a command can look like. */
export const NAMES = "NAME, NAMESPACE/NAME, CLUSTER/NAMESPACE/NAME or TYPE/NAME; a type (pa, hpa, wpa) can also stand before the names";

export const filterOf = ({ namespace, cluster: inCluster }: ScopeOptions): Filter => ({
  ...(namespace === undefined ? {} : { namespace }),
  ...(inCluster === undefined ? {} : { cluster: inCluster }),
});

/** Adds the options that choose the target, a namespace and a cluster. */
export const withScope = (command: Command): Command =>
  withTarget(command)
    .addOption(once("-n, --namespace <namespace>", "only in this namespace"))
    .addOption(once("--cluster <cluster>", "only in this cluster"));

/** An option that is refused when it is given twice. The last one would win silently, and an edit would reach another cluster than was meant. */
const once = (flags: string, description: string): Option => {
  const option = new Option(flags, description);
  return option.argParser((value: string, before: string | undefined) => {
    if (before !== undefined && before !== value)
      throw usage(`Cannot use ${option.long} "${before}" and ${option.long} "${value}" together: give one of them`);
    return value;
  });
};
