import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { closeServer } from "../../../lib/embedded/host/loopback.ts";
import type { FunctionUrlHandler } from "../../../lib/lambda/function-url.ts";
import { type Identities, verdictOn } from "./signature.ts";

export interface Account {
  readonly url: string;
  /** The functions by name. */
  readonly functions: Record<string, FunctionUrlHandler>;
  /** The events that reached a function. */
  readonly events: unknown[];
  /** The questions to STS, as their method, host, path and headers. */
  readonly asked: string[];
  /** What STS answers in place of the truth. */
  sts?: { readonly status: number; readonly body: string };
  readonly close: () => Promise<void>;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/sts\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

/** The ARN of the signer of a question to STS, by a signature that is made anew of what came. */
const signerOf = (
  { method = "", url = "", headers }: IncomingMessage,
  identities: Identities,
): string | undefined => {
  const [, key = "", day = "", region = "", names = "", signature] =
    AUTHORIZATION.exec(headers.authorization ?? "") ?? [];
  const identity = identities[key];
  if (!identity || identity.sessionToken !== headers["x-amz-security-token"]) return undefined;
  if (!names.split(";").includes("host")) return undefined;
  const { pathname, searchParams } = new URL(url, "https://host");
  searchParams.sort();
  const canonical = [
    method,
    pathname,
    String(searchParams),
    ...names.split(";").map((name) => `${name}:${String(headers[name])}`),
    "",
    names,
    sha256(""),
  ].join("\n");
  const scope = `${day}/${region}/sts/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  const signing = [day, region, "sts", "aws4_request"].reduce<string | Buffer>(
    hmac,
    `AWS4${identity.secretAccessKey}`,
  );
  return hmac(signing, text).toString("hex") === signature ? identity.arn : undefined;
};

const XML = 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"';
export const identityXml = (...arns: readonly string[]): string =>
  `<GetCallerIdentityResponse ${XML}><GetCallerIdentityResult>${arns.map((arn) => `<Arn>${arn}</Arn>`).join("")}<UserId>AIDA</UserId><Account>1</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`;
const WRONG = `<ErrorResponse ${XML}><Error><Type>Sender</Type><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error></ErrorResponse>`;

const INVOKE = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

/** Lambda and STS of one account behind one port. Each verifies the signature of what it gets. */
export const startAccount = async (
  { region, accountId }: { readonly region: string; readonly accountId: string },
  identities: Identities,
  nowMs: () => number,
): Promise<Account> => {
  let requests = 0;
  const reply = (
    response: ServerResponse,
    status: number,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): void => void response.writeHead(status, headers).end(body);

  const invoke = async (
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const body = await buffer(request);
    const { method = "", url = "", headers } = request;
    const verdict = await verdictOn({ method, url, headers, body }, identities, nowMs());
    const type = { "content-type": "application/json" };
    if (verdict.kind === "refused") return reply(response, 403, JSON.stringify(verdict.body), type);
    const handler = account.functions[name];
    if (!handler) return reply(response, 404, '{"Message":"Function not found"}', type);
    const event = JSON.parse(body.toString());
    account.events.push(event);
    try {
      const answer = await handler(event, {
        invokedFunctionArn: `arn:aws:lambda:${region}:${accountId}:function:${name}`,
        awsRequestId: `r-${++requests}`,
      });
      reply(response, 200, JSON.stringify(answer), type);
    } catch (error) {
      reply(response, 200, JSON.stringify({ errorMessage: String(error) }), {
        ...type,
        "x-amz-function-error": "Unhandled",
      });
    }
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = "", headers } = request;
    const name = INVOKE.exec(url)?.[1];
    if (name !== undefined) return invoke(name, request, response);
    account.asked.push(`${method} ${headers.host} ${url} ${JSON.stringify(headers)}`);
    if (account.sts) return reply(response, account.sts.status, account.sts.body);
    const arn = signerOf(request, identities);
    reply(response, arn === undefined ? 403 : 200, arn === undefined ? WRONG : identityXml(arn));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const account: Account = {
    // Under any name: a question to STS has the name of STS.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ functions: {}, events: [], asked: [] },
    close: () => closeServer(server),
  };
  return account;
};
