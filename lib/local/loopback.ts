import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { TidemarkError } from "../model/errors.ts";

/** Region and credentials of everything that answers on loopback: the SDK insists on some, and nothing checks them. */
export const LOOPBACK_REGION = "local";
export const LOOPBACK_CREDENTIALS = { accessKeyId: "loopback", secretAccessKey: "loopback" };

/** Binds a server to 127.0.0.1 alone, by default on a port of the system's choice, and gives its address. Throws `local.port-in-use`. */
export const listenOnLoopback = async (server: Server, wantedPort = 0): Promise<string> => {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(error.code === "EADDRINUSE" ? portInUse(wantedPort, error) : error));
    server.listen(wantedPort, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
};

const portInUse = (port: number, cause: Error): TidemarkError =>
  new TidemarkError("local.port-in-use", `Cannot listen on port ${port} of 127.0.0.1: another process has it`, { port }, { cause });

/** Closes a server, and the connections that clients of other processes keep open. */
export const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeAllConnections();
  });
