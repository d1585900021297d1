/** How one cluster is reached: where, whom to trust, and as whom. Made once per client; credentials are asked for before each call, so that they can rotate. */
export interface Access {
  /** https://host:port, with a path where the API server stands behind a proxy such as Rancher's. */
  readonly server: URL;
  /** PEM; absent: the system's roots. */
  readonly ca?: string;
  /** Name in the server's certificate where it differs from the host. */
  readonly servername?: string;
  /** False only in the embedded run, for a kubeconfig that says so. */
  readonly rejectUnauthorized: boolean;
  /** True only in the embedded run: the server may be this machine. Else names that lead to it are refused when a connection is made. */
  readonly ownAddresses: boolean;
  /** Fails with a TidemarkError `cluster.access.…` when no credentials can be had; cached as long as they are good. */
  readonly credentials: () => Promise<Credentials>;
  /** The server refused the credentials (401): forget what is cached. */
  readonly forget: () => void;
}

export interface Credentials {
  /** A list is sent as a header for each of its values. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** PEM of a client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
}
