import { present } from "../../rules/model/json.ts";
import { withLocalTimes } from "../../stack/report/instant-text.ts";
import { lines } from "../../stack/report/printed.ts";
import type { ChangeQuery } from "../../answers/service/service.ts";
import type { ChangeView } from "../../answers/views/change.ts";
import { listWriter, printList } from "../output/documents.ts";
import {
  clustersMatching,
  queryForPast,
  type NamedAutoscalerOfKind,
} from "../select/selected-names.ts";
import type { Printer, Session } from "../io.ts";
import type { TemplateFormat } from "../jsonpath/format.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { changedObjectText, fieldLine } from "../../answers/words/change-words.ts";
import { filterOf, type PastOptions } from "../options/scope-options.ts";
import { rangeMs } from "../options/time-options.ts";

export interface ChangesOptions extends PastOptions {
  readonly output: "text" | "jsonl" | "json" | "yaml" | TemplateFormat;
}

/** Prints edits, oldest first. */
export const changes = async (
  { service, nowMs }: Session,
  printer: Printer,
  resource: NamedAutoscalerOfKind | undefined,
  options: ChangesOptions,
): Promise<void> => {
  const { untilMs, sinceMs } = rangeMs(options, nowMs, printer.note);
  const query: ChangeQuery = {
    ...(resource === undefined ? filterOf(options) : await queryForPast(service, resource)),
    ...present({ sinceMs }),
  };
  const clusters =
    options.clusters === undefined ? undefined : await clustersMatching(service, options.clusters);
  const textOf = (batch: readonly ChangeView[]) =>
    lines(batch.flatMap((change) => changeLines(withLocalTimes(change), nowMs)));
  const write = options.output === "text" ? { batch: textOf } : listWriter(options.output);
  const isEmpty = await printList(
    printer,
    chosenOf(service.changes(query), clusters, untilMs),
    write,
  );
  if (isEmpty && options.output === "text") printer.report("No changes");
};

/**
 * Changes are listed oldest first, so that nothing is read after the end of the range. A change of
 * the fleet belongs to no cluster.
 */
export async function* chosenOf(
  all: AsyncIterable<ChangeView>,
  clusters: ReadonlySet<string> | undefined,
  untilMs = Number.POSITIVE_INFINITY,
): AsyncGenerator<ChangeView> {
  for await (const change of all) {
    if (Date.parse(change.at) > untilMs) return;
    if (clusters === undefined || (change.cluster !== undefined && clusters.has(change.cluster)))
      yield change;
  }
}

/** One edit: its time, editor and verb, and a line for each changed field. */
const changeLines = (change: ChangeView, nowMs: number): readonly string[] => {
  const { at, by, verb, scope, generation, made, fields } = change;
  const number = scope === "autoscaler" ? `, generation ${generation}` : "";
  const failed = made === false ? ", which was not made" : "";
  return [
    `${at} (${ageText(nowMs - Date.parse(at))} ago) ${by}: ${verb} ${changedObjectText(change)}${number}${failed}`,
    ...fields.map((field) => `  ${fieldLine(field)}`),
  ];
};
