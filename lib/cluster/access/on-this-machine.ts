import { kubeconfigFileAccess } from "./kubeconfig-file.ts";
import type { Trusted } from "./trusted.ts";

/** For the embedded run: the kubeconfig and the manifests are the user's own, as they are for kubectl. No function imports this file. */
export const ON_THIS_MACHINE: Trusted = { files: true, ownAddresses: true, kubeconfigFile: kubeconfigFileAccess };
