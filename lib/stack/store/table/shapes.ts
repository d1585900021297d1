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

/**
 * The shape of a value as JSON, and its leaves in the order of the shape. A sync makes these of
 * each autoscaler once a minute, so that nothing but the text is made.
 */
const shapeText = (value: unknown, leaves: Leaf[]): string => {
  if (value === null || typeof value !== "object") {
    leaves.push((value ?? null) as Leaf);
    return "0";
  }
  let text = "";
  if (Array.isArray(value)) {
    for (const one of value) text += `${text && ","}${shapeText(one, leaves)}`;
    return `[${text}]`;
  }
  for (const field of Object.keys(value)) {
    const inner: unknown = Reflect.get(value, field);
    if (inner !== undefined)
      text += `${text && ","}${fieldText(field)}:${shapeText(inner, leaves)}`;
  }
  return `{${text}}`;
};

/** Most fields have a name of letters only. */
const fieldText = (field: string): string =>
  /^[A-Za-z]+$/.test(field) ? `"${field}"` : JSON.stringify(field);

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
 * The rows of such a value; with `only`, those whose field has this value; with `fields`, these
 * fields of each, so that the columns of the others are not looked at. It throws for a column
 * that is cut off, because each row below it would have the values of another row. A group without
 * such a row is passed over.
 */
export const shapesToRows = <Row>(
  value: unknown,
  only?: { readonly field: string; readonly is: Leaf },
  fields?: ReadonlySet<string>,
): readonly Row[] =>
  (value as readonly StoredGroup[]).flatMap((group) => {
    const [count, shape, stored] = group;
    const rows = only
      ? rowsWith(only.is, stored[leafOf(shape, only.field)], count)
      : rowsUpTo(count);
    if (rows.length === 0) return [];
    const [, madeShape, madeOf] = fields ? partOf(group, fields) : group;
    const columns = madeOf.map((column) => valuesOf(column, count));
    const make = makerOf(madeShape);
    return rows.map((at) => make(new RowLeaves(columns, at)) as Row);
  });

const rowsWith = (
  wanted: Leaf,
  column: StoredColumn | undefined,
  count: number,
): readonly number[] => {
  if (column === undefined) return [];
  const values = valuesOf(column, count);
  return rowsUpTo(count).filter((at) => valueIn(values, at) === wanted);
};

const rowsUpTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

const valueIn = (values: readonly Leaf[], row: number): Leaf =>
  (values.length === 1 ? values[0] : values[row]) ?? null;

/** The values of a column, one for each row or one for all of them. */
const valuesOf = (column: StoredColumn, count: number): readonly Leaf[] => {
  const values = typeof column === "string" ? column.slice(1).split(column[0] ?? "") : column;
  if (values.length === count || values.length === 1) return values;
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

/** A group with these fields of its rows only. */
const partOf = (group: StoredGroup, fields: ReadonlySet<string>): StoredGroup => {
  const [count, shape, stored] = group;
  if (shape === 0 || Array.isArray(shape)) return group;
  const kept: [string, Shape][] = [];
  const columns: StoredColumn[] = [];
  let before = 0;
  for (const [field, inner] of Object.entries(shape as { readonly [name: string]: Shape })) {
    const after = before + leavesIn(inner);
    if (fields.has(field)) {
      kept.push([field, inner]);
      columns.push(...stored.slice(before, after));
    }
    before = after;
  }
  return [count, Object.fromEntries(kept), columns];
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
    return valueIn(column, this.#row);
  }
}

/** What makes the rows of a shape: the shape is looked through once for all of them. */
const makerOf = (shape: Shape): ((leaves: RowLeaves) => unknown) => {
  if (shape === 0) return (leaves) => leaves.take();
  if (Array.isArray(shape)) {
    const makers = shape.map(makerOf);
    return (leaves) => makers.map((make) => make(leaves));
  }
  const fields = Object.entries(shape).map(([field, inner]) => [field, makerOf(inner)] as const);
  // Assigned to an object, this field would be its prototype.
  if (Object.hasOwn(shape, "__proto__"))
    return (leaves) => Object.fromEntries(fields.map(([field, make]) => [field, make(leaves)]));
  return (leaves) => {
    const made: Record<string, unknown> = {};
    for (const [field, make] of fields) made[field] = make(leaves);
    return made;
  };
};
