import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as https from "node:https";
import { parse, stringify } from "yaml";
import { standIn, status } from "../cluster/stand-in/server.ts";

interface Kubeconfig {
  readonly clusters: readonly [
    {
      readonly name: string;
      readonly cluster: { readonly server: string; readonly "certificate-authority-data": string };
    },
  ];
  readonly users: readonly [{ readonly name: string; readonly user: { readonly token: string } }];
}

/**
 * Address of the cluster in the network of the test; connections to it lead to loopback
 * (bootstrap.ts).
 */
export const CLUSTER_ADDRESS = "10.99.0.1";
const TLS_NAME = "localhost";

export interface LoadBalancer {
  /**
   * For clients in the network: server, CA and name of the load balancer, and the user of the
   * cluster.
   */
  readonly kubeconfig: string;
  readonly port: string;
  readonly ca: string;
  /** Gives the user another token, and answers 401 to the former. Returns the new kubeconfig. */
  readonly rotate: () => string;
  /** How many requests came with a token that is none any more. */
  readonly refused: () => number;
  readonly close: () => Promise<void>;
}

/**
 * A TLS load balancer in front of a simulated cluster. Functions never connect to loopback, where
 * the cluster listens, and the cluster answers no request that names it otherwise; so it has a
 * private address here, as in a VPC.
 */
export const startLoadBalancer = async (kubeconfigPath: string): Promise<LoadBalancer> => {
  const config: Kubeconfig = parse(await readFile(kubeconfigPath, "utf8"));
  const { name, cluster } = config.clusters[0];
  const [{ name: userName, user }] = config.users;
  let [token, refused] = [user.token, 0];
  const front = await standIn();
  const ca = Buffer.from(cluster["certificate-authority-data"], "base64");
  const unauthorized = status(401, "Unauthorized", "Unauthorized");
  front.answer = (seen, response, socket) => {
    const { method, url, headers, body } = seen;
    if (headers.authorization !== `Bearer ${token}`) {
      refused++;
      unauthorized(seen, response, socket);
      return;
    }
    const target = new URL(`${url.pathname}${url.search}`, cluster.server);
    const request = https.request(
      target,
      {
        method,
        ca,
        headers: { ...headers, host: target.host, authorization: `Bearer ${user.token}` },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    request.on("error", () => response.destroy());
    request.end(body);
  };
  const { port } = new URL(front.url);
  const server = {
    server: `https://${CLUSTER_ADDRESS}:${port}`,
    "tls-server-name": TLS_NAME,
    "certificate-authority-data": Buffer.from(front.ca).toString("base64"),
  };
  const kubeconfig = (): string =>
    stringify({
      ...config,
      clusters: [{ name, cluster: server }],
      users: [{ name: userName, user: { token } }],
    });
  const rotate = (): string => {
    token = randomUUID();
    return kubeconfig();
  };
  return {
    kubeconfig: kubeconfig(),
    port,
    ca: front.ca,
    rotate,
    refused: () => refused,
    close: front.close,
  };
};
