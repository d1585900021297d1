import type { Random } from "../random.ts";
import { hpaManifest } from "./hpa.ts";
import { nativeManifest } from "./native.ts";
import { watermarkManifest } from "./watermark.ts";

/** Which manifest an autoscaler has: its dialect, and what of it matters here. */
export type Shape =
  | "behavior"
  | "legacy"
  | "cpu"
  | "zero"
  | "watermark"
  | "velocity"
  | "recommended"
  | "native"
  | "native idle"
  | "native as hpa"
  | "native as watermark";

/** Where a manifest belongs. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
  readonly target: object;
}

/**
 * The shapes of a seed, one after the other: seven, so that with twenty autoscalers in three
 * clusters every cluster has each.
 */
export const shapesOf = (random: Random): readonly Shape[] => [
  "behavior",
  "watermark",
  random.pick(["native", "native", "native as hpa"]),
  random.pick(["legacy", "zero"]),
  "behavior",
  random.pick(["velocity", "recommended", "native as watermark"]),
  random.pick(["cpu", "native idle"]),
];

/** An autoscaler of the seed, as a person would write it. */
export const newManifest = (random: Random, shape: Shape, place: Place): object => {
  switch (shape) {
    case "behavior":
    case "legacy":
    case "cpu":
    case "zero":
      return hpaManifest(random, shape, place);
    case "watermark":
    case "velocity":
    case "recommended":
      return watermarkManifest(random, shape, place);
    case "native":
    case "native idle":
      return nativeManifest(random, shape, place);
    case "native as hpa":
      return carried(hpaManifest(random, "behavior", place), "hpa");
    case "native as watermark":
      return carried(watermarkManifest(random, "velocity", place), "watermark");
  }
};

/**
 * Bounds and target stand in the same place whatever the rules are; the rest is the dialect's own.
 */
const COMMON = new Set(["scaleTargetRef", "minReplicas", "maxReplicas"]);

/** The same autoscaler as a PodAutoscaler that follows the rules of another form. */
const carried = (manifest: object, rules: "hpa" | "watermark"): object => {
  const { metadata, spec } = manifest as { readonly metadata: object; readonly spec: object };
  const fields = Object.entries(spec);
  const [common, own] = [
    fields.filter(([name]) => COMMON.has(name)),
    fields.filter(([name]) => !COMMON.has(name)),
  ];
  return {
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata,
    spec: { rules, ...Object.fromEntries(common), [rules]: Object.fromEntries(own) },
  };
};

/** A shape that goes to rest at a load of nothing. */
export const rests = (shape: Shape): boolean => shape === "zero" || shape === "native idle";
