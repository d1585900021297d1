import { isDeepStrictEqual } from "node:util";
import { admit } from "../../lib/rules/manifest/admit.ts";
import { convertedForm } from "../../lib/rules/manifest/native/convert.ts";
import { watermarkSpecOf } from "../../lib/rules/manifest/watermark/spec.ts";
import type { Decision } from "../../lib/rules/model/decision.ts";
import { autoscalerName, namespace } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { type DecideInput, decide } from "../../lib/rules/policy/decide.ts";
import { afterWrite } from "../../lib/rules/policy/dialects.ts";
import type { Difference } from "./differences.ts";
import { runSequence as runHpaSequence } from "./hpa/sync-sequence.ts";
import {
  filesBelow,
  isPassedOver,
  readVectorFile,
  type VectorCase,
  type VectorFile,
  type VectorHead,
} from "./vector-file.ts";
import { specFrom } from "./watermark/raw.ts";
import { type Manifest, observationOf, type RawScale, type Step } from "./watermark/world.ts";

/**
 * Whether a sequence decides the same once its manifests are PodAutoscalers; or the rule that one
 * of them breaks.
 */
export type Outcome =
  | { readonly kind: "same" }
  | { readonly kind: "refused"; readonly rule: string }
  | { readonly kind: "different"; readonly differences: readonly Difference[] };

/** The files of consecutive syncs of one dialect. */
export const sequenceFiles = (folder: string): readonly VectorFile[] =>
  filesBelow(folder)
    .filter((path) => path.includes("sequence"))
    .map(readVectorFile)
    .filter((file): file is VectorFile => !isPassedOver(file));

export const isSafe = (vector: VectorCase): boolean =>
  vector["unsafeFrom"] === undefined && vector["unsafe"] === undefined;

type Converted =
  | {
      readonly kind: "converted";
      readonly document: Readonly<Record<string, unknown>>;
      readonly spec: AutoscalerSpec;
    }
  | Refusal;
type Refusal = { readonly kind: "refused"; readonly rule: string };

/** The converted manifest, admitted again as a person would apply it. */
const convertedOf = (document: unknown): Converted => {
  const admission = admit(document);
  if (!admission.ok)
    return { kind: "refused", rule: `not admitted: ${admission.problems[0]?.field}` };
  const conversion = convertedForm(admission);
  if (conversion.kind === "refused") return conversion;
  const again = admit(conversion.document);
  if (!again.ok)
    throw new Error(`the converted manifest is refused: ${JSON.stringify(again.problems)}`);
  return { ...conversion, spec: again.spec };
};

/**
 * The whole vector with every manifest converted runs as it is, and must give what the vector
 * expects.
 */
export const runConvertedHpa = (vector: VectorCase, head: VectorHead): Outcome => {
  const steps = vector["steps"] as readonly Readonly<Record<string, unknown>>[];
  const given = [vector["autoscaler"], ...steps.map((step) => step["autoscaler"])];
  const documents = given.map((manifest) =>
    manifest === undefined ? undefined : convertedOf(manifest),
  );
  const refused = documents.find((one) => one?.kind === "refused");
  if (refused?.kind === "refused") return refused;
  const [autoscaler, ...edits] = documents.map((one) =>
    one?.kind === "converted" ? one.document : undefined,
  );
  const replaced = steps.map((step, index) =>
    edits[index] === undefined ? step : { ...step, autoscaler: edits[index] },
  );
  const differences = runHpaSequence({ ...vector, autoscaler, steps: replaced }, head);
  return differences.length === 0 ? { kind: "same" } : { kind: "different", differences };
};

interface WatermarkSync {
  readonly manifest: Manifest;
  readonly scale: RawScale;
  readonly pods: NonNullable<Step["pods"]>;
  readonly step: Step;
}

/** Every step with what it inherits from the steps before. */
const syncsOf = (vector: VectorCase): readonly WatermarkSync[] => {
  const [steps, syncs] = [vector["steps"] as readonly Step[], [] as WatermarkSync[]];
  let state: Partial<WatermarkSync> = { manifest: vector["autoscaler"] as Manifest, pods: [] };
  for (const step of steps) {
    state = {
      ...state,
      ...(step.autoscaler && { manifest: step.autoscaler }),
      ...(step.scale && { scale: step.scale }),
      ...(step.pods && { pods: step.pods }),
    };
    const { manifest, scale, pods } = state;
    if (!manifest || !scale || !pods)
      throw new RangeError(`${vector.id} has a step without a scale`);
    syncs.push({ manifest, scale, pods, step });
  }
  return syncs;
};

/** Decisions of every step by the manifest as it is and by the converted one, side by side. */
export const runConvertedWatermark = (vector: VectorCase): Outcome => {
  const config = vector["config"] as {
    readonly skipNotScalingEvents?: boolean;
    readonly clusterName?: string;
  };
  const options = {
    skipNotScalingEvents: config.skipNotScalingEvents ?? false,
    clusterName: config.clusterName ?? "",
  };
  let windows = NEW_WINDOWS;
  const differences: Difference[] = [];
  for (const [index, sync] of syncsOf(vector).entries()) {
    const converted = convertedOf({
      apiVersion: "datadoghq.com/v1alpha1",
      kind: "WatermarkPodAutoscaler",
      ...sync.manifest,
    });
    if (converted.kind === "refused") return converted;
    const { spec: raw, metadata } = sync.manifest;
    const spec = watermarkSpecOf(specFrom(raw), metadata.annotations ?? {}, options);
    // What the original's controller is told beside the manifest is no part of either.
    const expected = decide(inputOf(sync, spec, windows));
    const actual = decide(
      inputOf(sync, { ...converted.spec, ...options } as AutoscalerSpec, windows),
    );
    if (!isDeepStrictEqual(actual, expected))
      differences.push({ field: `steps.${index}`, expected, actual });
    windows = windowsAfter(expected, spec, Date.parse(sync.step.now));
  }
  return differences.length === 0 ? { kind: "same" } : { kind: "different", differences };
};

const inputOf = (
  { manifest: { metadata }, scale, pods, step }: WatermarkSync,
  spec: AutoscalerSpec,
  windows: Windows,
): DecideInput => ({
  namespace: namespace(metadata.namespace),
  name: autoscalerName(metadata.name),
  spec,
  settings: DEFAULT_SETTINGS,
  observation: observationOf({ scale, pods }, step, spec.target),
  windows,
  nowMs: Date.parse(step.now),
});

const windowsAfter = (decision: Decision, spec: AutoscalerSpec, atMs: number): Windows =>
  decision.kind === "scale"
    ? afterWrite({ spec, decision, outcome: { kind: "applied" }, atMs }).windows
    : decision.windows;

export interface Share {
  readonly sequences: number;
  readonly same: number;
  /** Sequences by the rule that refused them. */
  readonly refused: ReadonlyMap<string, number>;
  readonly different: readonly {
    readonly id: string;
    readonly differences: readonly Difference[];
  }[];
}

/** Every safe sequence below the vectors, or every so many-th, converted and run. */
export const shareOf = (dialect: "hpa" | "watermark", every = 1): Share => {
  const outcomes = sequenceFiles(new URL(`vectors/${dialect}`, import.meta.url).pathname).flatMap(
    ({ cases, head }) =>
      cases
        .filter((vector, at) => at % every === 0 && isSafe(vector))
        .map((vector) => ({
          id: vector.id,
          outcome:
            dialect === "hpa" ? runConvertedHpa(vector, head) : runConvertedWatermark(vector),
        })),
  );
  const rules = outcomes.flatMap(({ outcome }) =>
    outcome.kind === "refused" ? [outcome.rule] : [],
  );
  return {
    sequences: outcomes.length,
    same: outcomes.filter(({ outcome }) => outcome.kind === "same").length,
    refused: new Map(
      [...Map.groupBy(rules, (rule) => rule)].map(([rule, same]) => [rule, same.length]),
    ),
    different: outcomes.flatMap(({ id, outcome }) =>
      outcome.kind === "different" ? [{ id, differences: outcome.differences }] : [],
    ),
  };
};
