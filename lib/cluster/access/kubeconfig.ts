import type { RequestOptions } from "node:https";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";
import { TidemarkError } from "../../model/errors.ts";
import { KUBECONFIG_TTL_MS } from "../limits.ts";
import type { Access, Credentials } from "./access.ts";
import { cached } from "./cached.ts";
import { serverUrl } from "./server-url.ts";
import type { Trusted } from "./trusted.ts";

export interface KubeconfigSource {
  readonly cluster: string;
  /** Where it comes from, for sentences: a path or a secret's id. */
  readonly from: string;
  readonly context?: string;
  readonly clock: () => number;
  readonly trusted: Trusted;
}

/** Access by a kubeconfig's file or text; the library that reads it (1.2 MB) is loaded here and nowhere else. Refusals are TidemarkErrors `cluster.access.kubeconfig`. */
export const kubeconfigAccess = async (read: { readonly path: string } | { readonly text: string }, source: KubeconfigSource): Promise<Access> => {
  const { KubeConfig } = await import("@kubernetes/client-node/dist/config.js");
  const config = new KubeConfig();
  try {
    if ("path" in read) config.loadFromFile(read.path);
    else config.loadFromString(read.text);
  } catch (cause) {
    throw refusal(source, cause instanceof Error ? cause.message : String(cause), cause);
  }
  const { cluster, user } = chosen(config, source);
  const problem = untrusted(cluster, user, source.trusted);
  if (problem !== undefined) throw refusal(source, problem);
  const options = cached(() => apply(config, source), { ttlMs: KUBECONFIG_TTL_MS, clock: source.clock });
  const { ca } = await options.get();
  return {
    server: serverUrl(cluster.server, { cluster: source.cluster, allowLoopbackHttp: source.trusted.insecure }),
    ...(ca !== undefined && { ca: text(ca) }),
    ...(cluster.tlsServerName !== undefined && { servername: cluster.tlsServerName }),
    rejectUnauthorized: !cluster.skipTLSVerify,
    credentials: async () => credentialsFrom(await options.get(), user),
    forget: options.forget,
  };
};

const refusal = (source: KubeconfigSource, why: string, cause?: unknown): TidemarkError =>
  new TidemarkError(
    "cluster.access.kubeconfig",
    `Cannot use kubeconfig "${source.from}" for cluster "${source.cluster}": ${why}`,
    { from: source.from, cluster: source.cluster },
    { cause },
  );

const chosen = (config: KubeConfig, source: KubeconfigSource): { cluster: Cluster; user: User } => {
  const names = config.getContexts().map((context) => `"${context.name}"`);
  if (source.context !== undefined) config.setCurrentContext(source.context);
  const wanted = config.getCurrentContext();
  const context = config.getContextObject(wanted);
  if (!context) throw refusal(source, `context "${wanted ?? ""}" is not in it, there are ${names.join(", ") || "none"}`);
  const cluster = config.getCurrentCluster();
  if (!cluster) throw refusal(source, `context "${wanted}" names cluster "${context.cluster}", which is not in it`);
  const user = config.getCurrentUser();
  if (!user) throw refusal(source, `context "${wanted}" names user "${context.user}", which is not in it`);
  return { cluster, user };
};

/** What the kubeconfig asks for and may not have here; undefined when nothing. */
const untrusted = (cluster: Cluster, user: User, trusted: Trusted): string | undefined => {
  if (cluster.proxyUrl !== undefined) return "proxy-url is not supported, the server must be reached directly";
  if (!trusted.exec && (user.exec || user.authProvider?.config?.exec)) {
    return "its user runs a program (exec), which is only done in the embedded run; give a token, a client certificate, or connect the cluster as EKS";
  }
  if (cluster.skipTLSVerify && !trusted.insecure) return "insecure-skip-tls-verify is not followed here, give certificate-authority-data";
  const files = [cluster.caFile, user.certFile, user.keyFile, user.authProvider?.config?.tokenFile].filter((file) => typeof file === "string");
  if (!trusted.files && files.length > 0) return `it refers to the file "${files[0]}", put the data into the kubeconfig instead`;
  return undefined;
};

const apply = async (config: KubeConfig, source: KubeconfigSource): Promise<RequestOptions> => {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw refusal(source, cause instanceof Error ? cause.message.trim() : String(cause), cause);
  }
  return options;
};

const credentialsFrom = (options: RequestOptions, user: User): Credentials => {
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  const basic =
    user.username === undefined
      ? []
      : [["authorization", `Basic ${Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64")}`] as const];
  return {
    headers: Object.fromEntries([...basic, ...headers]),
    ...(options.cert !== undefined && { cert: text(options.cert) }),
    ...(options.key !== undefined && { key: text(options.key) }),
  };
};

const text = (pem: NonNullable<RequestOptions["cert" | "key" | "ca"]>): string => String(Array.isArray(pem) ? pem.map(String).join("\n") : pem);
