import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";

/** One request that a service of AWS got, with whether its signature was right. */
export interface SignedCall {
  readonly service: string;
  readonly accessKeyId: string;
  readonly method: string;
  readonly url: string;
  readonly target: string | undefined;
  readonly body: string;
  readonly signatureIsRight: boolean;
}

export interface AwsServer {
  readonly url: string;
  readonly calls: SignedCall[];
  /** The forms that AssumeRole got. */
  readonly assumed: URLSearchParams[];
  /** What a service answers, and after how long. */
  afterMs: number;
  answer: (call: SignedCall) => readonly [status: number, body: unknown];
  readonly close: () => Promise<void>;
}

const SESSION = {
  accessKeyId: "ASIASESSION",
  secret: "session-secret",
  token: "session/token+of==",
};

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/**
 * Signature Version 4 as its documentation describes it, written anew from what came over the wire.
 */
const isRight = (
  { method = "", url = "/", headers }: IncomingMessage,
  body: string,
  secret: string,
): boolean => {
  const [, scope = "", signed = "", signature = ""] =
    /Credential=[^/]+\/(\S+), SignedHeaders=(\S+), Signature=(\w+)/.exec(
      headers.authorization ?? "",
    ) ?? [];
  const [date = "", region = "", service = ""] = scope.split("/");
  const { pathname, searchParams } = new URL(url, "http://aws");
  const path = pathname
    .split("/")
    .map((segment) => encoded(decodeURIComponent(segment)))
    .join("/");
  const query = [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted();
  const names = signed.split(";");
  const canonical = [
    method,
    path,
    query.join("&"),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    "",
    signed,
    createHash("sha256").update(body).digest("hex"),
  ].join("\n");
  const text = [
    "AWS4-HMAC-SHA256",
    headers["x-amz-date"],
    scope,
    createHash("sha256").update(canonical).digest("hex"),
  ].join("\n");
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), "aws4_request");
  const needed = ["host", "x-amz-date", "x-amz-security-token"].every((name) =>
    names.includes(name),
  );
  return (
    needed &&
    headers["x-amz-security-token"] === SESSION.token &&
    hmac(key, text).toString("hex") === signature
  );
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
};

const ASSUMED = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>${SESSION.accessKeyId}</AccessKeyId><SecretAccessKey>${SESSION.secret}</SecretAccessKey><SessionToken>${SESSION.token}</SessionToken>
<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;

/**
 * STS and the services behind it, on loopback: it gives a session, and checks the signature of each
 * call by recomputing it.
 */
export const awsServer = async (): Promise<AwsServer> => {
  const calls: SignedCall[] = [];
  const assumed: URLSearchParams[] = [];
  const state: Pick<AwsServer, "answer" | "afterMs"> = { answer: () => [500, {}], afterMs: 0 };
  const server = createServer((request, response) => {
    void textOf(request).then(async (body) => {
      if (body.startsWith("Action=") || body.includes("&Action=AssumeRole")) {
        assumed.push(new URLSearchParams(body));
        return response.writeHead(200, { "content-type": "text/xml" }).end(ASSUMED);
      }
      const [, accessKeyId = "", scope = ""] =
        /Credential=([^/]+)\/(\S+),/.exec(request.headers.authorization ?? "") ?? [];
      const call = {
        service: scope.split("/")[2] ?? "",
        accessKeyId,
        method: request.method ?? "",
        url: request.url ?? "",
        target: request.headers["x-amz-target"] as string | undefined,
        body,
        signatureIsRight: isRight(request, body, SESSION.secret),
      };
      calls.push(call);
      const [status, answer] = state.answer(call);
      if (state.afterMs > 0) await setTimeout(state.afterMs);
      return response
        .writeHead(status, { "content-type": "application/x-amz-json-1.0" })
        .end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    calls,
    assumed,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
};
