import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "./folder/starting.ts";

const manifestWith = (metric: string): string => `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata:
  name: orders
  namespace: shop
  annotations: { tidemark.dev/simulated-replicas: "3" }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: orders }
  minReplicas: 1
  maxReplicas: 30
  metrics:
    - ${metric}
      measure: Average
      target: 20
      activation: 0
  scaleDown: { stabilizationWindowSeconds: 0 }
  idle: { replicas: 0, afterSeconds: 60 }
`;

export interface QueueRun {
  /** The option that names its folder to a command. */
  readonly data: readonly string[];
  /** Plays so many minutes, and gives what it printed. */
  readonly run: (minutes: number) => Promise<string>;
  readonly remove: () => void;
}

/** Embedded runs, one after the other, of `shop/orders`, which rests while its queue is empty. */
export const queueRun = (metric: string): QueueRun => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-queue-run-"));
  const manifest = join(folder, "orders.yaml");
  writeFileSync(manifest, manifestWith(metric));
  const data = ["--data", join(folder, "data")];
  return {
    data,
    run: (minutes) =>
      start(...["--manifest", manifest, ...data, "--for", `${minutes}m`, "--speed", "100000"]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
