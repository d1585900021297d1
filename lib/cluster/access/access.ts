/** How to reach one cluster: address, trusted CA and credentials. It is made once for each client. Credentials are requested before each call, so that they can rotate. */
export interface Access {
  /** https://host:port, with a path where the API server is behind a proxy such as Rancher's. */
  readonly server: URL;
  /** PEM. Absent means the roots of the system. */
  readonly ca?: string;
  /** The name in the certificate of the server, where it differs from the host. */
  readonly servername?: string;
  /** False only in the embedded run, for a kubeconfig with insecure-skip-tls-verify. */
  readonly rejectUnauthorized: boolean;
  /** True only in the embedded run: the server may be this machine. Otherwise a connection to a name that resolves to this machine is refused. */
  readonly ownAddresses: boolean;
  /** Gives the credentials, cached while they are valid. Throws a TidemarkError `cluster.access.…` when there are none. */
  readonly credentials: () => Promise<Credentials>;
  /** Drops the cached credentials, after the server refused them (401). */
  readonly forget: () => void;
}

export interface Credentials {
  /** A list becomes one header for each value. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** PEM of a client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
}
