import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Region and credentials of everything that answers on loopback: the SDK insists on some, and nothing checks them. */
export const LOOPBACK_REGION = "local";
export const LOOPBACK_CREDENTIALS = { accessKeyId: "loopback", secretAccessKey: "loopback" };

/** Binds a server to 127.0.0.1 alone, on a port of the system's choice, and gives its address. */
export const listenOnLoopback = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
};

/** Closes a server, and the connections that clients of other processes keep open. */
export const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeAllConnections();
  });
