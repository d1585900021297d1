import * as z from "zod";
import { bearerToken, filled, headerText, pemData } from "./secret-fields.ts";

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

/** The allowed fields of a user, with values that are used directly. Every other field is refused: programs, providers and files. */
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

const context = z.strictObject({ cluster: z.string(), user: z.string(), namespace: z.string().exactOptional(), extensions });

/**
 * The allowed form of a kubeconfig in a secret. It lists the allowed fields at every level and in every entry, also in entries that the context does not select: a field of a later
 * version of the format is refused until it is added here.
 */
export const kubeconfigShape = z.strictObject({
  apiVersion: z.string().exactOptional(),
  kind: z.string().exactOptional(),
  preferences: z.unknown().exactOptional(),
  "current-context": z.string().exactOptional(),
  clusters: z.array(z.strictObject({ name: z.string(), cluster })),
  users: z.array(z.strictObject({ name: z.string(), user })),
  contexts: z.array(z.strictObject({ name: z.string(), context })),
  extensions,
});

export type KubeconfigText = z.infer<typeof kubeconfigShape>;
export type KubeconfigUser = z.infer<typeof user>;
