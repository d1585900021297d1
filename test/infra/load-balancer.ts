import { readFile } from "node:fs/promises";
import * as https from "node:https";
import { parse, stringify } from "yaml";
import { standIn } from "../cluster/stand-in/server.ts";

interface Kubeconfig {
  readonly clusters: readonly [
    { readonly name: string; readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } },
  ];
}

/** Address of the cluster in the network of the test; connections to it lead to loopback (bootstrap.ts). */
export const CLUSTER_ADDRESS = "10.99.0.1";
const TLS_NAME = "localhost";

export interface LoadBalancer {
  /** For clients in the network: server, CA and name of the load balancer, and the user of the cluster. */
  readonly kubeconfig: string;
  readonly port: string;
  readonly ca: string;
  readonly close: () => Promise<void>;
}

/**
 * A TLS load balancer in front of a simulated cluster. Functions never connect to loopback, where the cluster listens, and the cluster answers no request that names it otherwise; so it has a private
 * address here, as in a VPC.
 */
export const startLoadBalancer = async (kubeconfigPath: string): Promise<LoadBalancer> => {
  const config: Kubeconfig = parse(await readFile(kubeconfigPath, "utf8"));
  const { name, cluster } = config.clusters[0];
  const front = await standIn();
  const ca = Buffer.from(cluster["certificate-authority-data"], "base64");
  front.answer = ({ method, url, headers, body }, response) => {
    const target = new URL(`${url.pathname}${url.search}`, cluster.server);
    const request = https.request(target, { method, ca, headers: { ...headers, host: target.host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.on("error", () => response.destroy());
    request.end(body);
  };
  const { port } = new URL(front.url);
  const server = {
    server: `https://${CLUSTER_ADDRESS}:${port}`,
    "tls-server-name": TLS_NAME,
    "certificate-authority-data": Buffer.from(front.ca).toString("base64"),
  };
  return { kubeconfig: stringify({ ...config, clusters: [{ name, cluster: server }] }), port, ca: front.ca, close: front.close };
};
