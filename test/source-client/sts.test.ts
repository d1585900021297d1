import { CreateQueueCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { queryKey } from "../../lib/rules/model/query.ts";
import { sourceClient } from "../../lib/stack/source-client/source-client.ts";
import { questionTo } from "../../lib/rules/sources/sources.ts";
import { HAS_MOTO, type Moto, motoServer } from "./moto.ts";
import { sourceRecord } from "./scene.ts";

const ACCOUNT = "123456789012";
const REGION = "eu-central-1";
const EXTERNAL_ID = "orders-of-shop";
const ANY_SIGNATURE =
  "AWS4-HMAC-SHA256 Credential=AKIAANY/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=any";

const policy = (statement: object): string =>
  JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", ...statement }] });
const roleArn = (name: string): string =>
  `arn:aws:iam::${ACCOUNT}:role/tidemark-prod-source-${name}`;

interface Assumed {
  readonly role_arn: string;
  readonly external_id: string;
  readonly policy: string;
  readonly session_name: string;
}

/**
 * An emulated account whose STS and SQS check signatures, the trust of a role with its ExternalId,
 * and what a role allows. It evaluates no policy of a session, and only keeps it.
 */
describe.skipIf(!HAS_MOTO)("the role of a source, in an account that checks", () => {
  let emulator: Moto;

  const iam = async (Action: string, fields: Readonly<Record<string, string>>): Promise<string> => {
    const body = new URLSearchParams({ Action, Version: "2010-05-08", ...fields });
    const response = await fetch(emulator.url, {
      method: "POST",
      headers: { authorization: ANY_SIGNATURE },
      body,
    });
    expect(response.status).toBe(200);
    return response.text();
  };
  const makeRole = async (name: string, allowed: object | undefined): Promise<void> => {
    const RoleName = `tidemark-prod-source-${name}`;
    const Principal = { AWS: `arn:aws:iam::${ACCOUNT}:user/function` };
    const Condition = { StringEquals: { "sts:ExternalId": EXTERNAL_ID } };
    await iam("CreateRole", {
      RoleName,
      AssumeRolePolicyDocument: policy({ Principal, Action: "sts:AssumeRole", Condition }),
    });
    if (allowed)
      await iam("PutRolePolicy", { RoleName, PolicyName: "own", PolicyDocument: policy(allowed) });
  };

  beforeAll(async () => {
    emulator = await motoServer();
    const sqs = new SQSClient({
      endpoint: emulator.url,
      region: REGION,
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
    });
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: "orders" }));
    for (let at = 0; at < 7; at++)
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "order" }));
    sqs.destroy();
    await iam("CreateUser", { UserName: "function" });
    const assume = policy({ Action: "sts:AssumeRole", Resource: "*" });
    await iam("PutUserPolicy", { UserName: "function", PolicyName: "own", PolicyDocument: assume });
    const key = await iam("CreateAccessKey", { UserName: "function" });
    await makeRole("orders", { Action: "sqs:GetQueueAttributes", Resource: "*" });
    await makeRole("none", undefined);
    // From here on every request is checked.
    await fetch(`${emulator.url}/moto-api/reset-auth`, { method: "POST", body: "0" });
    vi.stubEnv("AWS_ENDPOINT_URL", emulator.url);
    vi.stubEnv("AWS_ACCESS_KEY_ID", /<AccessKeyId>(.*?)</.exec(key)?.[1]);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", /<SecretAccessKey>(.*?)</.exec(key)?.[1]);
  }, 60_000);
  afterAll(async () => {
    vi.unstubAllEnvs();
    await emulator.close();
  });

  const count = async (role: string, externalId = EXTERNAL_ID) => {
    const aws = { region: REGION, roleArn: roleArn(role), externalId, queues: ["orders*"] };
    const query = questionTo("sqs", {
      source: "main",
      queue: "orders",
      accountId: "",
      count: ["Visible"],
    });
    if (query === undefined) throw new Error("a queue is always asked");
    const client = sourceClient({ clock: Date.now, ownAddresses: false });
    const answers = await client.ask(
      sourceRecord({ kind: "sqs", timeoutSeconds: 5, aws }),
      [query],
      { cluster: "eu-1", leftMs: () => 8_000 },
    );
    client.close();
    return answers.get(queryKey(query));
  };
  const assumed = async (): Promise<readonly Assumed[]> => {
    const data = (await (await fetch(`${emulator.url}/moto-api/data.json`)).json()) as {
      readonly sts: { readonly AssumedRole: readonly Assumed[] };
    };
    return data.sts.AssumedRole;
  };

  it("is assumed with the ExternalId that its trust asks for, and with a policy for the queues of the source; its session counts the messages", async () => {
    expect(await count("orders")).toMatchObject({ kind: "answered", items: [{ milli: 7_000n }] });
    const [session] = await assumed();
    expect(session).toMatchObject({
      role_arn: roleArn("orders"),
      external_id: EXTERNAL_ID,
      session_name: "tidemark-eu-1",
    });
    expect(JSON.parse(session?.policy ?? "")).toEqual({
      Version: "2012-10-17",
      Statement: [
        {
          Effect: "Allow",
          Action: "sqs:GetQueueAttributes",
          Resource: [`arn:aws:sqs:${REGION}:${ACCOUNT}:orders*`],
        },
      ],
    });
  });

  it("is not assumed with another ExternalId: the metric is missing", async () => {
    expect(await count("orders", "of-another")).toMatchObject({
      kind: "failed",
      failure: { reason: "NoCredential", message: expect.stringContaining("cannot be assumed") },
    });
  });

  it("that allows nothing makes the metric missing, and never 0", async () => {
    // moto refuses in XML, where SQS answers JSON, so that the words are those of an answer that is
    // none.
    expect(await count("none")).toMatchObject({ kind: "failed", failure: { code: 403 } });
  });
});
