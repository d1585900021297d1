import * as http from "node:http";
import * as https from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import { closeServer } from "../../lib/embedded/host/loopback.ts";

/**
 * What a proxy does to one request. `cut before` and `cut after`: the connection ends before or
 * after the request was executed. `late`: the caller is cut off, and the request is executed some
 * time after that. `repeat`: it is sent twice, and the second answer is given. `silence`: no answer
 * ever comes.
 */
export const PROXY_FAULTS = [
  "delay",
  "cut before",
  "cut after",
  "late",
  "repeat",
  "silence",
] as const;
export type ProxyFault = (typeof PROXY_FAULTS)[number];

export interface FaultyProxy {
  readonly url: string;
  /** How often each fault was done to a request. */
  readonly done: Map<string, number>;
  readonly close: () => Promise<void>;
}

export interface Upstream {
  readonly url: string;
  /** Of an upstream with TLS. */
  readonly ca?: string;
  /** Of the proxy itself, where it is to speak TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** A request is executed at most so long after it came. */
  readonly lateMaxMs: number;
  /** Chance that a request meets a fault, now. */
  readonly rate: () => number;
}

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

const bodyOf = async (stream: http.IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

/**
 * An HTTP proxy on loopback between a client and one server, which makes a share of the requests go
 * wrong.
 */
export const startProxy = async (upstream: Upstream): Promise<FaultyProxy> => {
  const { url, ca, tls, rate, lateMaxMs } = upstream;
  const secure = url.startsWith("https:");
  const agent = secure
    ? new https.Agent({ keepAlive: true, ca })
    : new http.Agent({ keepAlive: true });
  const done = new Map<string, number>();
  // The address of the embedded tables has the secret of the run as its path.
  const pathBefore = new URL(url).pathname.replace(/\/$/, "");
  const forward = (request: http.IncomingMessage, body: Buffer): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { connection: _hop, ...headers } = request.headers;
      const options = { agent, method: request.method ?? "GET", headers };
      const sent = (secure ? https : http).request(
        new URL(`${pathBefore}${request.url ?? "/"}`, url),
        options,
        (answer) => {
          bodyOf(answer).then(
            (bytes) =>
              resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: bytes }),
            reject,
          );
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
  const answered = (response: http.ServerResponse, { status, headers, body }: Answer): void => {
    const { "transfer-encoding": _chunks, connection: _hop, ...kept } = headers;
    response.writeHead(status, { ...kept, "content-length": body.length });
    response.end(body);
  };
  const cut = (response: http.ServerResponse): void => void response.socket?.destroy();
  const lateMs = (): number => Math.random() * lateMaxMs;
  const carry: Readonly<
    Record<
      ProxyFault | "none",
      (request: http.IncomingMessage, body: Buffer, response: http.ServerResponse) => Promise<void>
    >
  > = {
    none: async (request, body, response) => answered(response, await forward(request, body)),
    delay: async (request, body, response) => {
      await wait(lateMs());
      answered(response, await forward(request, body));
    },
    "cut before": async (_request, _body, response) => cut(response),
    "cut after": async (request, body, response) => {
      await forward(request, body);
      cut(response);
    },
    late: async (request, body, response) => {
      cut(response);
      await wait(lateMs());
      await forward(request, body);
    },
    repeat: async (request, body, response) => {
      await forward(request, body);
      answered(response, await forward(request, body));
    },
    silence: async (request, body) => {
      if (Math.random() < 1 / 2) await forward(request, body);
    },
  };
  const handle = async (
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): Promise<void> => {
    const body = await bodyOf(request);
    const fault =
      Math.random() < rate()
        ? (PROXY_FAULTS[Math.floor(Math.random() * PROXY_FAULTS.length)] ?? "none")
        : "none";
    done.set(fault, (done.get(fault) ?? 0) + 1);
    await carry[fault](request, body, response);
  };
  const listener: http.RequestListener = (request, response) => {
    handle(request, response).catch(() => cut(response));
  };
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new TypeError("a proxy listens on a port");
  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${address.port}`,
    done,
    close: async () => {
      server.closeAllConnections();
      agent.destroy();
      await closeServer(server);
    },
  };
};
