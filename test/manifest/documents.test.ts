import { describe, expect, it } from "vitest";
import { MAX_MANIFEST_BYTES, MAX_MANIFESTS, MAX_TEXT_CHARACTERS, readManifests } from "../../lib/manifest/documents.ts";
import { TidemarkError } from "../../lib/model/errors.ts";

const FILE = "hpa.yaml";
const places = (text: string) => readManifests(text, FILE).map(({ where, document }) => [where, document]);

const refusal = (text: string): TidemarkError => {
  try {
    readManifests(text, FILE);
  } catch (error) {
    if (error instanceof TidemarkError) return error;
    throw error;
  }
  throw new Error("it was read");
};

describe("readManifests()", () => {
  it("reads one document", () => expect(places("kind: A\n")).toEqual([["hpa.yaml", { kind: "A" }]]));

  it("reads JSON", () =>
    expect(places('{"kind": "A", "spec": {"maxReplicas": 3}}')).toEqual([["hpa.yaml", { kind: "A", spec: { maxReplicas: 3 } }]]));

  it("reads several documents and passes over empty ones", () =>
    expect(places("---\nkind: A\n---\n# nothing\n---\nkind: B\n")).toEqual([
      ["hpa.yaml, document 1", { kind: "A" }],
      ["hpa.yaml, document 2", { kind: "B" }],
    ]));

  it("reads a List", () =>
    expect(places("apiVersion: v1\nkind: List\nitems:\n- kind: A\n- kind: B\n")).toEqual([
      ["hpa.yaml, items[0]", { kind: "A" }],
      ["hpa.yaml, items[1]", { kind: "B" }],
    ]));

  it("reads a HorizontalPodAutoscalerList, whose items leave their kind to it", () =>
    expect(places("apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscalerList\nitems:\n- spec: {maxReplicas: 3}\n")).toEqual([
      ["hpa.yaml, items[0]", { apiVersion: "autoscaling/v1", kind: "HorizontalPodAutoscaler", spec: { maxReplicas: 3 } }],
    ]));

  it("keeps the kind that an item of a typed list says itself", () =>
    expect(places("apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscalerList\nitems:\n- apiVersion: autoscaling/v2\n")).toEqual([
      ["hpa.yaml, items[0]", { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" }],
    ]));

  it("reads a List of Lists, among documents", () =>
    expect(places("kind: A\n---\nkind: List\nitems:\n- kind: List\n  items: [{kind: B}]\n")).toEqual([
      ["hpa.yaml, document 1", { kind: "A" }],
      ["hpa.yaml, document 2, items[0], items[0]", { kind: "B" }],
    ]));

  it("reads anchors and merge keys", () =>
    expect(places("base: &base {a: 1, b: 2}\nother: {<<: *base, b: 3}\n")).toEqual([["hpa.yaml", { base: { a: 1, b: 2 }, other: { a: 1, b: 3 } }]]));

  it("knows the line of a field, and of what encloses an absent one", () => {
    const [, second] = readManifests("kind: A\n---\nkind: List\nitems:\n- kind: B\n  spec:\n    metrics:\n    - type: X\n    - type: Y\n", FILE).map(
      ({ lineOf }) => lineOf,
    );
    expect(
      ["kind", "spec.metrics[1].type", "spec.metrics[1].resource.name", "spec.maxReplicas", "metadata.name"].map((field) => second?.(field)),
    ).toEqual([5, 9, 9, 6, 5]);
  });

  it("knows the line of an annotation", () => {
    const text = 'metadata:\n  annotations:\n    a.b/c: "[]"\n';
    expect(readManifests(text, FILE)[0]?.lineOf('metadata.annotations["a.b/c"][0].pods')).toBe(3);
  });

  it.each([
    ["a duplicate key", "a: 1\nb:\n  c: 1\n  c: 2\n", 'Cannot read "hpa.yaml", line 4, column 3: the key "c" is written twice'],
    ["a duplicate key in JSON", '{"a": 1,\n "a": 2}', 'Cannot read "hpa.yaml", line 2, column 2: the key "a" is written twice'],
    ["two keys that are one name in JSON", '1: a\n"1": b\n', 'Cannot read "hpa.yaml", line 2, column 1: the key "1" is written twice'],
    ["broken YAML", "a: b: c\n", 'Cannot read "hpa.yaml", line 1, column 4: nested mappings are not allowed in compact mappings'],
    ["a tab", "a:\n\tb: 1\n", 'Cannot read "hpa.yaml", line 2, column 1: tabs are not allowed as indentation'],
    ["a tag nobody knows", "a: !secret b\n", 'Cannot read "hpa.yaml", line 1, column 4: unresolved tag: !secret'],
    ["an anchor that holds itself", "a: &a [*a]\n", 'Cannot read "hpa.yaml": an anchor holds itself'],
    ["an alias of nothing", "a: *nobody\n", 'Cannot read "hpa.yaml": unresolved alias (the anchor must be set before the alias): nobody'],
    ["no text", "", 'Cannot read "hpa.yaml": it holds no manifest'],
    ["comments only", "---\n# nothing\n---\n", 'Cannot read "hpa.yaml": it holds no manifest'],
    ["an empty List", "kind: List\nitems: []\n", 'Cannot read "hpa.yaml": it holds no manifest'],
    ["a List of no list", "kind: List\nitems: 5\n", 'Cannot read "hpa.yaml": "items" of a List must be a list'],
    [
      "Lists in Lists in Lists in Lists",
      "{kind: List, items: [{kind: List, items: [{kind: List, items: [{kind: List}]}]}]}",
      'Cannot read "hpa.yaml": lists are nested more than 3 deep',
    ],
  ])("refuses %s", (_, text, message) => {
    const error = refusal(text);
    expect([error.code, error.message]).toEqual(["manifest.unreadable", message]);
  });

  it("refuses anchors that would grow a small text into a large one", () => {
    const text = [
      "a: &a [1, 2, 3, 4, 5, 6, 7, 8]",
      "b: &b [*a, *a, *a, *a, *a, *a]",
      "c: &c [*b, *b, *b, *b, *b, *b]",
      "d: [*c, *c, *c, *c, *c, *c]",
    ].join("\n");
    expect(refusal(text).message).toBe('Cannot read "hpa.yaml": excessive alias count indicates a resource exhaustion attack');
  });

  it("refuses a nesting that would exhaust the stack", () => {
    const error = refusal(`a: ${"[".repeat(20_000)}`);
    expect(error.code).toBe("manifest.unreadable");
    expect(error.message).toMatch(/: it is nested too deeply$/);
  });

  it("finds the duplicate among thirty thousand keys in no more time than it takes to read them", () => {
    const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}: 1`).join("\n");
    expect(refusal(`${keys}\nk7: 2\n`).message).toBe('Cannot read "hpa.yaml", line 30001, column 1: the key "k7" is written twice');
  });

  it("reads a text at the limit and refuses one above it", () => {
    const atLimit = `kind: A\n#${"x".repeat(MAX_TEXT_CHARACTERS - 9)}`;
    expect(atLimit.length).toBe(MAX_TEXT_CHARACTERS);
    expect(places(atLimit)).toHaveLength(1);
    expect(refusal(`${atLimit}x`).message).toBe(
      `Cannot read "hpa.yaml": it has ${MAX_TEXT_CHARACTERS + 1} characters, and at most ${MAX_TEXT_CHARACTERS} are read; cut it into several files`,
    );
  });

  it("keeps a manifest at the limit and refuses one above it", () => {
    const atLimit = JSON.stringify({ kind: "A", note: "x".repeat(MAX_MANIFEST_BYTES - 22) });
    expect(Buffer.byteLength(atLimit)).toBe(MAX_MANIFEST_BYTES);
    expect(places(atLimit)).toHaveLength(1);
    expect(refusal(atLimit.replace("x", "xx")).message).toBe(
      `Cannot read "hpa.yaml": it has ${MAX_MANIFEST_BYTES + 1} bytes, and at most ${MAX_MANIFEST_BYTES} are kept`,
    );
  });

  it("reads as many manifests as the limit and refuses one more", () => {
    const items = (count: number) => `{kind: List, items: [${"{kind: A},".repeat(count)}]}`;
    expect(places(items(MAX_MANIFESTS))).toHaveLength(MAX_MANIFESTS);
    expect(refusal(items(MAX_MANIFESTS + 1)).message).toBe(
      `Cannot read "hpa.yaml": it holds ${MAX_MANIFESTS + 1} manifests, and at most ${MAX_MANIFESTS} are read; cut it into several files`,
    );
  });
});
