import fc from "fast-check";
import { beforeAll, expect, inject, it } from "vitest";
import { admit } from "../../lib/rules/manifest/admit.ts";
import { podAutoscalerDefinition } from "../../lib/rules/manifest/crd/definition.ts";
import { type ApiCalls, apiCalls } from "../control-plane/api-calls.ts";
import { altered, COMPLETE } from "../manifest/native/altered.ts";
import { CONTRADICTIONS, document, entry } from "../manifest/native/contradictions.ts";
import { objectsFor, OWN_RULES, specWith } from "../manifest/native/rule-objects.ts";
import { isPodAutoscaler, SHIPPED } from "../manifest/shipped.ts";
import { DIFFERENCES, ROWS } from "./crd-differences.ts";
import { POD_AUTOSCALERS } from "./definitions.ts";
import { onServer } from "./on-server.ts";

const CREATED = 201;
const RUNS = 1_500;
const SOME = 100;
/** Objects that each rule is played with. */
const RUNS_OF_RULE = 20;

/** A fraction has a row of its own in the table, so that it is quoted here. */
const quoted = (value: unknown): unknown => {
  if (typeof value === "number") return Number.isInteger(value) ? value : String(value);
  if (Array.isArray(value)) return value.map(quoted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, quoted(member)]));
};

/**
 * The server asks for a namespace that exists; names of namespaces are not a matter of the
 * definition.
 */
const inDefault = (manifest: unknown): object => {
  const { metadata, ...rest } = manifest as { readonly metadata?: unknown };
  const named =
    typeof metadata === "object" && metadata !== null && !Array.isArray(metadata)
      ? { ...metadata, namespace: "default" }
      : metadata;
  return { ...rest, ...(named !== undefined && { metadata: named }) };
};

/** A cell of the table of the page. */
const sideOf = (cell: string): "accepts" | "refuses" =>
  cell.startsWith("refused") ? "refuses" : "accepts";

interface Both {
  readonly apply: "accepts" | "refuses";
  readonly server: "accepts" | "refuses";
  /** What each side says, for a person who reads a failure. */
  readonly words: string;
}

onServer("the definition that tidemark crd prints, on a real API server", () => {
  let calls: ApiCalls;
  beforeAll(async () => {
    const { url, ca, adminToken: token, missing } = inject("cluster");
    if (missing !== undefined) return;
    calls = apiCalls({ url, ca, token });
    return () => calls.close();
  });

  /** As `tidemark apply` and `kubectl apply --dry-run=server`, which both refuse unknown fields. */
  const judged = async (given: unknown): Promise<Both> => {
    const manifest = inDefault(given);
    const admission = admit(manifest, { validation: "strict" });
    const path = `${POD_AUTOSCALERS}/namespaces/default/podautoscalers?dryRun=All&fieldValidation=Strict`;
    const { status, body } = await calls.call("POST", path, manifest);
    const words = `apply: ${admission.ok ? "" : JSON.stringify(admission.problems)} server: ${status === CREATED ? "" : body}`;
    return {
      apply: admission.ok ? "accepts" : "refuses",
      server: status === CREATED ? "accepts" : "refuses",
      words,
    };
  };

  it("leaves room in what the server estimates a rule to cost: bounds eight times as large are still accepted", async () => {
    const text = JSON.stringify(podAutoscalerDefinition()).replaceAll("tidemark.dev", "room.dev");
    const larger = text.replaceAll(
      /"(max(?:Items|Length|Properties))":(\d+)/g,
      (_, name, bound) => `"${name}":${Number(bound) * 8}`,
    );
    expect(larger).not.toBe(text);
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All";
    const { status, body } = await calls.call("POST", path, JSON.parse(larger));
    expect([status, status === CREATED ? "" : body]).toEqual([CREATED, ""]);
  });

  it("accepts every PodAutoscaler of the examples and the pages", async () => {
    const manifests = SHIPPED.filter((one) => isPodAutoscaler(one.document));
    expect(manifests.length).toBeGreaterThan(4);
    for (const { document: manifest, where } of manifests)
      expect([where, await judged(quoted(manifest))]).toMatchObject([where, { server: "accepts" }]);
  });

  it("accepts manifests that use every field, and refuses every contradiction between fields", async () => {
    for (const manifest of COMPLETE)
      expect(await judged(quoted(manifest))).toMatchObject({ apply: "accepts", server: "accepts" });
    const others: unknown[] = [];
    for (const [what, spec] of CONTRADICTIONS) {
      const manifest = quoted(document(spec));
      const isKnown = DIFFERENCES.some(
        ({ refusedBy, covers }) => refusedBy === "apply" && covers(manifest),
      );
      const { apply, server } = await judged(manifest);
      if (apply !== "refuses" || (server !== "refuses" && !isKnown))
        others.push([what, apply, server]);
    }
    expect(others).toEqual([]);
  });

  it("always accepts and refuses the same manifests as tidemark apply, but for the rows of the page", async () => {
    const seen = { same: 0, accepted: 0 };
    const property = fc.asyncProperty(altered, async (given) => {
      const manifest = quoted(given);
      const { apply, server, words } = await judged(manifest);
      if (apply !== server && DIFFERENCES.some(({ covers }) => covers(manifest))) return;
      expect([words, server]).toEqual([words, apply]);
      seen.same += 1;
      if (server === "accepts") seen.accepted += 1;
    });
    await fc.assert(property, { numRuns: RUNS });
    expect(seen.accepted).toBeGreaterThan(SOME);
    expect(seen.same - seen.accepted).toBeGreaterThan(SOME);
  });

  it("always accepts and refuses the same objects as tidemark apply, for each rule between fields", async () => {
    const seen = { accepted: 0, refused: 0 };
    const base = document({
      ...entry({}),
      scaleUp: { policies: [{ type: "Pods", value: 4, periodSeconds: 60 }] },
      scaleDown: {},
    });
    for (const placed of OWN_RULES) {
      const property = fc.asyncProperty(objectsFor(placed), async (object) => {
        const manifest = quoted({ ...base, spec: specWith(base.spec, placed, object) });
        const { apply, server, words } = await judged(manifest);
        if (apply !== server && DIFFERENCES.some(({ covers }) => covers(manifest))) return;
        expect([manifest, words, server]).toEqual([manifest, words, apply]);
        seen[server === "accepts" ? "accepted" : "refused"] += 1;
      });
      await fc.assert(property, { numRuns: RUNS_OF_RULE });
    }
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(SOME);
  });

  it("differs from tidemark apply where the page says so, each row with manifests that show it", async () => {
    expect(ROWS.map(([row]) => row)).toEqual(DIFFERENCES.map(({ row }) => row));
    for (const [row, apply, server] of ROWS) {
      const wanted = { apply: sideOf(apply), server: sideOf(server) };
      const { refusedBy, examples } = DIFFERENCES.find((one) => one.row === row) ?? {
        refusedBy: "",
        examples: [],
      };
      expect([row, wanted[refusedBy as keyof typeof wanted]]).toEqual([row, "refuses"]);
      for (const example of examples)
        expect([row, await judged(example)]).toMatchObject([row, wanted]);
    }
  });
});
