import { stringify } from "yaml";
import type { ServerCredentials } from "../run/certificates.ts";

const NAME = "tidemark-local";

/** A kubeconfig for the simulated cluster, self-contained: any Kubernetes client connects with it. */
export const kubeconfig = (url: string, { caPem, token }: ServerCredentials): string =>
  stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: NAME, cluster: { server: url, "certificate-authority-data": Buffer.from(caPem).toString("base64") } }],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME, namespace: "default" } }],
    "current-context": NAME,
  });
