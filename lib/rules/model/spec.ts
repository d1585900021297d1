import type { HpaSpec } from "./spec-hpa.ts";
import type { NativeSpec } from "./spec-native.ts";
import type { WatermarkSpec } from "./spec-watermark.ts";

/**
 * The spec of an autoscaler, after its manifest was validated, defaulted and converted
 * (lib/rules/manifest). The dialect names the rules that decide it.
 */
export type AutoscalerSpec = HpaSpec | WatermarkSpec | NativeSpec;

export type DialectName = AutoscalerSpec["dialect"];

/** A kind of object in a cluster from which autoscalers can be read. */
export interface SpecKind {
  readonly kind: SpecKindName;
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** The annotations that its rules read. No other is stored of an object. */
  readonly annotations: readonly string[];
}

/** The annotations of a WatermarkPodAutoscaler that are read (watermark.md 1.4). */
export const WATERMARK_ANNOTATIONS = {
  skipOwnerCheck: "wpa.datadoghq.com/skip-owner-check",
  lifecycleControl: "wpa.datadoghq.com/lifecycle-control.enabled",
  logAttributes: "wpa.datadoghq.com/logs-attributes",
} as const;

/** Annotations, of which code can only read those that are stored of objects too. */
export type WatermarkAnnotations = {
  readonly [Name in (typeof WATERMARK_ANNOTATIONS)[keyof typeof WATERMARK_ANNOTATIONS]]?: string;
};

export const SPEC_KIND_NAMES = ["PodAutoscaler", "WatermarkPodAutoscaler"] as const;
export type SpecKindName = (typeof SPEC_KIND_NAMES)[number];

/** The versions are fixed, because a manifest of another version may mean something else. */
export const SPEC_KINDS: readonly SpecKind[] = [
  {
    kind: "PodAutoscaler",
    apiVersion: "tidemark.dev/v1",
    group: "tidemark.dev",
    version: "v1",
    plural: "podautoscalers",
    annotations: [],
  },
  {
    kind: "WatermarkPodAutoscaler",
    apiVersion: "datadoghq.com/v1alpha1",
    group: "datadoghq.com",
    version: "v1alpha1",
    plural: "watermarkpodautoscalers",
    annotations: Object.values(WATERMARK_ANNOTATIONS),
  },
];

/**
 * The validation levels of `kubectl --validate`. Stored manifests are read with "warn", so that an
 * accepted manifest stays accepted.
 */
export const VALIDATIONS = ["strict", "warn", "ignore"] as const;

/** "strict" refuses unknown and repeated fields. "warn" warns of them. "ignore" skips them. */
export type Validation = (typeof VALIDATIONS)[number];

const WORDS: Readonly<Record<string, Validation>> = {
  strict: "strict",
  true: "strict",
  warn: "warn",
  ignore: "ignore",
  false: "ignore",
};

/** kubectl's words for the levels; `undefined` for any other word. */
export const validationOf = (word: string): Validation | undefined =>
  Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;

/** All accepted words, for messages. */
export const VALIDATION_WORDS = Object.keys(WORDS).join(", ");
