import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { isSameSecret, newSecret } from "../../dashboard/serve/secret.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { FORBIDDEN } from "../../rules/model/http-status.ts";

/**
 * Region and credentials for the local tables and queue. The SDK requires them, and the servers do
 * not check them.
 */
export const LOOPBACK_REGION = "local";
export const LOOPBACK_CREDENTIALS = { accessKeyId: "loopback", secretAccessKey: "loopback" };
/**
 * The headers that the engine of the tables asks for. It does not check the signature, so none is
 * computed.
 */
export const UNSIGNED = {
  authorization:
    "AWS4-HMAC-SHA256 Credential=loopback/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=none",
  "x-amz-date": "20260101T000000Z",
} as const;

/** The names of this machine in its own programs, with any port. */
const OWN_NAMES = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;
const MISDIRECTED = 421;

/**
 * Lets a server answer only requests that name this machine. A web page can make its own name
 * resolve to 127.0.0.1 (DNS rebinding), and the browser then treats the answers as a part of that
 * page. The Host header still has the name of the page.
 */
const refuseForeignHosts = (server: Server | SecureServer): void =>
  guard(
    server,
    { code: MISDIRECTED, why: "the Host header does not name this machine" },
    ({ headers }) => OWN_NAMES.test(headers.host ?? ""),
  );

/** Lets the listeners of a server get only the requests that are let in. */
const guard = (
  server: Server | SecureServer,
  refusal: { readonly code: number; readonly why: string },
  isLetIn: (request: IncomingMessage) => boolean,
): void => {
  const listeners = server.listeners("request");
  server.removeAllListeners("request");
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (isLetIn(request))
      for (const listener of listeners) listener.call(server, request, response);
    else {
      // The body is not read, so the connection is closed and carries no second request.
      response.writeHead(refusal.code, {
        "content-type": "text/plain; charset=utf-8",
        connection: "close",
      });
      response.end(`Cannot answer: ${refusal.why}\n`);
    }
  });
};

/** The first segment of a path, and the rest. */
const FIRST_SEGMENT = /^\/([^/?]*)(.*)$/s;

/**
 * Binds a server to 127.0.0.1 only for programs of this user: every user of the machine reaches
 * loopback, so each request must carry a secret of this run as the first segment of its path. The
 * address that is returned has it, and is written only into the folder of the run, which only its
 * user may read. Throws `local.port-in-use`.
 */
export const listenForOwnUser = async (server: Server, wantedPort = 0): Promise<string> => {
  const secret = newSecret();
  guard(server, { code: FORBIDDEN, why: "the address lacks the secret of this run" }, (request) => {
    const [, given = "", rest = ""] = FIRST_SEGMENT.exec(request.url ?? "") ?? [];
    if (!isSameSecret(given, secret)) return false;
    request.url = rest === "" ? "/" : rest;
    return true;
  });
  return `${await listenOnLoopback(server, wantedPort)}/${secret}`;
};

/**
 * Binds a server only to 127.0.0.1, by default on a port of the system's choice, and gives its
 * address; it answers only those that name this machine. Throws `local.port-in-use`.
 */
export const listenOnLoopback = async (
  server: Server | SecureServer,
  wantedPort = 0,
): Promise<string> => {
  refuseForeignHosts(server);
  return listenWithOwnGuards(server, wantedPort);
};

/** The same for a server that guards itself against foreign hosts. Throws `local.port-in-use`. */
export const listenWithOwnGuards = async (
  server: Server | SecureServer,
  wantedPort: number,
): Promise<string> => {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? portInUse(wantedPort, error) : error),
    );
    server.listen(wantedPort, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
};

const portInUse = (port: number, cause: Error): TidemarkError =>
  new TidemarkError(
    "local.port-in-use",
    `Cannot listen on port ${port} of 127.0.0.1: another process has it`,
    { port },
    { cause },
  );

/**
 * Closes a server, and the connections that clients of other processes keep open; then waits until
 * no answer of it is being made any more (`idle`).
 */
export const closeServer = async (
  server: Server | SecureServer,
  idle: () => Promise<void> = async () => {},
): Promise<void> => {
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeAllConnections();
  });
  await idle();
};
