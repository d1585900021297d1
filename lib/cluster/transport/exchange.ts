import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import * as http from "node:http";
import * as https from "node:https";
import type { Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

/** One HTTP exchange as it ended. `wireBytes` counts what came over the network, before decompression. */
export type Exchange = Answered | Broken;

export interface Answered {
  readonly kind: "answered";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly wireBytes: number;
}

export interface Broken {
  readonly kind: "broken";
  readonly because: "timeout" | "too-large" | "network";
  readonly error: NodeJS.ErrnoException;
  /** False proves that no byte of the request left this process. */
  readonly sent: boolean;
  /** The connection had carried an exchange before; the server may have closed it while it lay idle. */
  readonly reused: boolean;
  /** A status line had come when it broke. */
  readonly answering: boolean;
  readonly wireBytes: number;
}

export interface Outgoing {
  readonly secure: boolean;
  readonly options: RequestOptions & https.RequestOptions;
  readonly body?: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** Connections whose TLS handshake is complete. Before that Node holds the request back, so a failure proves that nothing was sent. */
const established = new WeakSet<Socket>();

/** Sends one request once and waits for the whole answer; never repeats, never throws, and leaves no timer behind. */
export const exchange = (outgoing: Outgoing): Promise<Exchange> => {
  const progress: Progress = { sent: false, reused: false, answering: false, wireBytes: 0, because: "network" };
  try {
    return carry((outgoing.secure ? https : http).request(outgoing.options), outgoing, progress);
  } catch (error) {
    // Node refuses a header or a certificate before it connects: nothing was sent, so this fails as an unreachable server does and the workloads hold. Its words stay here,
    // because they may quote what it was given.
    const { code = "" } = error as NodeJS.ErrnoException;
    return Promise.resolve({ kind: "broken", error: new Error(`the request cannot be made of these credentials (${code})`), ...progress });
  }
};

const carry = (request: http.ClientRequest, { secure, body, timeoutMs, maxBytes }: Outgoing, progress: Progress): Promise<Exchange> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => {
      progress.because = "timeout";
      request.destroy(new Error("deadline passed"));
    }, timeoutMs);
    const end = (outcome: Exchange): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    const fail = (error: Error): void => end({ kind: "broken", error, ...progress });
    request.on("socket", (socket) => follow(socket, secure, progress));
    request.on("error", fail);
    request.on("response", (response) => {
      progress.answering = true;
      collect(response, maxBytes, progress).then((text) => {
        end({ kind: "answered", status: response.statusCode ?? 0, headers: response.headers, text, wireBytes: progress.wireBytes });
      }, fail);
    });
    request.end(body);
  });

interface Progress {
  sent: boolean;
  reused: boolean;
  answering: boolean;
  wireBytes: number;
  because: Broken["because"];
}

const follow = (socket: Socket, secure: boolean, progress: Progress): void => {
  if (established.has(socket)) {
    progress.sent = true;
    progress.reused = true;
    return;
  }
  socket.once(secure ? "secureConnect" : "connect", () => {
    established.add(socket);
    progress.sent = true;
  });
};

const collect = async (response: IncomingMessage, maxBytes: number, progress: Progress): Promise<string> => {
  const chunks: Buffer[] = [];
  let total = 0;
  const keep = (chunk: Buffer): void => {
    total += chunk.length;
    if (total > maxBytes) {
      progress.because = "too-large";
      throw new RangeError(`answer is larger than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  };
  response.on("data", (chunk: Buffer) => {
    progress.wireBytes += chunk.length;
  });
  const sink = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) keep(chunk);
  };
  if (response.headers["content-encoding"] === "gzip") await pipeline(response, createGunzip(), sink);
  else await pipeline(response, sink);
  return Buffer.concat(chunks, total).toString("utf8");
};
