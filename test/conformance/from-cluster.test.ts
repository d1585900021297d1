import { describe, expect, it } from "vitest";
import { specObject } from "../../lib/stack/cluster/specs/list-specs.ts";
import { admit } from "../../lib/rules/manifest/admit.ts";
import { isObject } from "../../lib/rules/model/json.ts";
import { SPEC_KINDS } from "../../lib/rules/model/spec.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { recordedFile, recordedPaths } from "./recorded.ts";
import { firstFailure } from "./registry.ts";
import type { VectorCase } from "./vector-file.ts";

const KIND = {
  apiVersion: "datadoghq.com/v1alpha1",
  kind: "WatermarkPodAutoscaler",
  annotations: SPEC_KINDS.flatMap(({ kind, annotations }) =>
    kind === "WatermarkPodAutoscaler" ? annotations : [],
  ),
};

interface Manifest {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec: unknown;
}

let objects = 0;

/**
 * A manifest as a LIST of the cluster has it, with all that an API server and `kubectl apply` add.
 */
const asObject = ({ metadata, spec }: Manifest): Readonly<Record<string, unknown>> => ({
  apiVersion: KIND.apiVersion,
  kind: KIND.kind,
  metadata: {
    ...metadata,
    annotations: {
      ...(metadata["annotations"] as object),
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
    },
    uid: `object-${++objects}`,
    resourceVersion: "7",
    generation: 1,
    creationTimestamp: "2026-01-01T00:00:00Z",
    managedFields: [{ manager: "kubectl", operation: "Update", time: "2026-01-01T00:00:00Z" }],
  },
  spec,
  status: { conditions: [], currentReplicas: 3 },
});

/** The manifest that the sync stores of the object. */
const stored = (manifest: Manifest): string => {
  const text = specObject(asObject(manifest), {
    ...KIND,
    cluster: {},
    knownVersion: () => undefined,
  })?.manifest;
  if (text === undefined) throw new Error("the object was not read");
  return text;
};

const isManifest = (value: unknown): value is Manifest =>
  isObject(value) && isObject(value["metadata"]);

/** The vector with every manifest as it is read back from the cluster. */
const throughCluster = (vector: VectorCase): VectorCase => {
  const read = (value: unknown): unknown => (isManifest(value) ? JSON.parse(stored(value)) : value);
  const steps = (vector["steps"] as readonly Readonly<Record<string, unknown>>[]).map((step) =>
    "autoscaler" in step ? { ...step, autoscaler: read(step["autoscaler"]) } : step,
  );
  return { ...vector, autoscaler: read(vector["autoscaler"]), steps };
};

const sequences = recordedPaths("watermark")
  .map(recordedFile)
  .filter(({ cases }) =>
    cases.some((vector) => Array.isArray(vector["steps"]) && isManifest(vector["autoscaler"])),
  );

describe("the recorded syncs of the Watermark Pod Autoscaler, each manifest an object in the cluster", () => {
  it("always decide what the original decided", () => {
    expect(sequences.flatMap(({ cases }) => cases).length).toBeGreaterThan(100);
    for (const file of sequences)
      expect(firstFailure({ ...file, cases: file.cases.map(throughCluster) })).toBeUndefined();
  });

  it("always have the spec that apply gives the manifest, or its refusal", () => {
    let admitted = 0;
    for (const vector of sequences.flatMap(({ cases }) => cases)) {
      const manifest = vector["autoscaler"] as Manifest;
      const [applied, read] = [admit({ ...KIND, ...manifest }), PURE_PART.specOf(stored(manifest))];
      expect(read.kind).toBe(applied.ok ? "spec" : "invalid");
      if (read.kind !== "spec" || !applied.ok) continue;
      expect(read.spec).toEqual(applied.spec);
      admitted++;
    }
    expect(admitted).toBeGreaterThan(100);
  });

  it("have the annotations that the rules read, and no other", () => {
    const [manifest] = sequences
      .flatMap(({ cases }) => cases)
      .map((vector) => vector["autoscaler"] as Manifest);
    const read = {
      "wpa.datadoghq.com/skip-owner-check": "true",
      "wpa.datadoghq.com/lifecycle-control.enabled": "true",
    };
    const annotated = {
      spec: manifest?.spec,
      metadata: { ...manifest?.metadata, annotations: { ...read, "example.com/note": "n" } },
    };
    expect(JSON.parse(stored(annotated))).toMatchObject({ metadata: { annotations: read } });
    expect(stored(annotated)).not.toContain("example.com/note");
    expect(PURE_PART.specOf(stored(annotated))).toMatchObject({
      spec: { skipOwnerCheck: true, lifecycleControl: { kind: "on" } },
    });
  });
});
