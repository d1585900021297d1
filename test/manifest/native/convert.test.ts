import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Admitted, admit } from "../../../lib/rules/manifest/admit.ts";
import { readManifests } from "../../../lib/rules/manifest/documents.ts";
import { convertedForm } from "../../../lib/rules/manifest/native/convert.ts";

const EXAMPLES = new URL("../../../examples/", import.meta.url);
const examples = readdirSync(EXAMPLES)
  .filter((file) => file.endsWith(".yaml"))
  .flatMap((file) => readManifests(readFileSync(new URL(file, EXAMPLES), "utf8"), file));

const admitted = (document: unknown): Admitted => {
  const admission = admit(document);
  if (!admission.ok) throw new Error(JSON.stringify(admission.problems));
  return admission;
};

const WEB = {
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 9,
  },
};

describe("convert()", () => {
  it("sees manifests of every form", () =>
    expect(new Set(examples.map(({ document }) => admitted(document).spec.dialect)).size).toBe(4));

  it.each(examples)(
    "converts $where to the same spec, and a second time to the same manifest",
    ({ document }) => {
      const { spec, ...given } = admitted(document);
      const conversion = convertedForm({ ...given, spec });
      if (conversion.kind === "refused") throw new Error(conversion.rule);
      const again = admitted(conversion.document);
      expect(again.spec).toEqual(spec);
      expect(convertedForm(again)).toEqual(conversion);
    },
  );

  it("refuses what would be decided by another value, and names the rule", () => {
    const { stored, spec } = admitted(WEB);
    expect(convertedForm({ stored, spec: { ...spec, minReplicas: 2 } })).toEqual({
      kind: "refused",
      rule: "minReplicas",
      message: "the result would decide with another value",
    });
  });

  it("refuses what would not be accepted, and names the field", () => {
    const { stored, spec } = admitted(WEB);
    expect(
      convertedForm({ stored: { ...stored, spec: { ...WEB.spec, maxReplicas: 0 } }, spec }),
    ).toMatchObject({
      kind: "refused",
      rule: "spec.maxReplicas",
    });
  });
});
