import { fileURLToPath } from "node:url";
import { readTrace } from "./read-trace.ts";
import type { Trace } from "./trace.ts";

/** The recorded workloads of Tidemark. NOTICE in this folder names their authors and licences. */
export const SHIPPED_TRACES = [
  "azurefn-diurnal-1m",
  "azurefn-ramps-zero-1m",
  "azurefn-squarewave-1m",
  "azurefn-steps-1m",
  "nab-ec2-cpu-noisy-5m",
  "nasa-http-launch-week-1m",
] as const;

export type ShippedTrace = (typeof SHIPPED_TRACES)[number];

export const shippedTracePath = (name: ShippedTrace): string => fileURLToPath(new URL(`./${name}.csv`, import.meta.url));

export const readShippedTrace = (name: ShippedTrace): Promise<Trace> => readTrace(shippedTracePath(name));
