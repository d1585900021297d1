import { describe, expect, it } from "vitest";
import {
  MAX_MANIFEST_BYTES,
  MAX_MANIFESTS,
  MAX_TEXT_BYTES,
} from "../../lib/rules/manifest/budget.ts";
import { readManifests } from "../../lib/rules/manifest/documents.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";

const FILE = "hpa.yaml";
const places = (text: string) =>
  readManifests(text, FILE).map(({ where, document }) => [where, document]);

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
  it("reads one document", () =>
    expect(places("kind: A\n")).toEqual([["hpa.yaml", { kind: "A" }]]));

  it("reads JSON", () =>
    expect(places('{"kind": "A", "spec": {"maxReplicas": 3}}')).toEqual([
      ["hpa.yaml", { kind: "A", spec: { maxReplicas: 3 } }],
    ]));

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
    expect(
      places(
        "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscalerList\nitems:\n- spec: {maxReplicas: 3}\n",
      ),
    ).toEqual([
      [
        "hpa.yaml, items[0]",
        { apiVersion: "autoscaling/v1", kind: "HorizontalPodAutoscaler", spec: { maxReplicas: 3 } },
      ],
    ]));

  it("keeps the kind that an item of a typed list says itself", () =>
    expect(
      places(
        "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscalerList\nitems:\n- apiVersion: autoscaling/v2\n",
      ),
    ).toEqual([
      ["hpa.yaml, items[0]", { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" }],
    ]));

  it("reads a List of Lists, among documents", () =>
    expect(
      places("kind: A\n---\nkind: List\nitems:\n- kind: List\n  items: [{kind: B}]\n"),
    ).toEqual([
      ["hpa.yaml, document 1", { kind: "A" }],
      ["hpa.yaml, document 2, items[0], items[0]", { kind: "B" }],
    ]));

  it("reads anchors and merge keys", () =>
    expect(places("base: &base {a: 1, b: 2}\nother: {<<: *base, b: 3}\n")).toEqual([
      ["hpa.yaml", { base: { a: 1, b: 2 }, other: { a: 1, b: 3 } }],
    ]));

  it("knows the line of a field, and of what encloses an absent one", () => {
    const [, second] = readManifests(
      "kind: A\n---\nkind: List\nitems:\n- kind: B\n  spec:\n    metrics:\n    - type: V\n    - type: W\n",
      FILE,
    ).map(({ lineOf }) => lineOf);
    expect(
      [
        "kind",
        "spec.metrics[1].type",
        "spec.metrics[1].resource.name",
        "spec.maxReplicas",
        "metadata.name",
      ].map((field) => second?.(field)),
    ).toEqual([5, 9, 9, 6, 5]);
  });

  it("knows the line of an annotation", () => {
    const text = 'metadata:\n  annotations:\n    a.b/c: "[]"\n';
    expect(readManifests(text, FILE)[0]?.lineOf('metadata.annotations["a.b/c"][0].pods')).toBe(3);
  });

  it.each([
    [
      "a duplicate key",
      "a: 1\nb:\n  c: 1\n  c: 2\n",
      'Cannot read "hpa.yaml", line 4, column 3: the key "c" is written twice',
    ],
    [
      "a duplicate key in JSON",
      '{"a": 1,\n "a": 2}',
      'Cannot read "hpa.yaml", line 2, column 2: the key "a" is written twice',
    ],
    [
      "two keys that are one name in JSON",
      '1: a\n"1": b\n',
      'Cannot read "hpa.yaml", line 2, column 1: the key "1" is written twice',
    ],
    [
      "broken YAML",
      "a: b: c\n",
      'Cannot read "hpa.yaml", line 1, column 4: nested mappings are not allowed in compact mappings',
    ],
    [
      "a tab",
      "a:\n\tb: 1\n",
      'Cannot read "hpa.yaml", line 2, column 1: tabs are not allowed as indentation',
    ],
    [
      "an unknown tag",
      "a: !secret b\n",
      'Cannot read "hpa.yaml", line 1, column 4: unresolved tag: !secret',
    ],
    [
      "an anchor that holds itself",
      "a: &a [*a]\n",
      'Cannot read "hpa.yaml", line 1, column 8: an anchor contains itself',
    ],
    [
      "an alias of nothing",
      "a: *nothing\n",
      'Cannot read "hpa.yaml", line 1, column 4: the alias "nothing" has no anchor before it',
    ],
    ["no text", "", 'Cannot read "hpa.yaml": it contains no manifest'],
    ["comments only", "---\n# nothing\n---\n", 'Cannot read "hpa.yaml": it contains no manifest'],
    ["an empty List", "kind: List\nitems: []\n", 'Cannot read "hpa.yaml": it contains no manifest'],
    [
      "a List without items, whose name was mistyped",
      "kind: List\nitem: []\n",
      'Cannot read "hpa.yaml": a List needs "items"',
    ],
    [
      "a List of no list",
      "kind: List\nitems: 5\n",
      'Cannot read "hpa.yaml": "items" of a List must be a list',
    ],
    [
      "Lists in Lists in Lists in Lists",
      "{kind: List, items: [{kind: List, items: [{kind: List, items: [{kind: List, items: []}]}]}]}",
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
    expect(refusal(text).message).toBe(
      'Cannot read "hpa.yaml": excessive alias count indicates a resource exhaustion attack',
    );
  });

  it.each([
    [
      "yes",
      "metadata:\n  name: yes\n",
      'line 2, column 9: the word yes without quotes is a boolean for Kubernetes: write "yes" in quotes, or true or false',
    ],
    [
      "No as a key",
      "labels: {No: a}\n",
      'line 1, column 10: the word No without quotes is a boolean for Kubernetes: write "No" in quotes, or true or false',
    ],
    [
      "y",
      "- y\n",
      'line 1, column 3: the word y without quotes is a boolean for Kubernetes: write "y" in quotes, or true or false',
    ],
    [
      "an octal number",
      "a: 010\n",
      "line 1, column 4: the number 010 is octal for Kubernetes: write it without the leading 0, or in quotes",
    ],
  ])("refuses %s, which Kubernetes reads as something else", (_, text, why) =>
    expect(refusal(text).message).toBe(`Cannot read "hpa.yaml", ${why}`),
  );

  it("takes the same words and numbers in quotes, and as part of others", () =>
    expect(places(`a: ["yes", 'no', "010", yesterday, on-call, 0, 0.5, 10]\n`)).toEqual([
      ["hpa.yaml", { a: ["yes", "no", "010", "yesterday", "on-call", 0, 0.5, 10] }],
    ]));

  it.each([
    [
      "spec:\n  maxReplicas: {{ .Values.max }}\n",
      "line 2, column 17: a key must be a text, not a list, an object or an alias",
    ],
    ["{{- if .Values.on }}\nkind: A\n{{- end }}\n", "line 1, column 3: "],
    ["kind: A\n{{ include this }}\n", "line 2, column 1: "],
  ])("says of a template that it must be rendered, and nothing else is printed", (text, why) => {
    const printed: unknown[] = [];
    const listener = (warning: Error): unknown => printed.push(warning);
    process.on("warning", listener);
    const { message } = refusal(text);
    process.off("warning", listener);
    expect(message.startsWith(`Cannot read "hpa.yaml", ${why}`)).toBe(true);
    expect(message).toMatch(/; this line is part of a template; render the template first$/);
    expect(printed).toEqual([]);
  });

  it("keeps repeated keys where it is asked to: the last one counts, and each is told with its line", () => {
    const [first, second] = readManifests(
      "kind: List\nitems:\n- {a: 1, a: 2}\n- b: 1\n  b: 2\n",
      FILE,
      { repeatedKeys: "keep" },
    );
    expect([first?.document, second?.document]).toEqual([{ a: 2 }, { b: 2 }]);
    expect([first?.repeatedKeys, second?.repeatedKeys]).toEqual([
      [
        { name: "a", line: 3 },
        { name: "b", line: 5 },
      ],
      undefined,
    ]);
  });

  it("finds the duplicate among thirty thousand keys in no more time than it takes to read them", () => {
    const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}: 1`).join("\n");
    expect(refusal(`${keys}\nk7: 2\n`).message).toBe(
      'Cannot read "hpa.yaml", line 30001, column 1: the key "k7" is written twice',
    );
  });

  it("reads a text at the limit and refuses one above it", () => {
    const atLimit = `kind: A\n#${"x".repeat(MAX_TEXT_BYTES - 9)}`;
    expect(Buffer.byteLength(atLimit)).toBe(MAX_TEXT_BYTES);
    expect(places(atLimit)).toHaveLength(1);
    expect(refusal(`${atLimit}x`).message).toBe(
      `Cannot read "hpa.yaml": it has ${MAX_TEXT_BYTES + 1} bytes, and the limit is ${MAX_TEXT_BYTES}; divide it into several files`,
    );
  });

  it("keeps a manifest at the limit and refuses one above it", () => {
    const atLimit = JSON.stringify({ kind: "A", note: "x".repeat(MAX_MANIFEST_BYTES - 22) });
    expect(Buffer.byteLength(atLimit)).toBe(MAX_MANIFEST_BYTES);
    expect(places(atLimit)).toHaveLength(1);
    expect(refusal(atLimit.replace("x", "xx")).message).toBe(
      `Cannot read "hpa.yaml": it has more than ${MAX_MANIFEST_BYTES} bytes as JSON, which is the limit of one manifest`,
    );
  });

  it("reads as many manifests as the limit and refuses one more", () => {
    const items = (count: number) => `{kind: List, items: [${"{kind: A},".repeat(count)}]}`;
    expect(places(items(MAX_MANIFESTS))).toHaveLength(MAX_MANIFESTS);
    expect(refusal(items(MAX_MANIFESTS + 1)).message).toBe(
      `Cannot read "hpa.yaml": one step has more than ${MAX_MANIFESTS} manifests; apply it in several steps`,
    );
  });
});
