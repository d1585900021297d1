import type { IncomingMessage, ServerResponse } from "node:http";
import type { Seen, StandIn } from "../cluster/stand-in/server.ts";

/** Gives each request with its whole body to a stand-in, which notes it among `seen`. */
export const bodyAnswer =
  (server: Pick<StandIn, "answer">, seen: Seen[] = []) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      // Nothing is packed: what a tenant fills its objects with need not be packable.
      const { "accept-encoding": _packed, ...headers } = request.headers;
      const call: Seen = {
        ...{ method: request.method ?? "", headers, body: Buffer.concat(chunks).toString("utf8") },
        url: new URL(request.url ?? "/", "http://virtual"),
      };
      seen.push(call);
      server.answer(call, response, request.socket);
    });
  };
