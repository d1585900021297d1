import * as z from "zod";
import { TidemarkError } from "../model/errors.ts";
import type { FolderLayout } from "./folder-layout.ts";
import { SHIPPED_TRACES } from "./traces/shipped.ts";
import { readJsonIfThere, writeWhole } from "./whole-file.ts";

const deploymentSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  targetCpuPercent: z.number().optional(),
  /** The shipped trace that its manifest asks for. */
  trace: z.enum(SHIPPED_TRACES).optional(),
  /** How many pods its manifest asks it to begin with. */
  replicas: z.int().optional(),
});

const aboutSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("simulated"),
    seed: z.int(),
    /** Virtual time at which the first run began. */
    startMs: z.number(),
    /** File of the trace that all deployments play; absent: the shipped ones. */
    trace: z.string().optional(),
    deployments: z.array(deploymentSchema),
  }),
  z.object({ kind: z.literal("kubeconfig"), startMs: z.number() }),
]);

/** What a data folder is for, fixed by its first run: with another seed, trace or set of deployments its past would have been another. */
export type About = z.infer<typeof aboutSchema>;
export type SimulatedAbout = Extract<About, { readonly kind: "simulated" }>;
export type Deployment = z.infer<typeof deploymentSchema>;

export const readAbout = (layout: FolderLayout): About | undefined => readJsonIfThere(layout.about, aboutSchema);

export const writeAbout = (layout: FolderLayout, about: About): void => writeWhole(layout.about, JSON.stringify(about, undefined, 2));

/** What the person asked for now, as far as the folder has fixed it. */
export interface Asked {
  readonly kind: About["kind"];
  readonly seed?: number;
  readonly trace?: string;
}

/** Throws `local.folder-differs` when the folder cannot go on as it is asked to. */
export const refuseOther = (layout: FolderLayout, about: About, asked: Asked): void => {
  const differs = difference(about, asked);
  if (differs === undefined) return;
  throw new TidemarkError("local.folder-differs", `Cannot continue in "${layout.dir}": ${differs}; take another folder with --data`, {
    dir: layout.dir,
  });
};

const WHAT = { simulated: "a simulated cluster", kubeconfig: "a real cluster" } as const;

const difference = (about: About, asked: Asked): string | undefined => {
  if (about.kind !== asked.kind) return `it belongs to ${WHAT[about.kind]}, not to ${WHAT[asked.kind]}`;
  if (about.kind !== "simulated") return undefined;
  if (asked.seed !== undefined && asked.seed !== about.seed) return `its seed is ${about.seed}, not ${asked.seed}`;
  if (asked.trace !== undefined && asked.trace !== about.trace) return `it plays ${about.trace ?? "the recorded workloads of the demonstration"}`;
  return undefined;
};
