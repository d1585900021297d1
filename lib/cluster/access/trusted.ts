import type { Access } from "./access.ts";

/** A kubeconfig file of the machine. */
export interface KubeconfigFile {
  readonly path: string;
  readonly cluster: string;
  readonly context?: string;
  readonly clock: () => number;
}

/** What a stored record or manifest may use on the machine. */
export interface Trusted {
  /** True where certificate files that a manifest names may be read. */
  readonly files: boolean;
  /** True where connections to loopback and other addresses of this machine are allowed. */
  readonly ownAddresses: boolean;
  /** Uses a kubeconfig file, with the programs and files that it names. It is absent in functions, whose bundles do not contain the code. */
  readonly kubeconfigFile?: (file: KubeconfigFile) => Promise<Access>;
}

/** For functions, where records and manifests come from people without rights on the function itself. */
export const NOTHING_TRUSTED: Trusted = { files: false, ownAddresses: false };
