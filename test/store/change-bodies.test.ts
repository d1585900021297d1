import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChangeRecord } from "../../lib/rules/model/changes.ts";
import { autoscalerName, clusterName, namespace } from "../../lib/rules/model/ids.ts";
import {
  baseKeyOf,
  type ChangeBase,
  changeBody,
  changeText,
} from "../../lib/stack/store/history/changes.ts";
import type { HistoryItem } from "../../lib/stack/store/history/item.ts";
import { changeKey, clusterChangeKey } from "../../lib/stack/store/table/keys.ts";
import { NOON } from "../noon.ts";

const CLUSTER = clusterName("eu-1");
const change = (generation: number, parts: Partial<ChangeRecord>): ChangeRecord => ({
  cluster: CLUSTER,
  namespace: namespace("shop"),
  name: autoscalerName("web"),
  id: `0b0cf6ee-57de-4a07-8d6e-4f1d1a9c2b73:${generation}`,
  atMs: NOON + generation,
  by: 'field manager "kubectl"',
  verb: "apply",
  baseGeneration: generation - 1,
  ...parts,
});

const itemOf = (one: ChangeRecord, body: HistoryItem["body"]): HistoryItem => ({
  ...changeKey(one, one.id),
  body,
  ttlSeconds: 0,
});
const read = (item: HistoryItem, base?: ChangeBase): unknown =>
  JSON.parse(Buffer.from(changeText(item, base?.text)).toString());

const baseOf = (one: ChangeRecord): ChangeBase => {
  const { body, isWhole } = changeBody(one, undefined);
  if (!isWhole) throw new TypeError("a change without a base is whole");
  return { id: one.id, text: changeText(itemOf(one, body)), bytes: body.length };
};

/** 80 KB that do not shrink. */
const LARGE = Array.from({ length: 2_000 }, (_, at) =>
  Buffer.from(Array.from({ length: 20 }, (_byte, of) => (at * 7919 + of * 104_729) % 251)).toString(
    "hex",
  ),
).join();
const manifest = (max: number, note = LARGE): string =>
  JSON.stringify({ kind: "PodAutoscaler", spec: { maxReplicas: max, note } });

describe("the body of a change", () => {
  it("is some hundred bytes for an edit of one field of 80 KB, because it says only what differs from an earlier change", () => {
    const base = baseOf(change(1, { after: manifest(10) }));
    const edit = change(9, { before: manifest(17), after: manifest(18) });
    const { body, isWhole } = changeBody(edit, base);
    expect(isWhole).toBe(false);
    expect(body.length).toBeLessThan(400);
    const item = itemOf(edit, body);
    expect(baseKeyOf(item, CLUSTER)).toEqual(changeKey(edit, base.id));
    expect(baseKeyOf({ ...item, ...clusterChangeKey(CLUSTER, edit) }, CLUSTER)).toEqual(
      changeKey(edit, base.id),
    );
    expect(read(item, base)).toEqual(edit);
  });

  it("is always read back whole, whatever the manifests before and after hold", () => {
    const texts = fc.string({ unit: "binary", maxLength: 2_000 });
    fc.assert(
      fc.property(
        texts,
        texts,
        texts,
        fc.option(texts, { nil: undefined }),
        (first, before, after, rival) => {
          const base = baseOf(change(1, { after: first }));
          const edit = change(2, { before, after, ...(rival !== undefined && { rival }) });
          for (const of of [undefined, base]) {
            const { body, isWhole } = changeBody(edit, of);
            expect(read(itemOf(edit, body), isWhole ? undefined : base)).toEqual(edit);
          }
        },
      ),
    );
  });

  it("is whole again where almost nothing is as in the earlier change", () => {
    const base = baseOf(change(1, { after: manifest(10) }));
    expect(
      changeBody(change(2, { after: manifest(10, [...LARGE].toReversed().join("")) }), base)
        .isWhole,
    ).toBe(true);
  });

  it("cannot be read with damage, with another base or without its base, and the error names the change", () => {
    const base = baseOf(change(1, { after: manifest(10) }));
    const edit = change(2, { before: manifest(10), after: manifest(11) });
    const item = itemOf(edit, changeBody(edit, base).body);
    const other = baseOf(change(1, { after: manifest(99, "other") }));
    const damaged = itemOf(edit, Buffer.from(item.body).fill(7, item.body.length - 20));
    for (const attempt of [
      () => read(item),
      () => read(item, other),
      () => read(damaged, base),
      () => read(itemOf(edit, Buffer.of(9)), base),
    ])
      expect(attempt).toThrow(
        /^Cannot read the change "change#0b0cf6ee-57de-4a07-8d6e-4f1d1a9c2b73:2": /,
      );
  });
});
