import { Buffer } from "node:buffer";

/** The text of a kubeconfig with one cluster and one user. */
export const kubeconfigText = (
  { url, ca }: { readonly url: string; readonly ca: string },
  user: Readonly<Record<string, unknown>>,
): string => {
  const cluster = { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "control-plane", cluster }],
    users: [{ name: "user", user }],
    contexts: [{ name: "control-plane", context: { cluster: "control-plane", user: "user" } }],
    "current-context": "control-plane",
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
};
