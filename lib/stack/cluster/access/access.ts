import type { TokenLife } from "../../../rules/model/summary.ts";

/**
 * How to reach one cluster: address, trusted CA and credentials. It is made once for each client.
 * Credentials are requested before each call, so that they can rotate.
 */
export interface Access {
  /** https://host:port, with a path where the API server is behind a proxy such as Rancher's. */
  readonly server: URL;
  /** PEM. Absent means the roots of the system. */
  readonly ca?: string;
  /** The name in the certificate of the server, where it differs from the host. */
  readonly servername?: string;
  /** False only in the embedded run, for a kubeconfig with insecure-skip-tls-verify. */
  readonly rejectUnauthorized: boolean;
  /**
   * True only in the embedded run: the server may be this machine. Otherwise a connection to a name
   * that resolves to this machine is refused.
   */
  readonly ownAddresses: boolean;
  /**
   * Gives the credentials, cached while they are valid. Throws a TidemarkError `cluster.access.…`
   * when there are none.
   */
  readonly credentials: () => Promise<Credentials>;
  /** Drops the cached credentials, after the server refused them (401). */
  readonly forget: () => void;
  /** Of a token that says when it ends: the last one that was read. */
  readonly tokenLife?: () => TokenLife | undefined;
}

export interface Credentials {
  /** A list becomes one header for each value. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** PEM of a client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
}

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
  /**
   * Uses a kubeconfig file, with the programs and files that it names. It is absent in functions,
   * whose bundles do not contain the code.
   */
  readonly kubeconfigFile?: (file: KubeconfigFile) => Promise<Access>;
}

/**
 * For functions, where records and manifests come from people without rights on the function
 * itself.
 */
export const NOTHING_TRUSTED: Trusted = { files: false, ownAddresses: false };

/**
 * A value that is made once and kept until it expires. Concurrent callers share one call of `make`.
 * A failure is not kept.
 */
export interface Cached<Value> {
  readonly get: () => Promise<Value>;
  /**
   * Drops a value that the server refused. Several callers may do so at the same time: a value that
   * was made since stays.
   */
  readonly forget: () => void;
}

/**
 * A value younger than this stays: it was made after the refused one, or making it again would give
 * the same.
 */
const TOO_YOUNG_TO_FORGET_MS = 1_000;

/**
 * `ttlMs` counts from before `make` began, so that a slow answer does not outlive its credentials.
 */
export const cached = <Value>(
  make: (nowMs: number) => Promise<Value>,
  options: { readonly ttlMs: number | ((value: Value) => number); readonly clock: () => number },
): Cached<Value> => {
  let kept:
    | { readonly value: Promise<Value>; readonly sinceMs: number; untilMs: number }
    | undefined;
  const begin = (nowMs: number): Promise<Value> => {
    const value = make(nowMs);
    const entry = { value, sinceMs: nowMs, untilMs: Number.POSITIVE_INFINITY };
    kept = entry;
    value.then(
      (made) => {
        entry.untilMs =
          nowMs + (typeof options.ttlMs === "number" ? options.ttlMs : options.ttlMs(made));
      },
      () => {
        if (kept === entry) kept = undefined;
      },
    );
    return value;
  };
  return {
    get: () => {
      const nowMs = options.clock();
      return kept && nowMs < kept.untilMs ? kept.value : begin(nowMs);
    },
    forget: () => {
      if (kept && options.clock() - kept.sinceMs >= TOO_YOUNG_TO_FORGET_MS) kept = undefined;
    },
  };
};
