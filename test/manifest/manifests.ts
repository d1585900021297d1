import {
  type AdmitOptions,
  type Admitted,
  admit,
  type Refused,
} from "../../lib/rules/manifest/admit.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import type { HpaSpec } from "../../lib/rules/model/spec-hpa.ts";

/** A valid autoscaling/v2 manifest; `spec` replaces or adds members. */
export const v2 = (
  spec: Readonly<Record<string, unknown>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
) => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop", ...metadata },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 10,
    ...spec,
  },
});

/** The same workload in another form. */
export const manifest = (
  apiVersion: string,
  spec: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>> = {},
) => ({
  ...v2({}, metadata),
  apiVersion,
  spec,
});

/** What a form of HorizontalPodAutoscaler is admitted as. */
export const admitted = (
  document: unknown,
  options: AdmitOptions = {},
): Admitted & { readonly spec: HpaSpec } => {
  const admission = admit(document, options);
  if (!admission.ok) throw new Error(`it was refused: ${JSON.stringify(admission.problems)}`);
  return { ...admission, spec: hpaSpec(admission.spec) };
};

export const hpaSpec = (spec: AutoscalerSpec): HpaSpec => {
  if (spec.dialect === "watermark" || spec.dialect === "native")
    throw new Error(`it is of the dialect "${spec.dialect}"`);
  return spec;
};

export const refused = (document: unknown, options: AdmitOptions = {}): Refused => {
  const admission = admit(document, options);
  if (admission.ok) throw new Error("it was admitted");
  return admission;
};

/** Problems as "field type detail", sorted. */
export const faults = (document: unknown, options: AdmitOptions = {}): string[] =>
  refused(document, options)
    .problems.map(({ field, type, detail }) =>
      `${field} ${type.replace("FieldValue", "")} ${detail}`.trim(),
    )
    .sort();

/** Problems of a manifest that may be valid. */
export const faultsOf = (document: unknown): string[] =>
  admit(document).ok ? [] : faults(document);
