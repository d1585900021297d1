import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { hpaOf } from "../alarm-stack.ts";
import { REAL_APP } from "./real-cluster.ts";

const CLUSTERS_COUNT = 40;
export const NAMES: readonly string[] = Array.from(
  { length: CLUSTERS_COUNT },
  (_, at) => `c-${String(at + 1).padStart(2, "0")}`,
);
/** The real ones: one by the token of an administrator, one by that of a service account. */
export const REAL = { byToken: "c-39", byAccount: "c-40" } as const;
const REALS: ReadonlySet<string> = new Set(Object.values(REAL));
export const SIMULATED = NAMES.filter((name) => !REALS.has(name));

/** Two clusters are synced every 15 s, six every five minutes, the others once a minute. */
const periodOf = (at: number): number => {
  if (at < 2) return 15;
  return at >= 32 && at < 38 ? 300 : 60;
};
export const LABEL = "fleet=forty";

/** The folder in Git: a document for each cluster, and one folder of autoscalers for each. */
export interface GitFolder {
  readonly clusters: string;
  readonly autoscalersOf: (name: string) => string;
  readonly putCluster: (name: string, change?: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly removeCluster: (name: string) => Promise<void>;
  readonly putAutoscalers: (name: string, maxReplicas?: number) => Promise<void>;
}

const documentOf = (name: string, change: Readonly<Record<string, unknown>>) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "Cluster",
  metadata: { name, labels: { fleet: "forty" } },
  spec: {
    connection: {
      kind: "secret",
      secretId: `tidemark-prod/${name}`,
      ...(name === REAL.byAccount && { serviceAccount: "tidemark/tidemark" }),
    },
    syncPeriodSeconds: periodOf(NAMES.indexOf(name)),
    ...change,
  },
});

const named = (name: string, maxReplicas: number): object => {
  const { metadata, spec, ...kind } = JSON.parse(hpaOf(maxReplicas));
  const target = { apiVersion: "apps/v1", kind: "Deployment", name };
  return { ...kind, metadata: { ...metadata, name }, spec: { ...spec, scaleTargetRef: target } };
};

/** `web` and `cart` of the simulated clusters, or the one workload of a real one. */
const autoscalersIn = (name: string, maxReplicas: number): readonly object[] => {
  if (SIMULATED.includes(name)) return [named("web", maxReplicas), named("cart", 20)];
  const real = named(REAL_APP.name, maxReplicas) as { readonly metadata: object };
  return [{ ...real, metadata: { ...real.metadata, namespace: REAL_APP.namespace } }];
};

export const makeGitFolder = async (folder: string): Promise<GitFolder> => {
  const clusters = join(folder, "clusters");
  const autoscalersOf = (name: string): string => join(folder, "autoscalers", name);
  const putCluster: GitFolder["putCluster"] = (name, change = {}) =>
    writeFile(join(clusters, `${name}.yaml`), stringify(documentOf(name, change)));
  const putAutoscalers: GitFolder["putAutoscalers"] = (name, maxReplicas = 10) =>
    writeFile(
      join(autoscalersOf(name), "autoscalers.yaml"),
      autoscalersIn(name, maxReplicas)
        .map((one) => stringify(one))
        .join("---\n"),
    );
  await mkdir(clusters, { recursive: true });
  for (const name of NAMES) {
    await mkdir(autoscalersOf(name), { recursive: true });
    await putCluster(name);
    await putAutoscalers(name);
  }
  return {
    clusters,
    autoscalersOf,
    putCluster,
    removeCluster: (name) => rm(join(clusters, `${name}.yaml`)),
    putAutoscalers,
  };
};
