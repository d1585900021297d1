import * as z from "zod";
import type { Access, Credentials } from "./access.ts";
import { serverUrl } from "../reachable.ts";
import { percentEncoded } from "../../../rules/model/foreign-text.ts";
import { fits, isCertificates, pemData } from "./pem.ts";
import { basic, bearerToken, faultText, filled, headerText } from "./secret-text.ts";

export interface CheckedOptions {
  readonly refuse: (why: string) => Error;
  /** True where the server may be this machine: only in the embedded run. */
  readonly ownAddresses: boolean;
}

/**
 * Makes an access and checks its parts: a CA, certificate or key that TLS cannot use is refused
 * here by name, and not by the first call. No part is quoted.
 */
export const checkedAccess = (
  { server, ca, servername, credentials }: AccessParts,
  { refuse, ownAddresses }: CheckedOptions,
): Access => {
  const url = serverUrl(server, { ownAddresses, refuse: (why) => refuse(`its server ${why}`) });
  if (ca !== undefined && !isCertificates(ca)) throw refuse("its CA is no certificate in PEM");
  const { cert, key } = credentials;
  if (cert !== undefined && !isCertificates(cert))
    throw refuse("its client certificate is no certificate in PEM");
  if (cert !== undefined && key !== undefined && !fits(cert, key))
    throw refuse("its client key cannot be read, or is not the key of its client certificate");
  return {
    server: url,
    ...(ca !== undefined && { ca }),
    ...(servername !== undefined && { servername }),
    rejectUnauthorized: true,
    ownAddresses,
    credentials: async () => credentials,
    forget: () => undefined,
  };
};

/** Makes an access of the parts of a secret: the error of a refusal, and the checked access. */
export interface SecretParts {
  readonly refuse: (why: string) => Error;
  /** Checks server, CA, certificate and key, and makes the access. */
  readonly access: (parts: AccessParts) => Access;
}

interface AccessParts {
  readonly server: string;
  readonly ca?: string;
  readonly servername?: string;
  readonly credentials: Credentials;
}

/**
 * Access by a kubeconfig in a secret. The Kubernetes library does not read it, because it runs
 * programs (exec, cmd-path) and reads files (token-file) that a kubeconfig names. A field that is
 * not allowed is refused before anything else is used.
 */
export const kubeconfigTextAccess = (
  value: unknown,
  wanted: string | undefined,
  { refuse, access }: SecretParts,
): Access => {
  const parsed = kubeconfigShape.safeParse(value);
  if (!parsed.success) throw refuse(faultText(parsed.error));
  const { cluster, user } = chosen(parsed.data, wanted, refuse);
  if (cluster["insecure-skip-tls-verify"] === true)
    throw refuse("insecure-skip-tls-verify is not followed here: give certificate-authority-data");
  const { server, "certificate-authority-data": ca, "tls-server-name": servername } = cluster;
  return access({
    server,
    credentials: credentialsOf(user, refuse),
    ...(ca !== undefined && { ca }),
    ...(servername !== undefined && { servername }),
  });
};

/**
 * The refusals quote no names of the content, because a broken content may have a token in their
 * place.
 */
const chosen = (
  { contexts, clusters, users, ...config }: KubeconfigText,
  wanted: string | undefined,
  refuse: SecretParts["refuse"],
) => {
  const name = wanted ?? config["current-context"];
  const context = contexts.find((entry) => entry.name === name)?.context;
  if (context === undefined) {
    const which = wanted === undefined ? "its current-context" : `context "${wanted}"`;
    throw refuse(`${which} is not among its ${contexts.length} contexts`);
  }
  const cluster = clusters.find((entry) => entry.name === context.cluster)?.cluster;
  if (cluster === undefined) throw refuse("its context names a cluster that is not in it");
  const user = users.find((entry) => entry.name === context.user)?.user;
  if (user === undefined) throw refuse("its context names a user that is not in it");
  return { cluster, user };
};

const credentialsOf = (user: KubeconfigUser, refuse: SecretParts["refuse"]): Credentials => {
  const { "client-certificate-data": cert, "client-key-data": key } = user;
  if ((cert === undefined) !== (key === undefined))
    throw refuse("client-certificate-data and client-key-data must be given together");
  return {
    headers: { ...authorization(user), ...impersonation(user, refuse) },
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
};

const authorization = ({
  token,
  username,
  password = "",
}: KubeconfigUser): Credentials["headers"] => {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  return username === undefined ? {} : { authorization: basic(username, password) };
};

const impersonation = (
  user: KubeconfigUser,
  refuse: SecretParts["refuse"],
): Credentials["headers"] => {
  const { as, "as-uid": uid, "as-groups": groups = [], "as-user-extra": extra = {} } = user;
  const extras = Object.entries(extra).map(
    ([key, values]) => [`impersonate-extra-${headerKey(key)}`, values] as const,
  );
  if (as === undefined && (uid !== undefined || groups.length > 0 || extras.length > 0))
    throw refuse("as-uid, as-groups and as-user-extra need as");
  if (as === undefined) return {};
  return {
    "impersonate-user": as,
    ...(uid !== undefined && { "impersonate-uid": uid }),
    ...(groups.length > 0 && { "impersonate-group": groups }),
    ...Object.fromEntries(extras),
  };
};

/** The key as a part of a header name. The API server decodes it. */
const headerKey = (key: string): string => percentEncoded(key.toLowerCase().toWellFormed());

/** Data of other tools, such as minikube. It is ignored. */
const extensions = z.unknown().exactOptional();

/** The allowed fields of a cluster. Every other field is refused: a proxy, and a CA in a file. */
const cluster = z.strictObject({
  server: filled,
  "certificate-authority-data": pemData.exactOptional(),
  "tls-server-name": headerText.exactOptional(),
  "insecure-skip-tls-verify": z.boolean().exactOptional(),
  "disable-compression": z.boolean().exactOptional(),
  extensions,
});

/**
 * The allowed fields of a user, with values that are used directly. Every other field is refused:
 * programs, providers and files.
 */
const user = z.strictObject({
  token: bearerToken.exactOptional(),
  "client-certificate-data": pemData.exactOptional(),
  "client-key-data": pemData.exactOptional(),
  username: filled.exactOptional(),
  password: z.string().exactOptional(),
  as: headerText.exactOptional(),
  "as-uid": headerText.exactOptional(),
  "as-groups": z.array(headerText).exactOptional(),
  "as-user-extra": z.record(z.string(), z.array(headerText)).exactOptional(),
  extensions,
});

const context = z.strictObject({
  cluster: z.string(),
  user: z.string(),
  namespace: z.string().exactOptional(),
  extensions,
});

/**
 * The allowed form of a kubeconfig in a secret. It lists the allowed fields at every level and in
 * every entry, also in entries that the context does not select: a field of a later version of the
 * format is refused until it is added here.
 */
const kubeconfigShape = z.strictObject({
  apiVersion: z.string().exactOptional(),
  kind: z.string().exactOptional(),
  preferences: z.unknown().exactOptional(),
  "current-context": z.string().exactOptional(),
  clusters: z.array(z.strictObject({ name: z.string(), cluster })),
  users: z.array(z.strictObject({ name: z.string(), user })),
  contexts: z.array(z.strictObject({ name: z.string(), context })),
  extensions,
});

type KubeconfigText = z.infer<typeof kubeconfigShape>;
type KubeconfigUser = z.infer<typeof user>;
