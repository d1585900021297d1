import * as z from "zod";
import { readManifests } from "../../../lib/rules/manifest/documents.ts";
import { isObject } from "../../../lib/rules/model/json.ts";
import type { VectorCase } from "../vector-file.ts";
import { type CaseSettings, readSettings } from "./settings.ts";

/** An amount as a manifest would write it. A number is read as its text. */
const AMOUNT = z.union([z.string(), z.number().transform(String)]);
const COUNT = z.int().nonnegative();

const STEP = z.object({
  /** Seconds from the first step. */
  at: z.number(),
  /** Value of each External metric, or of each of its series; null: the API has none. */
  external: z.record(z.string(), z.union([AMOUNT, z.array(AMOUNT), z.null()])).nullish(),
  /** Use of each pod. */
  cpu: AMOUNT.nullish(),
  /** The count that a person sets just before the sync. */
  set: COUNT.nullish(),
  /** The count after the sync; absent, the step is not compared. */
  expect: COUNT.nullish(),
});

const CASE = z.object({
  manifest: z.union([z.record(z.string(), z.unknown()), z.string()]),
  settings: z.record(z.string(), z.unknown()).nullish(),
  start: z.union([COUNT, z.object({ replicas: COUNT.nullish() })]).nullish(),
  steps: z.array(STEP).min(1),
});

export type CountsStep = z.infer<typeof STEP>;

export interface CountsCase {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly settings: CaseSettings;
  readonly replicas: number;
  readonly steps: readonly CountsStep[];
}

/** The count of a workload whose manifest names none, as Kubernetes has it. */
const DEFAULT_REPLICAS = 1;

/**
 * A case as the README of the kind describes it. Throws a RangeError with every fault of its shape.
 */
export const readCase = (vector: VectorCase): CountsCase => {
  const read = CASE.safeParse(vector);
  if (!read.success) throw new RangeError(z.prettifyError(read.error));
  const { manifest, settings, start, steps } = read.data;
  const replicas = typeof start === "number" ? start : (start?.replicas ?? DEFAULT_REPLICAS);
  return {
    manifest: named(onlyManifest(manifest)),
    settings: readSettings(settings ?? {}),
    replicas,
    steps,
  };
};

/** The manifest as `tidemark apply` reads it: YAML or JSON, also as the one item of a list. */
const onlyManifest = (
  given: string | Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  const [manifest, ...more] = readManifests(
    typeof given === "string" ? given : JSON.stringify(given),
    "manifest",
  );
  if (!isObject(manifest?.document) || more.length > 0)
    throw new RangeError(`the case needs one manifest, not ${more.length + 1}`);
  return manifest.document;
};

/**
 * Without a name or a namespace of its own, a manifest gets one; the first design may name its
 * namespace in `scaleRef`.
 */
const named = (manifest: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const { metadata } = manifest;
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) return manifest;
  return {
    ...manifest,
    metadata: {
      name: "case",
      namespace: namespaceOfTarget(manifest["spec"]) ?? "default",
      ...metadata,
    },
  };
};

const namespaceOfTarget = (spec: unknown): unknown =>
  isObject(spec) && isObject(spec["scaleRef"]) ? spec["scaleRef"]["namespace"] : undefined;
