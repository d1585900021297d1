import type { Access } from "./access.ts";

/** A kubeconfig in a file of the machine. */
export interface KubeconfigFile {
  readonly path: string;
  readonly cluster: string;
  readonly context?: string;
  readonly clock: () => number;
}

/** What the machine may be used for on behalf of a stored record or manifest. */
export interface Trusted {
  /** Read certificate files that a manifest names. */
  readonly files: boolean;
  /** Connect to loopback and to other addresses of this machine. */
  readonly ownAddresses: boolean;
  /** Use a kubeconfig file, with the programs and files that it names. Absent: there is no code for it, and the bundles of functions do not hold any. */
  readonly kubeconfigFile?: (file: KubeconfigFile) => Promise<Access>;
}

/** Nothing: inside functions, where records and manifests come from people who have no rights on the function itself. */
export const NOTHING_TRUSTED: Trusted = { files: false, ownAddresses: false };
