import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NOTHING_TRUSTED } from "../../../lib/stack/cluster/access/access.ts";
import { connect } from "../../../lib/stack/cluster/connect.ts";
import { clusterName, namespace } from "../../../lib/rules/model/ids.ts";
import { NOON } from "../../noon.ts";
import { type AwsEndpoint, awsEndpoint } from "../stand-in/aws.ts";
import { type Kubernetes, kubernetes, workload } from "../stand-in/kubernetes.ts";
import { status } from "../stand-in/server.ts";
import { deployment } from "../stand-in/watched.ts";

let aws: AwsEndpoint;
let server: Kubernetes;
let now: number;
beforeEach(async () => {
  [aws, server] = await Promise.all([awsEndpoint(), kubernetes()]);
  server.collections.set("/apis/apps/v1/deployments", [workload("shop", "web")]);
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

/** As inside a function, but for the address: the stand-in listens on loopback. */
const LOOPBACK_TOO = { ...NOTHING_TRUSTED, ownAddresses: true };
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const holds = (value: unknown, Name = "tidemark/eu-1"): void => {
  const SecretString = typeof value === "string" ? value : JSON.stringify(value);
  aws.answer = () => ({
    status: 200,
    type: "application/x-amz-json-1.1",
    body: JSON.stringify({ Name, SecretString }),
  });
};
const short = (more: object = {}) => ({
  server: server.url,
  caData: base64(server.ca),
  token: "t0ken",
  ...more,
});
const client = (secretId = "tidemark/eu-1") =>
  connect(
    {
      name: clusterName("eu-1"),
      kubeSystemUid: undefined,
      connection: { kind: "secret", secretId },
    },
    { clock: () => now, trusted: LOOPBACK_TOO },
  );
const read = (opened: Awaited<ReturnType<typeof client>>) =>
  opened.readScale(namespace("shop"), deployment("web"), 3_000);
const refusal = (state: string) => ({
  name: "TidemarkError",
  code: "cluster.access.secret",
  message: expect.stringContaining(state),
});

describe("a secret", () => {
  it("connects with server, CA and token", async () => {
    holds(short());
    const opened = await client();
    expect(await read(opened)).toMatchObject({ kind: "read" });
    expect(server.seen[0]?.headers.authorization).toBe("Bearer t0ken");
    expect(aws.calls).toMatchObject([
      { target: "secretsmanager.GetSecretValue", body: '{"SecretId":"tidemark/eu-1"}' },
    ]);
    opened.close();
  });

  it("connects with a client certificate", async () => {
    const { cert, key } = await server.authority.issue("tidemark");
    holds({
      server: server.url,
      caData: base64(server.ca),
      clientCertData: base64(cert),
      clientKeyData: base64(key),
    });
    const opened = await client();
    expect(await read(opened)).toMatchObject({ kind: "read" });
    expect(server.seen[0]?.clientName).toBe("tidemark");
    opened.close();
  });

  it("connects with a kubeconfig in YAML", async () => {
    holds(
      [
        "current-context: main",
        `clusters: [{ name: one, cluster: { server: "${server.url}", certificate-authority-data: ${base64(server.ca)} } }]`,
        "users: [{ name: me, user: { token: from-yaml } }]",
        "contexts: [{ name: main, context: { cluster: one, user: me } }]",
      ].join("\n"),
    );
    const opened = await client();
    await read(opened);
    expect(server.seen[0]?.headers.authorization).toBe("Bearer from-yaml");
    opened.close();
  });

  it("is read again after five minutes, and its new token used", async () => {
    holds(short({ token: "one" }));
    const opened = await client();
    await read(opened);
    holds(short({ token: "two" }));
    now += 5 * 60_000 - 1;
    await read(opened);
    now += 1;
    await read(opened);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer one",
      "Bearer one",
      "Bearer two",
    ]);
    opened.close();
  });

  it("is read again at once when the cluster refuses its token", async () => {
    holds(short({ token: "old" }));
    const opened = await client();
    holds(short({ token: "new" }));
    now += 2_000;
    server.overrides.push({
      match: ({ headers }) => headers.authorization === "Bearer old",
      answer: status(401, "Unauthorized", "Unauthorized"),
    });
    const together = await Promise.all([1, 2, 3, 4].map(() => read(opened)));
    expect(together.map(({ kind }) => kind)).toEqual(["read", "read", "read", "read"]);
    expect(aws.calls).toHaveLength(2);
    opened.close();
  });

  it("that can no longer be read is a failure of the calls, not an exception", async () => {
    holds(short());
    const opened = await client();
    aws.answer = () => ({
      status: 400,
      type: "application/x-amz-json-1.1",
      body: JSON.stringify({ __type: "ResourceNotFoundException", message: "no such secret" }),
    });
    now += 6 * 60_000;
    const message = 'Cannot use secret "tidemark/eu-1" for cluster "eu-1": no such secret';
    expect(await read(opened)).toEqual({
      kind: "failed",
      failure: { code: 0, reason: "AccessFailed", message },
    });
    opened.close();
  });

  it("is looked up in the region of its ARN", async () => {
    holds(short());
    (
      await client("arn:aws:secretsmanager:us-east-2:111122223333:secret:tidemark/eu-1-AbCdEf")
    ).close();
    expect(aws.calls[0]?.authorization).toContain("/us-east-2/secretsmanager/");
  });

  it("that does not exist, or may not be read, is refused in the words of AWS", async () => {
    aws.answer = () => ({
      status: 400,
      type: "application/x-amz-json-1.1",
      body: JSON.stringify({
        __type: "ResourceNotFoundException",
        message: "Secrets Manager can't find the specified secret.",
      }),
    });
    await expect(client()).rejects.toMatchObject(
      refusal(
        `Cannot use secret "tidemark/eu-1" for cluster "eu-1": Secrets Manager can't find the specified secret.`,
      ),
    );
  });

  it.each([
    [
      "no token",
      { token: undefined },
      "it needs token, tokenFrom, or clientCertData with clientKeyData",
    ],
    ["a field too many", { tokn: "t0ken" }, "it has a field that is not allowed"],
    ["a CA that is no base64", { caData: "not base64!" }, "caData must be base64"],
  ])("with %s is refused, and its values stay out of the message", async (_name, change, state) => {
    holds(short(change));
    await expect(client()).rejects.toMatchObject(refusal(state));
    await expect(client()).rejects.not.toMatchObject({ message: expect.stringContaining("t0ken") });
  });

  it("with a token that ends in a line break is used without it", async () => {
    holds(short({ token: "t0ken\n" }));
    const opened = await client();
    expect(await read(opened)).toMatchObject({ kind: "read" });
    expect(server.seen[0]?.headers.authorization).toBe("Bearer t0ken");
    opened.close();
  });

  it("with a user to act for sends every group of it", async () => {
    const user = {
      token: "t0ken",
      as: "scaler",
      "as-uid": "u1",
      "as-groups": ["one", "two"],
      "as-user-extra": { "example.org/Scope": ["read"] },
    };
    holds({
      "current-context": "main",
      clusters: [
        {
          name: "one",
          cluster: { server: server.url, "certificate-authority-data": base64(server.ca) },
        },
      ],
      users: [{ name: "me", user }],
      contexts: [{ name: "main", context: { cluster: "one", user: "me" } }],
    });
    const opened = await client();
    await read(opened);
    expect(server.seen[0]?.headers).toMatchObject({
      "impersonate-user": "scaler",
      "impersonate-uid": "u1",
      "impersonate-group": "one, two",
      "impersonate-extra-example.org%2fscope": "read",
    });
    opened.close();
  });

  it.each([
    [
      "a token with a line break inside",
      { token: "t0ken\nmore" },
      "token must be printable ASCII without blanks, and not empty",
    ],
    [
      "an empty token",
      { token: " " },
      "token must be printable ASCII without blanks, and not empty",
    ],
    [
      "a CA that is no certificate",
      { caData: base64("no certificate") },
      "its CA is no certificate in PEM",
    ],
    [
      "a client key that is none",
      {
        token: undefined,
        clientCertData: "$cert",
        clientKeyData: base64("-----BEGIN PRIVATE KEY-----\nt0ken\n-----END PRIVATE KEY-----\n"),
      },
      "its client key cannot be read, or is not the key of its client certificate",
    ],
    [
      "the client key of another certificate",
      { clientCertData: "$cert", clientKeyData: "$other" },
      "is not the key of its client certificate",
    ],
    [
      "a server without TLS",
      { server: "http://cluster.example" },
      "its server must begin with https://",
    ],
    ["a file as server", { server: "file:///etc/passwd" }, "its server must begin with https://"],
    [
      "a server with a password",
      { server: "https://me:t0ken@cluster.example" },
      "its server must have no user, no query and no fragment",
    ],
  ])("with %s is refused before any call, with the field", async (_name, change, state) => {
    const [one, other] = await Promise.all([
      server.authority.issue("one"),
      server.authority.issue("other"),
    ]);
    const filled = JSON.stringify(short(change))
      .replace("$cert", base64(one.cert))
      .replace("$other", base64(other.key));
    holds(filled);
    await expect(client()).rejects.toMatchObject(refusal(state));
    await expect(client()).rejects.not.toMatchObject({ message: expect.stringContaining("t0ken") });
    expect(server.seen).toEqual([]);
  });

  it.each([
    "tidemark/eu-2",
    "eu-1",
    "tidemark/team/eu-1",
    "/eu-1",
    "arn:aws:secretsmanager:eu-west-1:111122223333:secret:tidemark/eu-2-AbCdEf",
  ])("of another cluster, %s, is never read", async (secretId) => {
    holds(short());
    await expect(client(secretId)).rejects.toMatchObject(
      refusal('the secret of this cluster must be named FOLDER/eu-1, such as "tidemark-prod/eu-1"'),
    );
    expect(aws.calls).toEqual([]);
  });

  it("of another cluster is not used where an ARN without its last characters leads to it", async () => {
    // The secret of cluster "eu-1-canary": its ARN without the random characters reads like that of
    // "eu-1" with them.
    holds(short(), "tidemark/eu-1-canary");
    await expect(
      client("arn:aws:secretsmanager:eu-west-1:111122223333:secret:tidemark/eu-1-canary"),
    ).rejects.toMatchObject(refusal("the secret of this cluster must be named FOLDER/eu-1"));
    expect(aws.calls).toHaveLength(1);
  });
});
