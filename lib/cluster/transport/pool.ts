import * as http from "node:http";
import * as https from "node:https";
import type { Socket } from "node:net";
import type { Access } from "../access/access.ts";
import { foreignLookup } from "../reachable.ts";
import { MAX_FLOW_CALLS, MAX_IDLE_SOCKETS, MAX_SOCKETS } from "../request-limits.ts";
import { OF_THE_MACHINE, type Surroundings } from "./surroundings.ts";

/** The keep-alive connections to one cluster. */
export interface Pool {
  readonly agent: http.Agent;
  /** The timer of the calls. */
  readonly after: Surroundings["after"];
  /** Closes connections that were idle for longer than this. A process that was frozen has not noticed that the server closed them. */
  readonly dropIdle: (olderThanMs: number) => void;
  /** Closes idle connections now, and the others when they become idle. */
  readonly close: () => void;
}

/** A bounded pool: the writes may take all but the connections of reads that go on beside them. `nowMs` is the wall clock, because it must run on while the process is frozen. */
export const connectionPool = (access: Access, nowMs: () => number, { after, connection }: Surroundings = OF_THE_MACHINE): Pool => {
  const idleSince = new WeakMap<Socket, number>();
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS + MAX_FLOW_CALLS, maxFreeSockets: MAX_IDLE_SOCKETS, scheduling: "lifo" as const };
  const agent =
    access.server.protocol === "https:"
      ? new https.Agent({
          ...options,
          rejectUnauthorized: access.rejectUnauthorized,
          ...(!access.ownAddresses && { lookup: foreignLookup }),
          ...(access.ca !== undefined && { ca: access.ca }),
          ...(access.servername !== undefined && { servername: access.servername }),
        })
      : new http.Agent(options);
  if (connection) agent.createConnection = connection;
  agent.on("free", (socket: Socket) => idleSince.set(socket, nowMs()));
  const idle = (): Socket[] => Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
  return {
    agent,
    after,
    dropIdle: (olderThanMs) => {
      const now = nowMs();
      for (const socket of idle()) {
        const age = now - (idleSince.get(socket) ?? Number.NEGATIVE_INFINITY);
        // After a clock was set back the age is not known, so that the connection is not used.
        if (age > olderThanMs || age < 0) socket.destroy();
      }
    },
    close: () => {
      const drop = (): void => {
        for (const socket of idle()) socket.destroy();
      };
      drop();
      // Runs after the listener of the agent, which may have given the connection to a waiting call. Only connections that are idle now are closed.
      agent.on("free", drop);
    },
  };
};
