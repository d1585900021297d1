import * as z from "zod";
import { fits, isCertificates, pemData } from "../cluster/access/pem.ts";
import {
  basic,
  bearerToken,
  faultText,
  filled,
  headerText,
  readSecretText,
} from "../cluster/access/secret-text.ts";
import { cached, type Cached } from "../cluster/access/access.ts";
import { SECRET_TTL_MS } from "../cluster/request-limits.ts";
import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import {
  mayBeSent,
  type MetricSourceRecord,
  type SecretAuth,
} from "../../rules/model/metric-source.ts";
import type { ClientCertificate, DirectSender } from "./direct.ts";
import { isSecretOf, sourceSecretName, sourceSecretWords } from "../../rules/model/aws-names.ts";

/** What a question is authenticated with. */
export interface Credential {
  readonly kind: "read";
  readonly headers: Readonly<Record<string, string>>;
  /** PEM of the authority of the server's certificate. */
  readonly ca?: string;
  /** PEM of the client's certificate and its key (mutual TLS). */
  readonly client?: ClientCertificate;
  /** How long the headers may be used, where it is shorter than the life of a secret that was read. */
  readonly lifeMs?: number;
  /** The user and the password, for a server that is not asked by HTTP. */
  readonly login?: Login;
}

interface Login {
  readonly username: string;
  readonly password: string;
}

/** What the source itself says. A secret may name the authority, too, and then that one counts. */
const ofSource = ({ caData }: MetricSourceRecord): Credential => ({
  kind: "read",
  headers: {},
  ...(caData !== undefined && { ca: Buffer.from(caData, "base64").toString("utf8") }),
});

const HEADERS_MAX = 5;
const NO_HEADER =
  "has a header that a source may not send: it must have small letters, such as x-api-key, and be none that the client or a proxy sets";

const common = { url: filled, caData: pemData.exactOptional() };
const SECRETS = {
  basic: z
    .strictObject({ ...common, username: filled, password: filled })
    .transform(({ username, password, ...rest }) => ({
      ...rest,
      value: basic(username, password),
      login: { username, password },
    })),
  bearer: z
    .strictObject({ ...common, token: bearerToken })
    .transform(({ token, ...rest }) => ({ ...rest, value: `Bearer ${token}` })),
  header: z.strictObject({ ...common, value: headerText }),
  /** Several headers, where a server wants two keys. */
  headers: z.strictObject({
    ...common,
    headers: z
      .record(z.string(), headerText)
      .refine((headers) => Object.keys(headers).every(mayBeSent), NO_HEADER)
      .refine(
        (headers) => Object.keys(headers).length <= HEADERS_MAX,
        `has more than ${HEADERS_MAX} headers`,
      ),
  }),
  mtls: z
    .strictObject({ ...common, clientCertData: pemData, clientKeyData: pemData })
    .transform(({ clientCertData, clientKeyData, ...rest }) => ({
      ...rest,
      client: { cert: clientCertData, key: clientKeyData },
    })),
  /** A token is got for the client, which the secret names with its server. */
  oauth2: z
    .strictObject({
      ...common,
      tokenUrl: filled,
      clientId: filled,
      clientSecret: filled,
      scope: filled.exactOptional(),
      audience: filled.exactOptional(),
      clientAuth: z.enum(["body", "basic"]).exactOptional(),
      tokenCaData: pemData.exactOptional(),
    })
    .transform(({ url, caData, ...oauth }) => ({
      url,
      ...(caData !== undefined && { caData }),
      oauth,
    })),
} as const;

/** A token is got anew so long before its end. */
const TOKEN_MARGIN_MS = 60_000;

/** What a secret with the credentials of a client needs beside itself. */
interface TokenWay {
  readonly direct: DirectSender;
  readonly ownAddresses: boolean;
}

/**
 * Reads credentials of sources from Secrets Manager, again every five minutes. A secret names the
 * address that may get it: a source with another address gets nothing, so that the right to
 * register sources is not the right to send a credential elsewhere. Errors are TidemarkErrors
 * `source.credential`, and quote nothing of the secret.
 */
export const credentialReader = (
  clock: () => number,
  way: TokenWay,
): ((source: MetricSourceRecord) => Promise<Credential>) => {
  const kept = new Map<string, Cached<Credential>>();
  return async (source) => {
    const { auth, name, version } = source;
    // A signature needs no secret: the role of the source signs.
    if (auth === undefined || auth.kind === "sigv4") return ofSource(source);
    const key = JSON.stringify([name, version]);
    const known =
      kept.get(key) ??
      cached(() => readCredential(source, auth, way), {
        ttlMs: ({ lifeMs = SECRET_TTL_MS }) => Math.min(lifeMs, SECRET_TTL_MS),
        clock,
      });
    kept.set(key, known);
    return known.get();
  };
};

const readCredential = async (
  source: MetricSourceRecord,
  auth: SecretAuth,
  way: TokenWay,
): Promise<Credential> => {
  const refuse = (why: string): TidemarkError =>
    new TidemarkError(
      "source.credential",
      `Cannot use the secret of source "${source.name}": ${why}`,
      { source: source.name },
    );
  if (!isSecretOf(auth.secretId, sourceSecretName(source.name)))
    throw refuse(sourceSecretWords(source.name));
  const reading = await readSecretText(await secretString(source.name, auth.secretId, refuse));
  if (reading.kind === "unreadable") throw refuse(reading.why);
  const parsed = SECRETS[auth.kind].safeParse(reading.value);
  if (!parsed.success) throw refuse(faultText(parsed.error));
  const { url, caData } = parsed.data;
  if (!isFor(url, source))
    throw refuse(
      "its url is not the address of the source, so that the source does not get it; write the address of the source into the secret",
    );
  if (caData !== undefined && !isCertificates(caData))
    throw refuse("its caData is no certificate in PEM");
  const ca = caData === undefined ? ofSource(source) : { ca: caData };
  if ("value" in parsed.data) {
    const { value } = parsed.data;
    const headers = { [headerOf(auth)]: value };
    const login = loginIn.safeParse(parsed.data).data;
    return { ...ca, kind: "read", headers, ...login };
  }
  if ("oauth" in parsed.data) {
    const { tokenOf } = await import("./oauth.ts");
    const { authorization, lifeMs } = await tokenOf(parsed.data.oauth, source, { ...way, refuse });
    // The half of a life that is shorter than the margin.
    const usableMs = Math.max(lifeMs - TOKEN_MARGIN_MS, lifeMs / 2);
    return { ...ca, kind: "read", headers: { authorization }, lifeMs: usableMs };
  }
  if ("headers" in parsed.data) return { ...ca, kind: "read", headers: parsed.data.headers };
  const { client } = parsed.data;
  if (!isCertificates(client.cert)) throw refuse("its clientCertData is no certificate in PEM");
  if (!fits(client.cert, client.key))
    throw refuse("its clientKeyData cannot be read, or is not the key of its clientCertData");
  return { ...ca, kind: "read", headers: {}, client };
};

/** What only a server that is not asked by HTTP takes of a secret with a password. */
const loginIn = z.object({ login: z.object({ username: filled, password: filled }) });

const headerOf = ({ kind, header }: SecretAuth): string =>
  kind === "header" ? (header ?? "").toLowerCase() : "authorization";

/**
 * The same scheme, host and port; for a service of the clusters its name, as in
 * "service://monitoring/prometheus".
 */
const isFor = (url: string, { url: own, service }: MetricSourceRecord): boolean => {
  if (service) return url === `service://${service.namespace}/${service.name}`;
  return (
    own !== undefined && URL.canParse(url) && URL.canParse(own) && serverOf(url) === serverOf(own)
  );
};

/** The parser knows no origin of a scheme that is not of the web. */
const serverOf = (url: string): string => {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host.toLowerCase()}`;
};

/** The client of Secrets Manager is loaded when the first source has a secret. */
const secretString = async (
  source: string,
  secretId: string,
  refuse: (why: string) => TidemarkError,
): Promise<string> => {
  const { storedSecret } = await import("../cluster/access/secret.ts");
  const failed = (error: unknown): string =>
    `Secrets Manager answered ${error instanceof Error ? foreignText(error.name) : "an error"}; check its name, its Region and the rights of the function sync`;
  const { text } = await storedSecret(secretId, {
    name: sourceSecretName(source),
    words: sourceSecretWords(source),
    refuse,
    failed,
  });
  return text;
};

/** An error of a library may quote the secret, so that only errors of ours are shown. */
export const noSecret = ({ name }: MetricSourceRecord, error: unknown): string => {
  const words = `Cannot use the secret of source "${name}"`;
  if (isTidemarkError(error, "source.late")) return `${words}: it was not read in time`;
  return isTidemarkError(error) ? error.message : words;
};

/** The text of an error of AWS may name a role, so that only its code is shown. */
export const noRole = ({ name }: MetricSourceRecord, error: unknown): string => {
  const code = error instanceof Error ? foreignText(error.name) : "an error";
  return `the role of source "${name}" cannot be assumed (${code}); its trust must name the role of the function sync, and the ExternalId of the source`;
};
