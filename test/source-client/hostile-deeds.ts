import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";

const BOMB = gzipSync(Buffer.alloc(32 * 1024 * 1024, " "));
/** It is in the answers, and must be in no message. */
export const SECRET = "s3cr3t-of-the-server";
const pour = (response: ServerResponse): void => {
  response.writeHead(200);
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, " ")));
  };
  response.on("drain", more);
  more();
};

/**
 * What a source may do instead of an answer, and what people read of it, of a source with a limit
 * of one second.
 */
export const HOSTILE: Readonly<
  Record<string, readonly [(response: ServerResponse) => unknown, RegExp]>
> = {
  hangs: [() => undefined, /no answer within 1000 ms/],
  drips: [
    (response) => {
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    },
    /not complete within 1000 ms/,
  ],
  "never ends": [pour, /larger than 262144 bytes/],
  "sends a bomb": [
    (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(BOMB),
    /larger than 262144 bytes/,
  ],
  "breaks the connection": [(response) => response.destroy(), /the connection broke/],
  "redirects to its own secrets": [
    (response) => response.writeHead(302, { location: `/${SECRET}` }).end(SECRET),
    /status 302/,
  ],
  "redirects to the metadata service": [
    (response) => response.writeHead(307, { location: "http://169.254.169.254/latest" }).end(),
    /status 307/,
  ],
  "answers with a page": [
    (response) => response.writeHead(200).end(`<html>${SECRET}</html>`),
    /not one of a Prometheus \(status 200/,
  ],
  "answers with deep JSON": [
    (response) => response.writeHead(200).end("[".repeat(200_000)),
    /not one of a Prometheus/,
  ],
  "lies about its status": [
    (response) => response.writeHead(200).end(JSON.stringify({ status: "error", token: SECRET })),
    /not one of a Prometheus/,
  ],
};
