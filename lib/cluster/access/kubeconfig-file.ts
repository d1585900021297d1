import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";
import { TidemarkError } from "../../model/errors.ts";
import { foreignWords } from "../../model/foreign-words.ts";
import { KUBECONFIG_TTL_MS } from "../limits.ts";
import type { Access, Credentials } from "./access.ts";
import { cached } from "./cached.ts";
import { readSecretText } from "./secret-text.ts";
import { serverUrl } from "./server-url.ts";
import type { KubeconfigFile } from "./trusted.ts";

/**
 * Access by a person's own kubeconfig file, as kubectl would use it: programs and files that it names are used. Only the embedded run comes here, and the library that reads it
 * (1.2 MB) is loaded here and nowhere else. Refusals are TidemarkErrors `cluster.access.kubeconfig`, and quote nothing of the file but the names of its contexts and of what it refers to.
 */
export const kubeconfigFileAccess = async (file: KubeconfigFile): Promise<Access> => {
  const config = await loaded(file);
  const { cluster, user } = chosen(config, file);
  if (cluster.proxyUrl !== undefined) throw refusal(file, "proxy-url is not supported, the server must be reached directly");
  const options = cached(() => apply(config, file), { ttlMs: KUBECONFIG_TTL_MS, clock: file.clock });
  const { ca } = await options.get();
  return {
    server: serverUrl(cluster.server, { ownAddresses: true, refuse: (why) => refusal(file, `its server ${why}`) }),
    ...(ca !== undefined && { ca: text(ca) }),
    ...(cluster.tlsServerName !== undefined && { servername: cluster.tlsServerName }),
    rejectUnauthorized: !cluster.skipTLSVerify,
    ownAddresses: true,
    credentials: async () => credentialsFrom(await options.get(), user),
    forget: options.forget,
  };
};

const refusal = (file: KubeconfigFile, why: string): TidemarkError =>
  new TidemarkError("cluster.access.kubeconfig", `Cannot use kubeconfig "${file.path}" for cluster "${file.cluster}": ${why}`, {
    from: file.path,
    cluster: file.cluster,
  });

/** Read twice: what the library says about a broken file holds its lines, tokens included. */
const loaded = async (file: KubeconfigFile): Promise<KubeConfig> => {
  const content = await contentOf(file);
  const reading = await readSecretText(content);
  if (reading.kind === "unreadable") throw refusal(file, reading.why);
  const { KubeConfig } = await import("@kubernetes/client-node/dist/config.js");
  const config = new KubeConfig();
  try {
    // By its path and not by its content: paths of certificates in it are relative to the file.
    config.loadFromFile(file.path);
  } catch {
    throw refusal(file, "it is not a kubeconfig: an entry lacks a part, or has one of another type");
  }
  return config;
};

const contentOf = async (file: KubeconfigFile): Promise<string> => {
  try {
    return await readFile(file.path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw refusal(file, FILE_WORDS[code ?? ""] ?? `it cannot be read (${code ?? "unknown"})`);
  }
};

const FILE_WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file (ENOENT)",
  EACCES: "it may not be read (EACCES)",
  EISDIR: "it is a folder (EISDIR)",
};

/** Names of contexts are told, as kubectl tells them; other names of the file are not. */
const chosen = (config: KubeConfig, file: KubeconfigFile): { cluster: Cluster; user: User } => {
  const names = config.getContexts().map((context) => `"${foreignWords(context.name)}"`);
  if (file.context !== undefined) config.setCurrentContext(file.context);
  const context = config.getContextObject(config.getCurrentContext());
  const which = file.context === undefined ? "its current-context" : `context "${file.context}"`;
  if (!context) throw refusal(file, `${which} is not in it, there are ${names.join(", ") || "none"}`);
  const cluster = config.getCurrentCluster();
  if (!cluster) throw refusal(file, `${which} names a cluster that is not in it`);
  const user = config.getCurrentUser();
  if (!user) throw refusal(file, `${which} names a user that is not in it`);
  return { cluster, user };
};

/** What a program of the file says on its way out is told, cut: it is the person's own program, and "sign in first" is what they must read. */
const apply = async (config: KubeConfig, file: KubeconfigFile): Promise<RequestOptions> => {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw refusal(file, foreignWords(cause instanceof Error ? cause.message : String(cause)));
  }
  return options;
};

const credentialsFrom = (options: RequestOptions, user: User): Credentials => {
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value).trim()] as const);
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
