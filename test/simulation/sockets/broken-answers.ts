import type { IncomingMessage, ServerResponse } from "node:http";
import type { Fate } from "../fates.ts";

/**
 * How an answer fails on its way: not a byte, some of its bytes and no more, some of them and a
 * reset, or a reset at once.
 */
export type Break = "silence" | "half answer" | "half answer and reset" | "reset";
const BREAKS: readonly Break[] = ["silence", "half answer", "half answer and reset", "reset"];

/** An answer, as it goes over a connection. */
export interface WireAnswer {
  readonly status: number;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * After so long the server has given up what the network lost. The client goes by its own limit.
 */
export const LOST_MS = 15;

/**
 * How an answer breaks that does not arrive. `made` is what the server said, if it said anything.
 */
export const breakOf = ({ fault, lateness }: Fate, made: WireAnswer): Break => {
  // Of a request that was lost, or comes late, there is no answer yet.
  if (fault !== "lost answer") return lateness < 1 / 2 ? "silence" : "reset";
  return made.status === 200
    ? (BREAKS[Math.floor(lateness * BREAKS.length)] ?? "silence")
    : "silence";
};

/** Sends as much of an answer as arrives. */
export const breakOff = (
  response: ServerResponse,
  { status, body }: WireAnswer,
  how: Break,
  contentType: string,
): void => {
  const { socket } = response;
  if (how === "half answer" || how === "half answer and reset") {
    const headers = { "content-type": contentType, "content-length": Buffer.byteLength(body) };
    response.writeHead(status, headers).write(body.slice(0, Math.ceil(body.length / 2)));
  }
  if (how === "reset" || how === "half answer and reset")
    socket?.destroy(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
};

export const textOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
};
