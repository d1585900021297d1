import type { ChangeQuery } from "../../service/service.ts";
import type { ChangeView } from "../../service/views/change-view.ts";
import { batches } from "../batches.ts";
import type { Printer, Session } from "../io.ts";
import { changeLines } from "../output/change-lines.ts";
import { lines, listWriter, separator, type Writer } from "../output/list-writers.ts";
import { pastMs } from "../time-options.ts";
import { usage } from "../usage-error.ts";

export interface ChangesOptions {
  readonly all?: true;
  readonly since?: string;
  readonly namespace?: string;
  readonly cluster?: string;
  readonly output: "text" | "jsonl" | "json" | "yaml";
}

const BATCH = 100;

/** Prints edits, oldest first. */
export const changes = async ({ service, nowMs }: Session, printer: Printer, name: string | undefined, options: ChangesOptions): Promise<void> => {
  if (name === undefined && !options.all) throw usage("Cannot list changes: give the name of an autoscaler, or --all");
  if (name !== undefined && options.all) throw usage(`Cannot list changes: "${name}" and --all cannot be used together`);
  const query: ChangeQuery = {
    ...(name === undefined ? {} : { name }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    ...(options.cluster === undefined ? {} : { cluster: options.cluster }),
    ...(options.since === undefined ? {} : { sinceMs: pastMs("--since", options.since, nowMs) }),
  };
  const write: Writer<ChangeView> = options.output === "text" ? textWriter(nowMs) : listWriter(options.output);
  for await (const batch of batches(service.changes(query), BATCH)) if (!(await printer.print(write.batch(batch)))) return;
  await printer.print(write.end());
};

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
