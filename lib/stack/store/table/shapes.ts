/**
 * Rows of any form, stored by columns: rows of one shape stand together, their field names are
 * stored once, and each field is a column of its values. What changes from one body to the next
 * then stands apart from what stays, so that the difference of two bodies is small.
 *
 *   {"name":"cpu","value":"62%","pods":{"owned":6}}     shape    {"name":0,"value":0,"pods":{"owned":0}}
 *   {"name":"cpu","value":"71%","pods":{"owned":6}}     columns  ["cpu"], ",62%,71%", [6]
 */

type Leaf = string | number | boolean | null;
/** A field name, an index or nothing leads to each part; a leaf is 0. */
type Shape = 0 | readonly Shape[] | { readonly [field: string]: Shape };
/** One value where all are equal; texts behind a separator that none of them has; or all values. */
type StoredColumn = string | readonly Leaf[];
type StoredGroup = readonly [count: number, shape: Shape, columns: readonly StoredColumn[]];

/** The shape of a value as JSON, and its leaves in the order of the shape. */
const shapeText = (value: unknown, leaves: Leaf[]): string => {
  if (Array.isArray(value)) return `[${value.map((one) => shapeText(one, leaves)).join()}]`;
  if (value !== null && typeof value === "object") {
    const fields: string[] = [];
    for (const [field, inner] of Object.entries(value))
      if (inner !== undefined) fields.push(`${JSON.stringify(field)}:${shapeText(inner, leaves)}`);
    return `{${fields.join()}}`;
  }
  leaves.push((value ?? null) as Leaf);
  return "0";
};

const SEPARATORS = [",", "|", ";", "~", "^"] as const;

const columnOf = (values: readonly Leaf[]): StoredColumn => {
  const [first = null] = values;
  if (values.every((value) => value === first)) return [first];
  const texts = values.filter((value) => typeof value === "string");
  const separator =
    texts.length === values.length
      ? SEPARATORS.find((one) => texts.every((text) => !text.includes(one)))
      : undefined;
  return separator === undefined ? values : `${separator}${texts.join(separator)}`;
};

/** Rows as the text of one JSON value. Rows of one shape come together, in their order. */
export const rowsToShapes = (rows: readonly object[]): string => {
  const groups = new Map<string, Leaf[][]>();
  for (const row of rows) {
    const leaves: Leaf[] = [];
    const shape = shapeText(row, leaves);
    const group = groups.get(shape) ?? [];
    groups.set(shape, group);
    group.push(leaves);
  }
  const texts = [...groups].map(([shape, group]) => {
    const columns = (group[0] ?? []).map((_leaf, at) =>
      columnOf(group.map((leaves) => leaves[at] ?? null)),
    );
    return `[${group.length},${shape},${JSON.stringify(columns)}]`;
  });
  return `[${texts.join()}]`;
};

/**
 * The rows of such a value; with `only`, those whose field has this value. It throws for a column
 * that is cut off, because each row below it would have the values of another row.
 */
export const shapesToRows = <Row>(
  value: unknown,
  only?: { readonly field: string; readonly is: Leaf },
): readonly Row[] =>
  (value as readonly StoredGroup[]).flatMap(([count, shape, stored]) => {
    const columns = stored.map((column) => valuesOf(column, count));
    const wanted = only ? columns[leafOf(shape, only.field)] : undefined;
    return Array.from({ length: count }, (_, at) => at)
      .filter((at) => only === undefined || wanted?.[at] === only.is)
      .map((at) => builtOf(shape, new RowLeaves(columns, at)) as Row);
  });

const valuesOf = (column: StoredColumn, count: number): readonly Leaf[] => {
  const values = typeof column === "string" ? column.slice(1).split(column[0] ?? "") : column;
  if (values.length === count) return values;
  if (values.length === 1) return Array.from({ length: count }, () => values[0] ?? null);
  throw new RangeError(`Cannot read ${count} rows: a column has ${values.length} values`);
};

/** The column of a field of the row itself; -1 for a shape without it. */
const leafOf = (shape: Shape, field: string): number => {
  let before = 0;
  for (const [name, inner] of Object.entries(shape)) {
    if (name === field && inner === 0) return before;
    before += leavesIn(inner as Shape);
  }
  return -1;
};

const leavesIn = (shape: Shape): number =>
  shape === 0 ? 1 : Object.values(shape).reduce((sum: number, one) => sum + leavesIn(one), 0);

/** The leaves of one row, each taken once. */
class RowLeaves {
  #taken = 0;
  readonly #columns: readonly (readonly Leaf[])[];
  readonly #row: number;

  constructor(columns: readonly (readonly Leaf[])[], row: number) {
    this.#columns = columns;
    this.#row = row;
  }

  take(): Leaf {
    const column = this.#columns[this.#taken++];
    if (!column) throw new RangeError("Cannot read rows: a column is missing");
    return column[this.#row] ?? null;
  }
}

const builtOf = (shape: Shape, leaves: RowLeaves): unknown => {
  if (shape === 0) return leaves.take();
  if (Array.isArray(shape)) return shape.map((one) => builtOf(one, leaves));
  return Object.fromEntries(
    Object.entries(shape).map(([field, inner]) => [field, builtOf(inner, leaves)]),
  );
};
