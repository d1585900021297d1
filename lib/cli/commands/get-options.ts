import type { RowOptions } from "../output/autoscaler-printer.ts";
import type { ScopeOptions } from "../scope-options.ts";

export interface GetOptions extends ScopeOptions, RowOptions {
  readonly allNamespaces?: true;
  readonly selector?: string;
  /** Path of a field; without it the order is that of cluster, namespace and name. */
  readonly sortBy?: string;
  /** Names of fields of a row, with commas between them. */
  readonly fields?: string;
  readonly watch?: true;
  /** Like `watch`, without the list at the beginning. */
  readonly watchOnly?: true;
}
