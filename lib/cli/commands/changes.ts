import { withLocalTimes } from "../../report/instant-text.ts";
import { lines } from "../../report/printed.ts";
import type { ChangeQuery } from "../../service/service.ts";
import type { ChangeView } from "../../service/views/change-view.ts";
import { batches } from "../batches.ts";
import { clustersMatching } from "../cluster-pattern.ts";
import type { Printer, Session } from "../io.ts";
import type { JsonPathFormat } from "../jsonpath/format.ts";
import { changeLines } from "../output/change-lines.ts";
import { EMPTY, listWriter, type Writer } from "../output/list-writers.ts";
import { filterOf, type ScopeOptions } from "../scope-options.ts";
import { queryForPast, type Resource } from "../selected-names.ts";
import { rangeMs } from "../time-options.ts";
import { usage } from "../usage-error.ts";

export interface ChangesOptions extends ScopeOptions {
  readonly all?: true;
  readonly allNamespaces?: true;
  readonly since?: string;
  readonly until?: string;
  readonly output: "text" | "jsonl" | "json" | "yaml" | JsonPathFormat;
}

const BATCH = 100;

/** Refuses options that contradict each other, before anything is opened. */
export const checkOptions = (resource: Resource | undefined, options: ChangesOptions): void => {
  const { all, allNamespaces, namespace, cluster, clusters } = options;
  const allFlag = all ? "--all" : allNamespaces ? "--all-namespaces" : undefined;
  if (resource !== undefined && allFlag !== undefined) throw usage(`Cannot list changes: "${resource.name}" and ${allFlag} cannot be used together`);
  if (allNamespaces && namespace !== undefined) throw usage(`Cannot use --all-namespaces and --namespace "${namespace}" together: give one of them`);
  if ([resource, allFlag, namespace, cluster, clusters].every((choice) => choice === undefined))
    throw usage("Cannot list changes: give the name of an autoscaler, or --all, -n or --cluster");
};

/** Prints edits, oldest first. */
export const changes = async (
  { service, nowMs }: Session,
  printer: Printer,
  resource: Resource | undefined,
  options: ChangesOptions,
): Promise<void> => {
  const { untilMs, sinceMs } = rangeMs(options, nowMs, printer.note);
  const query: ChangeQuery = {
    ...(resource === undefined ? filterOf(options) : await queryForPast(service, resource)),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
  const clusters = options.clusters === undefined ? undefined : await clustersMatching(service, options.clusters);
  const write: Writer<ChangeView> = options.output === "text" ? textWriter(nowMs) : listWriter(options.output);
  let isEmpty = true;
  for await (const batch of batches(chosenOf(service.changes(query), clusters, untilMs), BATCH)) {
    isEmpty = false;
    if (!(await printer.print(write.batch(batch)))) return;
  }
  await printer.print(write.end());
  if (isEmpty && options.output === "text") printer.tell("No changes");
};

/** Changes are listed oldest first, so that nothing is read after the end of the range. A change of the fleet belongs to no cluster. */
async function* chosenOf(
  all: AsyncIterable<ChangeView>,
  clusters: ReadonlySet<string> | undefined,
  untilMs = Number.POSITIVE_INFINITY,
): AsyncGenerator<ChangeView> {
  for await (const change of all) {
    if (Date.parse(change.at) > untilMs) return;
    if (clusters === undefined || (change.cluster !== undefined && clusters.has(change.cluster))) yield change;
  }
}

const textWriter = (nowMs: number): Writer<ChangeView> => ({
  batch: (batch) => lines(batch.flatMap((change) => changeLines(withLocalTimes(change), nowMs))),
  end: () => EMPTY,
});
