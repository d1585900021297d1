import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { serverCredentials } from "../../../lib/embedded/host/certificates.ts";

/** An issuer of JSON Web Tokens with its keys behind TLS, as AWS is one for an account. */
export interface Issuer {
  readonly url: string;
  readonly ca: string;
  readonly tokenOf: (claims: object, key?: KeyObject) => string;
  readonly close: () => Promise<void>;
}

const KEY_ID = "one";
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const signed = (claims: object, key: KeyObject): string => {
  const content = `${encoded({ alg: "RS256", kid: KEY_ID, typ: "JWT" })}.${encoded(claims)}`;
  return `${content}.${sign("sha256", Buffer.from(content), key).toString("base64url")}`;
};

export const newKey = (): ReturnType<typeof generateKeyPairSync> =>
  generateKeyPairSync("rsa", { modulusLength: 2_048 });

/** `dir` holds its certificate. */
export const startIssuer = async (dir: string): Promise<Issuer> => {
  const { certificatePem, keyPem, caPem } = await serverCredentials(dir, Date.now());
  const { publicKey, privateKey } = newKey();
  let url = "";
  const answers: Readonly<Record<string, () => object>> = {
    "/.well-known/openid-configuration": () => ({
      issuer: url,
      jwks_uri: `${url}/keys`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    }),
    "/keys": () => ({
      keys: [{ ...publicKey.export({ format: "jwk" }), kid: KEY_ID, use: "sig", alg: "RS256" }],
    }),
  };
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    const answer = answers[request.url ?? ""];
    response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(answer?.() ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    ca: caPem,
    tokenOf: (claims, key = privateKey) => signed(claims, key),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** What STS answers to GetWebIdentityToken. */
export const webIdentityAnswer = (token: string, endMs: number): string =>
  `<GetWebIdentityTokenResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetWebIdentityTokenResult><WebIdentityToken>${token}</WebIdentityToken><Expiration>${new Date(endMs).toISOString()}</Expiration></GetWebIdentityTokenResult></GetWebIdentityTokenResponse>`;
