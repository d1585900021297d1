import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NOTHING_TRUSTED } from "../../../lib/stack/cluster/access/access.ts";
import { claimsOf } from "../../../lib/stack/cluster/access/token-life.ts";
import { connect } from "../../../lib/stack/cluster/connect.ts";
import { clusterName } from "../../../lib/rules/model/ids.ts";
import { NOON } from "../../noon.ts";
import { type AwsEndpoint, awsEndpoint } from "../stand-in/aws.ts";
import { type Kubernetes, kubernetes } from "../stand-in/kubernetes.ts";

const HOUR_MS = 3_600_000;
const ACCOUNT = "tidemark/tidemark";
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const tokenOf = (claims: object): string => `${part({ alg: "RS256" })}.${part(claims)}.c2ln`;
const bound = (endMs: number, name = "tidemark"): string =>
  tokenOf({
    sub: `system:serviceaccount:tidemark:${name}`,
    iat: (endMs - 4 * HOUR_MS) / 1_000,
    exp: endMs / 1_000,
  });

let aws: AwsEndpoint;
let server: Kubernetes;
let now: number;
beforeEach(async () => {
  [aws, server] = await Promise.all([awsEndpoint(), kubernetes()]);
  now = NOON;
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", aws.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all([aws.close(), server.close()]);
});

const holds = (token: string): void => {
  const SecretString = JSON.stringify({
    server: "https://10.0.0.1:6443",
    token,
    caData: Buffer.from(server.ca).toString("base64"),
  });
  aws.answer = () => ({
    status: 200,
    type: "application/x-amz-json-1.1",
    body: JSON.stringify({ Name: "tidemark/eu-1", SecretString }),
  });
};
const open = (serviceAccount?: string) =>
  connect(
    {
      name: clusterName("eu-1"),
      kubeSystemUid: undefined,
      connection: {
        kind: "secret",
        secretId: "tidemark/eu-1",
        ...(serviceAccount !== undefined && { serviceAccount }),
      },
    },
    { clock: () => now, trusted: NOTHING_TRUSTED },
  );
const refusal = (why: string) => ({
  code: "cluster.access.secret",
  message: `Cannot use secret "tidemark/eu-1" for cluster "eu-1": ${why}`,
});

describe("a token of a service account", () => {
  it("says when it ends, and that another one is due in its last quarter", async () => {
    holds(bound(NOON + 2 * HOUR_MS));
    const opened = await open(ACCOUNT);
    expect(opened.tokenLife?.()).toEqual({
      endMs: NOON + 2 * HOUR_MS,
      renewByMs: NOON + HOUR_MS,
    });
    opened.close();
  });

  it("is refused where it is of another account, or of none", async () => {
    const wanted = refusal(
      'it must hold a token of the service account "tidemark/tidemark"; make one with kubectl create token',
    );
    for (const token of [bound(NOON + HOUR_MS, "other"), "t0ken", tokenOf({ sub: 5 })]) {
      holds(token);
      await expect(open(ACCOUNT)).rejects.toMatchObject(wanted);
    }
  });

  it("is refused when it has ended, and in its last minute, with its end", async () => {
    holds(bound(NOON + 61_000));
    (await open()).close();
    holds(bound(NOON + 59_000));
    await expect(open()).rejects.toMatchObject(
      refusal("its token ends at 2026-03-01T12:00:59.000Z; put a new one into the secret"),
    );
    holds(bound(NOON - 1_000));
    await expect(open()).rejects.toMatchObject(
      refusal("its token ended at 2026-03-01T11:59:59.000Z; put a new one into the secret"),
    );
  });

  it("is any token where no account is named", async () => {
    holds("t0ken");
    const opened = await open();
    expect(opened.tokenLife?.()).toBeUndefined();
    opened.close();
  });
});

describe("claimsOf()", () => {
  it.each(["", "a.b", "a.b.c", `a.${part([1])}.c`, `${"a".repeat(40_000)}.b.c`])(
    "reads nothing of what is no token: case %#",
    (token) => expect(claimsOf(token)).toBeUndefined(),
  );
  it.each([Number.MAX_VALUE, -1, "1"])("takes no end from %s", (exp) =>
    expect(claimsOf(tokenOf({ exp }))).toEqual({}),
  );
});
