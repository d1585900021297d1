import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { KUBECONFIG_TTL_MS } from "../request-limits.ts";
import {
  type Access,
  type Credentials,
  type KubeconfigFile,
  type Trusted,
  cached,
} from "./access.ts";
import { basic, readSecretText } from "./secret-text.ts";
import { serverUrl } from "../reachable.ts";

/**
 * Access by a kubeconfig file of the user, as kubectl uses it, with the programs and files that it
 * names. Only the embedded run uses this file, and only this file loads the library (1.2 MB).
 * Refusals are TidemarkErrors `cluster.access.kubeconfig`. They quote only names of contexts, files
 * and programs in the file.
 */
export const kubeconfigFileAccess = async (file: KubeconfigFile): Promise<Access> => {
  const config = await loaded(file);
  const { cluster, user } = chosen(config, file);
  if (cluster.proxyUrl !== undefined)
    throw refusal(file, "proxy-url is not supported, the server must be reached directly");
  const options = cached(() => apply(config, file), {
    ttlMs: KUBECONFIG_TTL_MS,
    clock: file.clock,
  });
  const { ca } = await options.get();
  return {
    server: serverUrl(cluster.server, {
      ownAddresses: true,
      refuse: (why) => refusal(file, `its server ${why}`),
    }),
    ...(ca !== undefined && { ca: text(ca) }),
    ...(cluster.tlsServerName !== undefined && { servername: cluster.tlsServerName }),
    rejectUnauthorized: !cluster.skipTLSVerify,
    ownAddresses: true,
    credentials: async () => credentialsFrom(await options.get(), user),
    forget: options.forget,
  };
};

const refusal = (file: KubeconfigFile, why: string): TidemarkError =>
  new TidemarkError(
    "cluster.access.kubeconfig",
    `Cannot use kubeconfig "${file.path}" for cluster "${file.cluster}": ${why}`,
    {
      from: file.path,
      cluster: file.cluster,
    },
  );

/**
 * Reads the file before the library does, because the errors of the library quote lines of a broken
 * file, tokens included.
 */
const loaded = async (file: KubeconfigFile): Promise<KubeConfig> => {
  const content = await contentOf(file);
  const reading = await readSecretText(content);
  if (reading.kind === "unreadable") throw refusal(file, reading.why);
  const { KubeConfig } = await import("@kubernetes/client-node/dist/config.js");
  const config = new KubeConfig();
  try {
    // The library gets the path and not the content, because paths of certificates are relative to
    // the file.
    config.loadFromFile(file.path);
  } catch {
    throw refusal(
      file,
      "it is not a kubeconfig: an entry lacks a part, or has one of another type",
    );
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

/** The refusals name contexts, like kubectl, but no other names of the file. */
const chosen = (config: KubeConfig, file: KubeconfigFile): { cluster: Cluster; user: User } => {
  const names = config.getContexts().map((context) => `"${foreignText(context.name)}"`);
  if (file.context !== undefined) config.setCurrentContext(file.context);
  const context = config.getContextObject(config.getCurrentContext());
  const which = file.context === undefined ? "its current-context" : `context "${file.context}"`;
  if (!context)
    throw refusal(file, `${which} is not in it, there are ${names.join(", ") || "none"}`);
  const cluster = config.getCurrentCluster();
  if (!cluster) throw refusal(file, `${which} names a cluster that is not in it`);
  const user = config.getCurrentUser();
  if (!user) throw refusal(file, `${which} names a user that is not in it`);
  return { cluster, user };
};

/**
 * The error of a program in the file is reported, shortened: it is a program of the user, and may
 * say "sign in first".
 */
const apply = async (config: KubeConfig, file: KubeconfigFile): Promise<RequestOptions> => {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw refusal(file, foreignText(cause instanceof Error ? cause.message : String(cause)));
  }
  return options;
};

const credentialsFrom = (options: RequestOptions, user: User): Credentials => {
  const headers = Object.entries(options.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), String(value).trim()] as const,
  );
  return {
    headers: {
      ...(user.username !== undefined && {
        authorization: basic(user.username, user.password ?? ""),
      }),
      ...Object.fromEntries(headers),
    },
    ...(options.cert !== undefined && { cert: text(options.cert) }),
    ...(options.key !== undefined && { key: text(options.key) }),
  };
};

const text = (pem: NonNullable<RequestOptions["cert" | "key" | "ca"]>): string =>
  String(Array.isArray(pem) ? pem.map(String).join("\n") : pem);

/**
 * For the embedded run, where kubeconfig and manifests belong to the user of the machine. No
 * function imports this file.
 */
export const ON_THIS_MACHINE: Trusted = {
  files: true,
  ownAddresses: true,
  kubeconfigFile: kubeconfigFileAccess,
};
