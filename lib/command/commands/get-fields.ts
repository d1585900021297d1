import { nearestName } from "../../rules/model/nearest-name.ts";
import { lines } from "../../stack/report/printed.ts";
import { type TableRow, withFields } from "../../answers/service/views/row-view.ts";
import type { Printer, Session } from "../io.ts";
import { isDocument, rowWriter, type RowOptions } from "../output/autoscaler-rows.ts";
import { listWriter, type Writer } from "../output/documents.ts";
import { Table } from "../output/text-table.ts";
import { usage } from "../usage-error.ts";
import type { ScopeOptions } from "../options/scope-options.ts";
import { ROW_FIELDS, type RowField } from "../../answers/service/requests.ts";

export interface GetOptions extends ScopeOptions, RowOptions {
  readonly allNamespaces?: true;
  readonly selector?: string;
  /** Path of a field; without it the order is by cluster, namespace and name. */
  readonly sortBy?: string;
  /** Names of fields of a row, with commas between them. */
  readonly fields?: string;
  readonly watch?: true;
  /** Like `watch`, without the list at the beginning. */
  readonly watchOnly?: true;
}

/**
 * The fields of `--fields`; undefined without it. Throws a usage error for a name that no row has.
 */
export const chosenFields = ({
  fields,
}: Pick<GetOptions, "fields">): readonly RowField[] | undefined =>
  fields
    ?.split(",")
    .map((name) => ROW_FIELDS.find((field) => field === name.trim()) ?? unknownField(name));

const unknownField = (name: string): never => {
  const nearest = nearestName(name, ROW_FIELDS);
  throw usage(
    `Cannot use --fields "${name}": ${nearest === undefined ? `give some of ${ROW_FIELDS.join(", ")}` : `did you mean "${nearest}"?`}`,
  );
};

/** Refuses `--fields` beside an option that it would contradict. */
export const checkFields = (options: GetOptions): void => {
  if (chosenFields(options) === undefined) return;
  const { watch, watchOnly, showLabels, output } = options;
  if (watch || watchOnly)
    throw usage("Cannot use --fields and --watch together: a watch prints whole rows");
  if (showLabels)
    throw usage('Cannot use --fields and --show-labels together: give "labels" as a field');
  if (output === "wide" || output === "name")
    throw usage(`Cannot use --fields and -o ${output} together: give -o table, json or yaml`);
};

/** Formats rows as a table, or their chosen fields. */
export const rowsWriter = (
  session: Session,
  printer: Printer,
  options: GetOptions,
): Writer<TableRow> => {
  const { output, headers } = options;
  const fields = chosenFields(options);
  if (fields && isDocument(output)) {
    const writer = listWriter(output);
    return { ...writer, batch: (rows) => writer.batch(rows.map((row) => documentOf(row, fields))) };
  }
  if (fields) return fieldsTable(fields, headers);
  if (isDocument(output)) throw new RangeError("rows have no manifests");
  const { batch } = rowWriter(session, printer, { ...options, output });
  return { batch: (rows) => batch(rows.map((view) => ({ view }))) };
};

/**
 * A row as `GET /v1/rows` has it, with its cluster first. The ages of its sync are of its
 * partition, and are no fields.
 */
const documentOf = (row: TableRow, fields: readonly RowField[]): object => {
  const { cluster, syncedAt: _synced, ageSeconds: _age, ...rest } = withFields(row, fields);
  return { cluster, ...rest };
};

const NAMES = ["cluster", "namespace", "name"] as const;

const fieldsTable = (fields: readonly RowField[], headers?: boolean): Writer<TableRow> => {
  const columns = [...NAMES, ...fields];
  const table = new Table(
    headers === false
      ? undefined
      : columns.map((name) => name.replace(/[A-Z]/g, "_$&").toUpperCase()),
  );
  return {
    batch: (rows) =>
      lines(table.lines(rows.map((row) => columns.map((name) => cellText(row[name]))))),
  };
};

const cellText = (value: unknown): string => {
  if (value === undefined) return "<none>";
  if (Array.isArray(value)) return value.length === 0 ? "<none>" : value.join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
};
