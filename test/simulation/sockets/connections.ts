import { Agent, createServer, type Server } from "node:http";
import { type Duplex, duplexPair } from "node:stream";

/** One connection in memory, as both ends see it. */
export interface Connection {
  readonly client: Duplex;
  readonly server: Duplex;
}

/** What an HTTP client asks of a socket beside its bytes. */
const SOCKET = ["setKeepAlive", "setNoDelay", "setTimeout", "ref", "unref"];

/** What an HTTP client and an HTTP server take for a socket. */
export const asSocket = (stream: Duplex): Duplex => {
  for (const name of SOCKET) Object.assign(stream, { [name]: () => stream });
  // A peer that was reset writes into nothing.
  stream.on("error", () => undefined);
  return stream;
};

/** Connections that stand, of all processes of this thread. */
const open = new Set<Duplex>();

/** A new connection: the end of the client, and that of the server. */
const newConnection = (): readonly [Duplex, Duplex] => {
  const [client, peer] = duplexPair();
  for (const end of [client, peer]) {
    asSocket(end);
    open.add(end);
    end.on("close", () => open.delete(end));
  }
  client.on("close", () => peer.destroy());
  return [client, peer];
};

/**
 * Ends all connections of a play that is over. Node keeps the parser of each until then, and with
 * it the whole world of the play.
 */
export const closeConnections = (): void => {
  for (const end of open) end.destroy();
};

/**
 * An agent that reaches an HTTP server through memory: the parsers of Node and every byte between
 * them are real.
 */
export const agentTo = (server: Server): Agent => {
  const agent = new Agent({ keepAlive: true });
  agent.createConnection = () => {
    const [client, peer] = newConnection();
    server.emit("connection", peer);
    return client;
  };
  return agent;
};

/** How an attempt to connect ends: the connection stands, nothing listens, or nothing answers. */
export type Reached = "connected" | "refused" | "silence";

/**
 * A connection through memory to an HTTP server, as a socket makes it: what is written before it
 * stands is sent once it stands.
 */
export const connectionTo = (server: Server, reach: () => Promise<Reached>): Duplex => {
  const [client, peer] = newConnection();
  client.cork();
  peer.on("close", () =>
    client.destroy(Object.assign(new Error("socket hang up"), { code: "ECONNRESET" })),
  );
  void reach().then((reached) => {
    if (reached === "refused")
      client.destroy(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
    if (reached !== "connected" || client.destroyed) return;
    server.emit("connection", peer);
    client.emit("connect");
    client.uncork();
  });
  return client;
};

export const serverOf = (handle: Parameters<typeof createServer>[1]): Server =>
  createServer(handle);
