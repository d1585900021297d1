import * as http from "node:http";
import * as https from "node:https";
import type { Socket } from "node:net";
import type { Access } from "../access/access.ts";
import { MAX_SOCKETS } from "../limits.ts";
import { foreignLookup } from "../reachable.ts";

/** The keep-alive connections to one cluster. */
export interface Pool {
  readonly agent: http.Agent;
  /** Closes connections that have lain idle longer than this; a frozen process cannot have noticed that the other side closed them. */
  readonly dropIdle: (olderThanMs: number) => void;
  /** Closes idle connections now and those in use as they become idle. */
  readonly close: () => void;
}

/** One bounded pool; `nowMs` must run on while the process is frozen, so it is the wall clock. */
export const connectionPool = (access: Access, nowMs: () => number): Pool => {
  const idleSince = new WeakMap<Socket, number>();
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: MAX_SOCKETS, scheduling: "lifo" as const };
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
  agent.on("free", (socket: Socket) => idleSince.set(socket, nowMs()));
  const idle = (): Socket[] => Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
  return {
    agent,
    dropIdle: (olderThanMs) => {
      const now = nowMs();
      for (const socket of idle()) {
        const age = now - (idleSince.get(socket) ?? Number.NEGATIVE_INFINITY);
        // A clock that was set back says nothing about the age: not trusted either.
        if (age > olderThanMs || age < 0) socket.destroy();
      }
    },
    close: () => {
      const drop = (): void => {
        for (const socket of idle()) socket.destroy();
      };
      drop();
      // Runs after the agent's own listener, which may have passed the connection on to a waiting call: only what is idle now goes.
      agent.on("free", drop);
    },
  };
};
