import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clusterName, namespace } from "../../../lib/rules/model/ids.ts";
import { NOTHING_TRUSTED } from "../../../lib/stack/cluster/access/access.ts";
import { accessFor, connect } from "../../../lib/stack/cluster/connect.ts";
import { NOON } from "../../noon.ts";
import { type AwsEndpoint, awsEndpoint } from "../stand-in/aws.ts";
import { webIdentityAnswer } from "../stand-in/issuer.ts";
import { type Kubernetes, kubernetes, workload } from "../stand-in/kubernetes.ts";
import { deployment } from "../stand-in/watched.ts";

const MINUTE_MS = 60_000;
const NAME = "tidemark-prod/eu-8";
const ARN = `arn:aws:secretsmanager:eu-west-1:123456789012:secret:${NAME}-AbCdEf`;

let aws: AwsEndpoint;
let server: Kubernetes;
let now: number;
let made: number;
beforeEach(async () => {
  [aws, server] = await Promise.all([awsEndpoint(), kubernetes()]);
  server.collections.set("/apis/apps/v1/deployments", [workload("shop", "web")]);
  [now, made] = [NOON, 0];
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_REGION", "eu-west-1");
  for (const service of ["SECRETS_MANAGER", "STS"])
    vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, aws.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all([aws.close(), server.close()]);
});

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
/** Says when it ends, as the tokens of STS do; no two are alike. */
const newToken = (): string =>
  `${part({ alg: "RS256" })}.${part({ exp: (now + 15 * MINUTE_MS) / 1_000, jti: ++made })}.c2ln`;

type Answer = ReturnType<AwsEndpoint["answer"]>;
const signs = (): Answer => ({
  ...{ status: 200, type: "text/xml" },
  body: webIdentityAnswer(newToken(), now + 15 * MINUTE_MS),
});
const holds = (more: object, sts: () => Answer = signs): void => {
  const caData = Buffer.from(server.ca).toString("base64");
  const SecretString = JSON.stringify({ server: server.url, caData, ...more });
  aws.answer = ({ target }) =>
    target.includes("GetSecretValue")
      ? {
          ...{ status: 200, type: "application/x-amz-json-1.1" },
          body: JSON.stringify({ Name: NAME, SecretString }),
        }
      : sts();
};
const record = (secretId: string, more: object = {}) => ({
  name: clusterName("eu-8"),
  kubeSystemUid: undefined,
  connection: { kind: "secret", secretId, ...more } as const,
});
const options = () => ({
  clock: () => now,
  trusted: { ...NOTHING_TRUSTED, ownAddresses: true },
});
const client = (secretId = NAME, more: object = {}) => connect(record(secretId, more), options());
/** Each request to STS. */
const asked = (): readonly Record<string, string>[] =>
  aws.calls
    .filter(({ target }) => target === "")
    .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
const refusal = (state: string) => ({
  code: "cluster.access.secret",
  message: expect.stringContaining(state),
});

describe("a secret whose token is made by AWS", () => {
  it.each([NAME, ARN])(
    "asks STS for the audience that is the name of the secret, and sends the token: %s",
    async (secretId) => {
      holds({ tokenFrom: "aws" });
      const opened = await client(secretId);
      const reading = await opened.readScale(namespace("shop"), deployment("web"), 3_000);
      expect(reading).toMatchObject({ kind: "read" });
      expect(asked()).toMatchObject([
        {
          Action: "GetWebIdentityToken",
          "Audience.member.1": NAME,
          DurationSeconds: "900",
          SigningAlgorithm: "RS256",
        },
      ]);
      expect(asked()[0]).not.toHaveProperty("Audience.member.2");
    },
  );

  it("has a new token after five minutes and after a 401, and none that a person must renew", async () => {
    holds({ tokenFrom: "aws" });
    const access = await accessFor(record(NAME), options());
    const sent = async () => (await access.credentials()).headers["authorization"];
    const first = await sent();
    expect(await sent()).toBe(first);
    now += 5 * MINUTE_MS;
    const second = await sent();
    expect(second).not.toBe(first);
    now += 2_000;
    access.forget();
    expect(await sent()).not.toBe(second);
    expect(asked()).toHaveLength(3);
    expect(access.tokenLife?.()).toBeUndefined();
  });

  it.each([
    [{ tokenFrom: "aws", token: "t0ken" }, "it has both token and tokenFrom"],
    [{ tokenFrom: "gcp" }, "tokenFrom has a value that is not allowed"],
    [{ tokenFrom: "aws", audience: "tidemark-prod/eu-9" }, "has a field that is not allowed"],
    [{}, "it needs token, tokenFrom, or clientCertData with clientKeyData"],
  ])("is refused before STS is asked: %j", async (more, words) => {
    holds(more);
    await expect(client()).rejects.toMatchObject(refusal(words));
    expect(asked()).toEqual([]);
  });

  it("is no token of a service account", async () => {
    holds({ tokenFrom: "aws" });
    await expect(client(NAME, { serviceAccount: "tidemark/tidemark" })).rejects.toMatchObject(
      refusal('it must hold a token of the service account "tidemark/tidemark"'),
    );
  });

  const error = (code: string, message: string) => (): Answer => ({
    ...{ status: 400, type: "text/xml" },
    body: `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  });
  it.each([
    [
      error("OutboundWebIdentityFederationDisabledException", "not enabled"),
      "turn it on with aws iam enable-outbound-web-identity-federation",
    ],
    [error("AccessDenied", "not authorized"), `for the audience "${NAME}": not authorized`],
  ])("says why AWS gives none", async (sts, words) => {
    holds({ tokenFrom: "aws" }, sts);
    await expect(client()).rejects.toMatchObject(refusal(words));
  });
});
