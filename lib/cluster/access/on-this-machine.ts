import { kubeconfigFileAccess } from "./kubeconfig-file.ts";
import type { Trusted } from "./trusted.ts";

/** For the embedded run, where kubeconfig and manifests belong to the user of the machine. No function imports this file. */
export const ON_THIS_MACHINE: Trusted = { files: true, ownAddresses: true, kubeconfigFile: kubeconfigFileAccess };
