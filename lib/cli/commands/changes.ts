import type { ChangeQuery } from "../../service/service.ts";
import type { ChangeView } from "../../service/views/change-view.ts";
import { batches } from "../batches.ts";
import { clustersMatching } from "../cluster-pattern.ts";
import type { Printer, Session } from "../io.ts";
import type { JsonPathFormat } from "../jsonpath/format.ts";
import { changeLines } from "../output/change-lines.ts";
import { lines, listWriter, separator, type Writer } from "../output/list-writers.ts";
import type { ScopeOptions } from "../scope-options.ts";
import { rangeMs } from "../time-options.ts";
import { usage } from "../usage-error.ts";

export interface ChangesOptions extends ScopeOptions {
  readonly all?: true;
  readonly since?: string;
  readonly until?: string;
  readonly output: "text" | "jsonl" | "json" | "yaml" | JsonPathFormat;
}

const BATCH = 100;

/** Refuses options that contradict each other, before anything is opened. */
export const checkOptions = (name: string | undefined, { all }: ChangesOptions): void => {
  if (name !== undefined && all) throw usage(`Cannot list changes: "${name}" and --all cannot be used together`);
  if (name === undefined && !all) throw usage("Cannot list changes: give the name of an autoscaler, or --all");
};

/** Prints edits, oldest first. */
export const changes = async ({ service, nowMs }: Session, printer: Printer, name: string | undefined, options: ChangesOptions): Promise<void> => {
  const { untilMs, sinceMs } = rangeMs(options, nowMs, printer.note);
  const query: ChangeQuery = {
    ...(name === undefined ? {} : { name }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    ...(options.cluster === undefined ? {} : { cluster: options.cluster }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
  const clusters = options.clusters === undefined ? undefined : await clustersMatching(service, options.clusters);
  const write: Writer<ChangeView> = options.output === "text" ? textWriter(nowMs) : listWriter(options.output);
  for await (const batch of batches(chosenOf(service.changes(query), clusters, untilMs), BATCH))
    if (!(await printer.print(write.batch(batch)))) return;
  await printer.print(write.end());
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

const textWriter = (nowMs: number): Writer<ChangeView> => {
  const nothing = separator("No changes\n", "");
  return {
    batch: (batch) => {
      nothing();
      return lines(batch.flatMap((change) => changeLines(change, nowMs)));
    },
    end: nothing,
  };
};
