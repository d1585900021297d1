import { Agent, createServer, type Server } from "node:http";
import { type Duplex, duplexPair } from "node:stream";

/** One connection in memory, as both ends see it. */
export interface Connection {
  readonly client: Duplex;
  readonly server: Duplex;
}

/** What an HTTP client asks of a socket beside its bytes. */
const SOCKET = ["setKeepAlive", "setNoDelay", "setTimeout", "ref", "unref"];

const asSocket = (stream: Duplex): Duplex => {
  for (const name of SOCKET) Object.assign(stream, { [name]: () => stream });
  // A peer that was reset writes into nothing.
  stream.on("error", () => undefined);
  return stream;
};

/** An agent that reaches an HTTP server through memory: the parsers of Node and every byte between them are real. */
export const agentTo = (server: Server): Agent => {
  const agent = new Agent({ keepAlive: true });
  agent.createConnection = () => {
    const [client, peer] = duplexPair();
    asSocket(client);
    asSocket(peer);
    client.on("close", () => peer.destroy());
    server.emit("connection", peer);
    return client;
  };
  return agent;
};

export const serverOf = (handle: Parameters<typeof createServer>[1]): Server => createServer(handle);
