import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { startWholeCluster } from "../control-plane/cluster.ts";
import { installDefinitions } from "./definitions.ts";
import { installFleets } from "./fleets.ts";

/** What the files of this folder share: one cluster, or why there is none. */
export interface SharedCluster {
  readonly missing?: string;
  /** Where the programs are. */
  readonly binaries: string;
  readonly url: string;
  readonly etcdUrl: string;
  readonly ca: string;
  readonly adminToken: string;
  readonly tidemarkToken: string;
  readonly busyToken: string;
  readonly metricsUrl: string;
  /** What the API server writes by the audit policy of docs/import.md. */
  readonly auditLog: string;
}

declare module "vitest" {
  interface ProvidedContext {
    cluster: SharedCluster;
  }
}

const NONE = {
  binaries: "",
  url: "",
  etcdUrl: "",
  ca: "",
  adminToken: "",
  tidemarkToken: "",
  busyToken: "",
  metricsUrl: "",
  auditLog: "",
};

/** The audit policy that the page of `tidemark writers` gives. */
const pagePolicy = (): string => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/import.md"), "utf8");
  const policy = /^## writers$[\s\S]*?^```yaml\n([\s\S]*?)^```/m.exec(page)?.[1];
  if (policy === undefined) throw new Error("docs/import.md has no audit policy below writers");
  return policy;
};

/** Starts the cluster before the first file, and stops it after the last. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const binaries = controlPlaneBinaries();
  if (binaries.kind === "missing") {
    process.stdout.write(`The tests on a real API server are skipped: ${binaries.message}\n`);
    project.provide("cluster", { ...NONE, missing: binaries.message });
    return () => Promise.resolve();
  }
  // The programs collect garbage seldom, also in the files that start their own: a fourth less CPU.
  process.env["GOGC"] ??= "400";
  const { plane, metricsUrl, tidemarkToken, busyToken, close } = await startWholeCluster(
    binaries.folder,
    { auditPolicy: pagePolicy() },
  );
  await installFleets(plane);
  await installDefinitions(plane);
  const { url, etcdUrl, ca, token: adminToken, auditLog } = plane;
  project.provide("cluster", {
    binaries: binaries.folder,
    url,
    etcdUrl,
    ca,
    adminToken,
    tidemarkToken,
    busyToken,
    metricsUrl,
    auditLog,
  });
  return close;
};
