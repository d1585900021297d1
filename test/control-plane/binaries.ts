import { existsSync } from "node:fs";
import { join } from "node:path";

const NAMES = ["etcd", "kube-apiserver"] as const;

/** Where the programs of a real control plane are, or what is missing. */
export type Binaries = { readonly kind: "found"; readonly folder: string } | { readonly kind: "missing"; readonly message: string };

/** Looks in the folder that `KUBEBUILDER_ASSETS` names, as the tools of Kubernetes do. */
export const controlPlaneBinaries = (): Binaries => {
  const folder = process.env["KUBEBUILDER_ASSETS"];
  if (folder === undefined) return { kind: "missing", message: "set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver" };
  const absent = NAMES.find((name) => !existsSync(join(folder, name)));
  return absent === undefined ? { kind: "found", folder } : { kind: "missing", message: `there is no ${absent} in "${folder}" (KUBEBUILDER_ASSETS)` };
};
