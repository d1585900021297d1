import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node } from "yaml";

/** Finds the line of a field path such as `spec.metrics[0].type`. For an absent field it is the line of the nearest enclosing field; `undefined` for an empty document. */
export const linesOf =
  (document: Document.Parsed, counter: LineCounter) =>
  (field: string): number | undefined => {
    let node: unknown = document.contents;
    let offset = startOf(node);
    for (const step of stepsOf(field)) {
      const next = childOf(isAlias(node) ? node.resolve(document) : node, step);
      if (!next) break;
      offset = next.offset ?? offset;
      node = next.value;
    }
    return offset === undefined ? undefined : counter.linePos(offset).line;
  };

const STEP = /\["([^"]*)"\]|\[(\d+)\]|([^.[\]]+)/g;

const stepsOf = (field: string): (string | number)[] =>
  [...field.matchAll(STEP)].map(([, quoted, index, name]) => (index === undefined ? (quoted ?? name ?? "") : Number(index)));

interface Child {
  readonly offset: number | undefined;
  readonly value: unknown;
}

/** A member starts at its key, an item at itself. */
const childOf = (node: unknown, step: string | number): Child | undefined => {
  if (isSeq(node) && typeof step === "number") {
    const item = node.items[step];
    return item === undefined ? undefined : { offset: startOf(item), value: item };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  return pair && { offset: startOf(pair.key), value: pair.value };
};

const startOf = (node: unknown): number | undefined => (node as Node | null)?.range?.[0];
