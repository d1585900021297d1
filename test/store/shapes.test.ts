import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packed } from "../../lib/stack/store/table/compressed.ts";
import { rowsToShapes, shapesToRows } from "../../lib/stack/store/table/shapes.ts";
import { runs } from "../runs.ts";

const back = (rows: readonly object[]): readonly unknown[] =>
  shapesToRows(JSON.parse(rowsToShapes(rows)));

/** As JSON has it: no "-0", and no field without a value. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
/** Rows of one shape come together, so that only what is in them counts. */
const sorted = (rows: readonly unknown[]): readonly string[] =>
  rows.map((row) => JSON.stringify(row)).toSorted();

describe("rows by shape", () => {
  const leaf = fc.oneof(
    fc.constantFrom(null, true, 0, -1, 0.25, "", ",", "a,b|c;d~e^f", "2658m", "__proto__"),
    fc.string({ unit: "grapheme" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const { row } = fc.letrec<{ value: unknown; row: object }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      tie("row"),
    ),
    row: fc.dictionary(fc.constantFrom("a", "b", "c", "0", "10", "__proto__"), tie("value"), {
      maxKeys: 4,
    }),
  }));

  it("are always the same rows after they were read", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 8 }), (rows) => {
        expect(sorted(back(rows))).toEqual(sorted(rows.map(plain)));
      }),
      runs(200),
    );
  });

  it("keep their order within a shape, and leave out fields without a value", () => {
    const rows = [{ a: 1, b: undefined }, { a: "x", b: 2 }, { a: 3 }];
    expect(back(rows)).toEqual([{ a: 1 }, { a: 3 }, { a: "x", b: 2 }]);
  });

  it("keep a field that would be the prototype of an object", () => {
    const rows = [JSON.parse('{"a":1,"__proto__":{"b":2}}')] as readonly object[];
    expect(JSON.stringify(back(rows))).toBe('[{"a":1,"__proto__":{"b":2}}]');
  });

  it("are read one by one by a field of theirs", () => {
    const rows = [
      { inner: { uid: "2" }, uid: "1", n: 1 },
      { inner: { uid: "1" }, uid: "2", n: 2 },
      { uid: "1", n: 3 },
      { n: 4 },
    ];
    const only = (is: string) =>
      shapesToRows(JSON.parse(rowsToShapes(rows)), { field: "uid", is }) as readonly object[];
    expect(only("1")).toEqual([rows[0], rows[2]]);
    expect(only("3")).toEqual([]);
  });

  it("are read with some of their fields, whatever lies between", () => {
    const rows = [
      { uid: "1", inner: { a: 1, b: [2, 3] }, n: 1 },
      { uid: "2", inner: { a: 4, b: [5, 6] }, n: 1 },
      { uid: "3", n: 7 },
      { inner: { a: 8 } },
    ];
    const stored: unknown = JSON.parse(rowsToShapes(rows));
    expect(shapesToRows(stored, undefined, new Set(["n", "uid"]))).toEqual([
      { uid: "1", n: 1 },
      { uid: "2", n: 1 },
      { uid: "3", n: 7 },
      {},
    ]);
    expect(shapesToRows(stored, { field: "uid", is: "2" }, new Set(["inner"]))).toEqual([
      { inner: { a: 4, b: [5, 6] } },
    ]);
  });

  it("of which a column is cut off are refused, because each row would have the values of another", () => {
    const rows = [{ a: 1 }, { a: 2 }, { a: 3 }];
    for (const column of [[1, 2], ",1,2"])
      expect(() => shapesToRows([[rows.length, { a: 0 }, [column]]])).toThrow(RangeError);
    expect(() => shapesToRows([[1, { a: 0, b: 0 }, [[1]]]])).toThrow(RangeError);
  });

  it("differ by little where one column changed", () => {
    const text = (change: number): Buffer =>
      Buffer.from(
        rowsToShapes(
          Array.from({ length: 100 }, (_, at) => ({
            name: `app-${at * 7919}`,
            message: "the desired count is within the acceptable range",
            value: `${(at * 7919 * change) % 1000}m`,
          })),
        ),
      );
    // Three digits of each row, and little else.
    expect(packed(text(3), text(1)).length).toBeLessThan(300);
  });
});
