/** What a kubeconfig may do beyond what its own text holds. */
export interface Trusted {
  /** Run the program that it names (exec plugins). */
  readonly exec: boolean;
  /** Read certificate, key and token files that it names. */
  readonly files: boolean;
  /** Follow `insecure-skip-tls-verify`, and http:// on loopback. */
  readonly insecure: boolean;
}

/** Nothing: for secrets and inside functions, where there is no such program or file, and nobody would see that TLS is off. */
export const TEXT_ONLY: Trusted = { exec: false, files: false, insecure: false };

/** For the embedded run: the kubeconfig is the user's own, as it is for kubectl. */
export const ON_THIS_MACHINE: Trusted = { exec: true, files: true, insecure: true };
