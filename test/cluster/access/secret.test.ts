import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connect } from "../../../lib/cluster/connect.ts";
import { clusterName, namespace } from "../../../lib/model/ids.ts";
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
  now = Date.parse("2026-05-01T12:00:00Z");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", aws.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all([aws.close(), server.close()]);
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const holds = (value: unknown): void => {
  const SecretString = typeof value === "string" ? value : JSON.stringify(value);
  aws.answer = () => ({ status: 200, type: "application/x-amz-json-1.1", body: JSON.stringify({ SecretString }) });
};
const short = (more: object = {}) => ({ server: server.url, caData: base64(server.ca), token: "t0ken", ...more });
const client = (secretId = "tidemark/eu-1") => connect({ name: clusterName("eu-1"), connection: { kind: "secret", secretId } }, { clock: () => now });
const read = (opened: Awaited<ReturnType<typeof client>>) => opened.readScale(namespace("shop"), deployment("web"), 3_000);
const refusal = (state: string, code = "secret") => ({
  name: "TidemarkError",
  code: `cluster.access.${code}`,
  message: expect.stringContaining(state),
});

describe("a secret", () => {
  it("with server, CA and token", async () => {
    holds(short());
    const opened = await client();
    expect(await read(opened)).toMatchObject({ kind: "read" });
    expect(server.seen[0]?.headers.authorization).toBe("Bearer t0ken");
    expect(aws.calls).toMatchObject([{ target: "secretsmanager.GetSecretValue", body: '{"SecretId":"tidemark/eu-1"}' }]);
    opened.close();
  });

  it("with a client certificate", async () => {
    const { cert, key } = await server.authority.issue("tidemark");
    holds({ server: server.url, caData: base64(server.ca), clientCertData: base64(cert), clientKeyData: base64(key) });
    const opened = await client();
    expect(await read(opened)).toMatchObject({ kind: "read" });
    expect(server.seen[0]?.clientName).toBe("tidemark");
    opened.close();
  });

  it("with a kubeconfig, as YAML", async () => {
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

  it("with a kubeconfig that names a program or a file is refused", async () => {
    const config = (user: object) => ({
      "current-context": "main",
      clusters: [{ name: "one", cluster: { server: server.url, "certificate-authority-data": base64(server.ca) } }],
      users: [{ name: "me", user }],
      contexts: [{ name: "main", context: { cluster: "one", user: "me" } }],
    });
    holds(config({ exec: { command: "/bin/true" } }));
    await expect(client()).rejects.toMatchObject(refusal("its user runs a program (exec)", "kubeconfig"));
    holds(config({ "client-certificate": "/etc/passwd", "client-key": "/etc/passwd" }));
    await expect(client()).rejects.toMatchObject(refusal('it refers to the file "/etc/passwd"', "kubeconfig"));
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
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer one", "Bearer one", "Bearer two"]);
    opened.close();
  });

  it("is read again at once when the cluster refuses its token", async () => {
    holds(short({ token: "old" }));
    const opened = await client();
    holds(short({ token: "new" }));
    now += 2_000;
    server.overrides.push({ match: ({ headers }) => headers.authorization === "Bearer old", answer: status(401, "Unauthorized", "Unauthorized") });
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
    expect(await read(opened)).toEqual({ kind: "failed", failure: { code: 0, reason: "AccessFailed", message } });
    opened.close();
  });

  it("is looked up in the region of its ARN", async () => {
    holds(short());
    (await client("arn:aws:secretsmanager:us-east-2:111122223333:secret:tidemark-AbCdEf")).close();
    expect(aws.calls[0]?.authorization).toContain("/us-east-2/secretsmanager/");
  });

  it("that is not there, or not for us, is refused in the words of AWS", async () => {
    aws.answer = () => ({
      status: 400,
      type: "application/x-amz-json-1.1",
      body: JSON.stringify({ __type: "ResourceNotFoundException", message: "Secrets Manager can't find the specified secret." }),
    });
    await expect(client()).rejects.toMatchObject(
      refusal(`Cannot use secret "tidemark/eu-1" for cluster "eu-1": Secrets Manager can't find the specified secret.`),
    );
  });

  it.each([
    ["no token", { token: undefined }, "it needs token, or clientCertData with clientKeyData"],
    ["a field too many", { tokn: "t0ken" }, "the object: unrecognized_keys"],
    ["a CA that is no base64", { caData: "not base64!" }, "caData: invalid_format"],
  ])("with %s is refused, and its values stay out of the message", async (_name, change, state) => {
    holds(short(change));
    await expect(client()).rejects.toMatchObject(refusal(state));
    await expect(client()).rejects.not.toMatchObject({ message: expect.stringContaining("t0ken") });
  });
});
