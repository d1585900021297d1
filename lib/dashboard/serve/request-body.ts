import type { IncomingMessage } from "node:http";

/** The body of a request; undefined where it is longer than `mostBytes`. */
export const requestBody = async (
  request: IncomingMessage,
  mostBytes: number,
): Promise<Uint8Array | undefined> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  // The connection stays open after a body that is too long, so that the refusal arrives.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > mostBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
};
