import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const KUBERNETES_VERSION = "1.37.1";
export const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager"] as const;
export type ProgramName = (typeof PROGRAMS)[number];

/** Where the programs of a real control plane are, or what is missing. */
export type Binaries =
  | { readonly kind: "found"; readonly folder: string }
  | { readonly kind: "missing"; readonly message: string };

/**
 * The folder that `KUBEBUILDER_ASSETS` names, as the tools of Kubernetes do, or a folder of the
 * user's cache.
 */
export const binariesFolder = (env: NodeJS.ProcessEnv = process.env): string => {
  if (env["KUBEBUILDER_ASSETS"]) return env["KUBEBUILDER_ASSETS"];
  return join(
    env["XDG_CACHE_HOME"] || join(homedir(), ".cache"),
    "tidemark",
    `kube-${KUBERNETES_VERSION}`,
  );
};

export const absentPrograms = (folder: string): readonly ProgramName[] =>
  PROGRAMS.filter((name) => !existsSync(join(folder, name)));

export const controlPlaneBinaries = (env: NodeJS.ProcessEnv = process.env): Binaries => {
  const folder = binariesFolder(env);
  const [absent] = absentPrograms(folder);
  if (absent === undefined) return { kind: "found", folder };
  return {
    kind: "missing",
    message: `there is no ${absent} in "${folder}"; "npm run prove -- control-plane --build" builds it there, with Go`,
  };
};
