import * as z from "zod";
import type { ServiceAnswer } from "../cluster/cluster-client.ts";
import { isCertificates } from "../cluster/access/pem.ts";
import { basic, bearerToken } from "../cluster/access/secret-text.ts";
import { OK } from "../../rules/model/http-status.ts";
import type { MetricSourceRecord } from "../../rules/model/metric-source.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";
import { type DirectSender, MAX_SOURCE_BYTES } from "./direct.ts";

/** What a secret says of the client that gets a token (RFC 6749, section 4.4). */
export interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
  readonly audience?: string | undefined;
  /** How the client says who it is: in the body, or by a header. */
  readonly clientAuth?: "body" | "basic" | undefined;
  /** PEM of the authority of the token server, where it is none of the system's. */
  readonly tokenCaData?: string | undefined;
}

interface ClientToken {
  readonly authorization: string;
  readonly lifeMs: number;
}

interface TokenContext {
  readonly direct: DirectSender;
  readonly ownAddresses: boolean;
  readonly refuse: (why: string) => Error;
}

/** Where a server does not say how long its token lives. */
const LIFE_SECONDS_UNSAID = 300;

const answerOf = z.object({
  access_token: bearerToken,
  token_type: z.string().refine((type) => type.toLowerCase() === "bearer"),
  expires_in: z.coerce.number().positive().default(LIFE_SECONDS_UNSAID),
});

/** The errors of RFC 6749, section 5.2: no other word of a token server is shown. */
const errorOf = z.object({
  error: z.enum([
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
  ]),
});

/**
 * Gets a token of the client, by the same guards of addresses as a question. Throws what `refuse`
 * makes; nothing of the secret and of the answer is quoted.
 */
export const tokenOf = async (
  client: ClientCredentials,
  source: MetricSourceRecord,
  { direct, ownAddresses, refuse }: TokenContext,
): Promise<ClientToken> => {
  const { tokenUrl, clientId, clientSecret, tokenCaData } = client;
  // The secret of the client is in the request.
  if (!tokenUrl.startsWith("https://") && !ownAddresses)
    throw refuse("its tokenUrl must begin with https://");
  if (tokenCaData !== undefined && !isCertificates(tokenCaData))
    throw refuse("its tokenCaData is no certificate in PEM");
  const byHeader = client.clientAuth === "basic";
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    ...(client.scope !== undefined && { scope: client.scope }),
    ...(client.audience !== undefined && { audience: client.audience }),
    ...(!byHeader && { client_id: clientId, client_secret: clientSecret }),
  });
  const { pathname, parameters, url } = partsOf(tokenUrl);
  const answer = await direct.send(
    {
      url,
      private: source.private,
      headers: byHeader
        ? { authorization: basic(encodeURIComponent(clientId), encodeURIComponent(clientSecret)) }
        : {},
      ca: tokenCaData,
      path: pathname,
      parameters,
      form: form.toString(),
    },
    { timeoutMs: source.timeoutSeconds * SECOND_MS, maxBytes: MAX_SOURCE_BYTES },
  );
  return readToken(answer, refuse);
};

const partsOf = (tokenUrl: string) => {
  if (!URL.canParse(tokenUrl)) return { url: tokenUrl, pathname: "", parameters: {} };
  const { pathname, searchParams, origin, username } = new URL(tokenUrl);
  return {
    // A user in the URL is refused where it is sent.
    url: username === "" ? origin : tokenUrl,
    pathname,
    parameters: Object.fromEntries(searchParams),
  };
};

const readToken = (answer: ServiceAnswer, refuse: TokenContext["refuse"]): ClientToken => {
  if (answer.kind === "failed")
    throw refuse(answer.failure.message.replace(/^the source /, "the token server of its secret "));
  const body = jsonOf(answer.bytes);
  if (answer.status !== OK) {
    const { data } = errorOf.safeParse(body);
    const error = data === undefined ? "" : ` (${data.error})`;
    throw refuse(
      `its token server answered ${answer.status}${error}; check tokenUrl, clientId, clientSecret and scope`,
    );
  }
  const parsed = answerOf.safeParse(body);
  if (!parsed.success)
    throw refuse("its token server did not answer with an access_token of the type Bearer");
  const { access_token: token, expires_in: seconds } = parsed.data;
  return { authorization: `Bearer ${token}`, lifeMs: seconds * SECOND_MS };
};

const jsonOf = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
};
