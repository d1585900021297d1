import * as z from "zod";
import { SHIPPED_TRACES } from "../traces/trace.ts";
import type { FolderLayout } from "../layout.ts";
import { readJsonIfThere, writeWhole } from "../host/whole-file.ts";

export const BESIDE_KINDS = ["foreign", "finished", "surge"] as const;
/** Of another workload; its own that have ended; its own of a new revision. */
export type BesideKind = (typeof BESIDE_KINDS)[number];

export const deploymentSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  /** Absent: a Deployment. */
  kind: z.string().optional(),
  /** Absent for the kinds of Kubernetes itself. */
  apiVersion: z.string().optional(),
  targetCpuPercent: z.number().optional(),
  trace: z.enum(SHIPPED_TRACES).optional(),
  /** How many pods its manifest asks it to begin with. */
  replicas: z.int().optional(),
  /** Other pods with the labels of its own, as its manifest says. */
  beside: z
    .array(
      z.object({
        kind: z.enum(BESIDE_KINDS),
        count: z.int(),
        fromMs: z.number().exactOptional(),
        toMs: z.number().exactOptional(),
      }),
    )
    .optional(),
  /** Metrics by name that its manifests ask of the cluster. */
  metrics: z.array(z.object({ name: z.string(), selector: z.string() })).optional(),
});

const FORMAT = "tidemark-folder/1";
const format = z.literal(FORMAT);

const simulatedSchema = z.object({
  format,
  kind: z.literal("simulated"),
  seed: z.int(),
  /** Virtual time at which the first run began. */
  startMs: z.number(),
  /** File of the trace that all deployments play; absent: the shipped ones. */
  trace: z.string().optional(),
  /** Files of loads that metrics have of their own, by the name of the metric. */
  metricTraces: z.record(z.string(), z.string()).optional(),
  /** What one pod serves at most, in the unit of the load. */
  capacity: z.number().positive().optional(),
  /** Time from the creation of a pod to Ready. */
  podStartMs: z.number().positive().optional(),
  deployments: z.array(deploymentSchema),
  /** Whose objects scale the workloads at the beginning; absent where Tidemark does. */
  beside: z.enum(["hpa", "wpa", "keda"]).optional(),
  /**
   * Clusters, workloads and autoscalers that the run made by itself; there are no other deployments
   * then.
   */
  fleet: z.object({ clusters: z.int().positive(), autoscalers: z.int().positive() }).optional(),
});

const realSchema = z.object({
  format,
  kind: z.literal("kubeconfig"),
  startMs: z.number(),
  /** The cluster's name in the tables, its kubeconfig and context. */
  cluster: z.string(),
  kubeconfig: z.string(),
  context: z.string().optional(),
});

/**
 * A first start that has not come to its first sync: the folder was empty before, and holds nothing
 * worth keeping.
 */
const beginningSchema = z.object({ format: z.literal(FORMAT), kind: z.literal("beginning") });

const identitySchema = z.discriminatedUnion("kind", [simulatedSchema, realSchema, beginningSchema]);

/**
 * What a data folder is for, fixed by its first run: with another seed, trace or set of deployments
 * its past would have been another.
 */
export type SimulatedIdentity = Omit<z.infer<typeof simulatedSchema>, "format">;
export type MadeFleet = NonNullable<SimulatedIdentity["fleet"]>;
export type RealIdentity = Omit<z.infer<typeof realSchema>, "format">;
export type FolderIdentity = SimulatedIdentity | RealIdentity;
export type Deployment = z.infer<typeof deploymentSchema>;

/**
 * The text of about.json until the folder is ready. Its presence proves that a start of ours found
 * the folder empty.
 */
export const BEGINNING_MARK = `${JSON.stringify({ format: FORMAT, kind: "beginning" })}\n`;

/**
 * What about.json says: what the folder is for, or that a first start is under way or died, or
 * nothing where there is no such file. Throws `local.unreadable`.
 */
export const readIdentity = (layout: FolderLayout): FolderIdentity | "beginning" | undefined => {
  const identity = readJsonIfThere(layout.identity, identitySchema);
  return identity?.kind === "beginning" ? "beginning" : identity;
};

export const writeMark = (layout: FolderLayout): void =>
  writeWhole(layout.identity, BEGINNING_MARK);

/** From now on the folder is ready: later starts go on in it. */
export const writeIdentity = (layout: FolderLayout, identity: FolderIdentity): void =>
  writeWhole(layout.identity, JSON.stringify({ format: FORMAT, ...identity }, undefined, 2));
