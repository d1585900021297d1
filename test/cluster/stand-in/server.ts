import type { IncomingMessage, ServerResponse } from "node:http";
import * as https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type Authority, authority, type IssueOptions } from "./certificates.ts";

export interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Common name of the client certificate, when one was shown. */
  readonly clientName?: string;
}

export type Answer = (seen: Seen, response: ServerResponse, socket: Socket) => void;

export interface StandIn {
  readonly url: string;
  readonly ca: string;
  readonly authority: Authority;
  readonly seen: Seen[];
  /** TLS connections accepted so far. */
  readonly connections: () => number;
  /** TLS connections that are open now. */
  readonly open: () => number;
  /** What every request gets from now on. */
  answer: Answer;
  /** Closes connections that lie idle, as an API server does after 90 s. */
  readonly closeIdle: () => void;
  readonly close: () => Promise<void>;
}

/**
 * A real HTTPS server on loopback with a CA of its own. Nothing of it is faked; only what it
 * answers is up to the test.
 */
export const standIn = async (options: IssueOptions = {}): Promise<StandIn> => {
  const root = await authority();
  const identity = await root.issue("stand-in", options);
  let [accepted, open] = [0, 0];
  const seen: Seen[] = [];
  const state: { answer: Answer } = { answer: json(200, {}) };
  const server = https.createServer(
    { ...identity, ca: root.ca, requestCert: true, rejectUnauthorized: false, keepAliveTimeout: 0 },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const name = clientName(request.socket);
        const call: Seen = {
          method: request.method ?? "",
          url: new URL(request.url ?? "/", "https://stand-in"),
          headers: request.headers,
          body: Buffer.concat(chunks).toString("utf8"),
          ...(name !== undefined && { clientName: name }),
        };
        seen.push(call);
        state.answer(call, response, request.socket);
      });
    },
  );
  server.on("secureConnection", (socket: Socket) => {
    accepted++;
    open++;
    socket.once("close", () => open--);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: root.ca,
    authority: root,
    seen,
    connections: () => accepted,
    open: () => open,
    get answer() {
      return state.answer;
    },
    set answer(next) {
      state.answer = next;
    },
    closeIdle: () => server.closeIdleConnections(),
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
};

const clientName = (socket: Socket): string | undefined => {
  const subject = (
    socket as { getPeerCertificate?: () => { subject?: { CN?: string | string[] } } }
  ).getPeerCertificate?.().subject?.CN;
  return typeof subject === "string" ? subject : undefined;
};

/** Answers every request with this JSON. */
export const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_seen, response) => {
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify(body));
  };

/** Answers with a Status object, as the API server does for errors. */
export const status = (
  code: number,
  reason: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer =>
  json(
    code,
    { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message },
    headers,
  );

/** Answers the first request with the first, the second with the second; the last one stays. */
export const inTurn = (...answers: readonly [Answer, ...Answer[]]): Answer => {
  let at = 0;
  return (...call) => (answers[Math.min(at++, answers.length - 1)] ?? answers[0])(...call);
};
