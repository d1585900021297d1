import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { admit } from "../../lib/manifest/admit.ts";
import { MAX_ALIASES, MAX_MANIFEST_BYTES, MAX_MANIFESTS, MAX_TEXT_CHARACTERS, readManifests } from "../../lib/manifest/documents.ts";
import { FORMS } from "../../lib/manifest/forms.ts";
import { MAX_CONSTRAINT_SECONDS } from "../../lib/manifest/hpa/constraints.ts";
import { MAX_PERIOD_SECONDS, MAX_STABILIZATION_SECONDS } from "../../lib/manifest/hpa/validate-behavior.ts";
import { admitted } from "./manifests.ts";

const reference = readFileSync(new URL("../../docs/manifests.md", import.meta.url), "utf8");
const blocks = [...reference.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) => yaml);
const examples = blocks.flatMap((yaml, index) => readManifests(yaml, `example ${index + 1}`));

describe("docs/manifests.md", () => {
  it("has examples", () => expect(examples.length).toBeGreaterThanOrEqual(9));

  it.each(examples)("has an example that is admitted without a warning: $where", ({ document }) =>
    expect(admit(document)).toMatchObject({ ok: true, warnings: [] }),
  );

  it("shows an example of every form, and names every form", () => {
    const forms = FORMS.map(({ apiVersion }) => apiVersion);
    const shown = new Set(examples.map(({ document }) => (document as { apiVersion: string }).apiVersion));
    // v2beta1 has the fields of v2alpha1 and shares its section.
    expect(forms.filter((apiVersion) => !shown.has(apiVersion))).toEqual(["autoscaling/v2beta1"]);
    for (const apiVersion of forms) expect(reference).toContain(`\`${apiVersion}\``);
  });

  it("names the limits that the code has", () => {
    expect([MAX_TEXT_CHARACTERS, MAX_MANIFEST_BYTES, MAX_MANIFESTS, MAX_ALIASES]).toEqual([2 * 1024 * 1024, 128 * 1024, 5_000, 100]);
    expect(reference).toContain("At most 2 MiB of text and 5,000 manifests in one file, 128 KiB of JSON for one manifest, 100 aliases");
    expect([...reference.matchAll(/1 to 1800\. Scale events/g)]).toHaveLength(MAX_PERIOD_SECONDS === 1_800 ? 1 : 0);
    expect([...reference.matchAll(/0 to 3600\./g)]).toHaveLength(MAX_STABILIZATION_SECONDS === 3_600 ? 1 : 0);
    expect([...reference.matchAll(/[01] to 86400[.;]/g)]).toHaveLength(MAX_CONSTRAINT_SECONDS === 86_400 ? 2 : 0);
  });

  it("says what the examples say: one pod a minute up, never down", () => {
    const careful = admitted(examples.at(-1)?.document).spec.behavior;
    expect([careful?.scaleUp.policies, careful?.scaleDown.selectPolicy]).toEqual([[{ type: "Pods", value: 1, periodSeconds: 60 }], "Disabled"]);
  });

  it("quotes a message as it is", () =>
    expect(reference).toContain('spec.maxReplicas is required; rename "spec.maxReplica" to "spec.maxReplicas" (and 1 further problem)'));
});
