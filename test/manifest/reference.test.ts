import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FORMS } from "../../lib/rules/manifest/other-kinds.ts";
import { admit } from "../../lib/rules/manifest/admit.ts";
import {
  MAX_ALIASES,
  MAX_DEPTH,
  MAX_DOCUMENTS,
  MAX_LEXEMES,
  MAX_MANIFESTS,
  MAX_NODES,
  MAX_STEP_BYTES,
  MAX_TEXT_BYTES,
  MAX_MANIFEST_BYTES,
} from "../../lib/rules/manifest/budget.ts";
import { readManifests } from "../../lib/rules/manifest/documents.ts";
import { MAX_CONSTRAINT_SECONDS } from "../../lib/rules/manifest/hpa/constraints.ts";
import {
  MAX_PERIOD_SECONDS,
  MAX_STABILIZATION_SECONDS,
} from "../../lib/rules/manifest/hpa/validate-behavior.ts";
import { admitted } from "./manifests.ts";

const reference = readFileSync(new URL("../../docs/manifests.md", import.meta.url), "utf8");
const blocks = [...reference.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) => yaml);
const examples = blocks.flatMap((yaml, index) => readManifests(yaml, `example ${index + 1}`));

describe("docs/manifests.md", () => {
  it("has examples to check", () => expect(examples.length).toBeGreaterThanOrEqual(9));

  it.each(examples)("has an example that is admitted without a warning: $where", ({ document }) =>
    expect(admit(document)).toMatchObject({ ok: true, warnings: [] }),
  );

  it("shows an example of every form, and names every form", () => {
    const forms = FORMS.map(({ apiVersion }) => apiVersion);
    const shown = new Set(
      examples.map(({ document }) => (document as { apiVersion: string }).apiVersion),
    );
    // v2beta1 has the fields of v2alpha1 and shares its section.
    expect(forms.filter((apiVersion) => !shown.has(apiVersion))).toEqual(["autoscaling/v2beta1"]);
    for (const apiVersion of forms) expect(reference).toContain(`\`${apiVersion}\``);
  });

  it("names the limits that the code has", () => {
    const grouped = (count: number): string => count.toLocaleString("en");
    const limits = [
      [MAX_MANIFEST_BYTES, "128 KiB of JSON", "a manifest"],
      [MAX_TEXT_BYTES, "2 MiB of UTF-8", "a file"],
      [MAX_STEP_BYTES, "5 MB", "a step"],
      [MAX_MANIFESTS, `${grouped(MAX_MANIFESTS)} manifests`, "a step"],
      [MAX_DOCUMENTS, `${grouped(MAX_DOCUMENTS)} YAML documents, empty ones included`, "a step"],
      [MAX_LEXEMES, `${grouped(MAX_LEXEMES)} YAML tokens`, "a step"],
      [
        MAX_NODES,
        `${grouped(MAX_NODES)} keys and values, counted with what aliases repeat`,
        "a step",
      ],
      [MAX_DEPTH, `${MAX_DEPTH} lists and objects inside each other`, "a document"],
      [MAX_ALIASES, `${MAX_ALIASES} aliases`, "a document"],
    ] as const;
    expect(limits.map(([limit]) => limit)).toEqual([
      131_072, 2_097_152, 5_000_000, 1_000, 5_000, 1_000_000, 500_000, 100, 100,
    ]);
    for (const [, most, per] of limits) expect(reference).toContain(`| ${per} | ${most} |`);
    expect([...reference.matchAll(/1 to 1800\. Scale events/g)]).toHaveLength(
      MAX_PERIOD_SECONDS === 1_800 ? 1 : 0,
    );
    expect([...reference.matchAll(/0 to 3600\./g)]).toHaveLength(
      MAX_STABILIZATION_SECONDS === 3_600 ? 1 : 0,
    );
    expect([...reference.matchAll(/[01] to 86400[.;]/g)]).toHaveLength(
      MAX_CONSTRAINT_SECONDS === 86_400 ? 2 : 0,
    );
  });

  it("says what the examples say: one pod a minute up, never down", () => {
    const careful = admitted(examples.at(-1)?.document).spec.behavior;
    expect([careful?.scaleUp.policies, careful?.scaleDown.selectPolicy]).toEqual([
      [{ type: "Pods", value: 1, periodSeconds: 60 }],
      "Disabled",
    ]);
  });

  it("quotes a message as it is", () =>
    expect(reference).toContain(
      'spec.maxReplicas is required; rename "spec.maxReplica" to "spec.maxReplicas"',
    ));
});
