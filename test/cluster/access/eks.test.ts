import { createHash, createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eksAccess } from "../../../lib/cluster/access/eks.ts";
import { type AwsCredentials, eksToken } from "../../../lib/cluster/access/eks-token.ts";
import { type AwsEndpoint, awsEndpoint } from "../stand-in/aws.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");
const CREDENTIALS: AwsCredentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: "a+session/token==",
};
const INPUT = { credentials: CREDENTIALS, clusterId: "prod", region: "eu-west-1", nowMs: NOW };

const urlIn = (token: string): URL => new URL(Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString("utf8"));

/** Signature Version 4 for a presigned GET, written down again from its specification: what STS does to check it. */
const signatureOf = (url: URL, { secretAccessKey }: AwsCredentials, headers: Readonly<Record<string, string>>): string => {
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...url.searchParams]
    .filter(([key]) => key !== "X-Amz-Signature")
    .map(([key, value]) => `${encode(key)}=${encode(value)}`)
    .toSorted()
    .join("&");
  const names = Object.keys(headers).toSorted();
  const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
  const canonical = ["GET", "/", query, ...names.map((name) => `${name}:${headers[name]}`), "", names.join(";"), sha("")].join("\n");
  const date = url.searchParams.get("X-Amz-Date") ?? "";
  const scope = `${date.slice(0, 8)}/eu-west-1/sts/aws4_request`;
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
  const key = ["eu-west-1", "sts", "aws4_request"].reduce(hmac, hmac(`AWS4${secretAccessKey}`, date.slice(0, 8)));
  return hmac(key, ["AWS4-HMAC-SHA256", date, scope, sha(canonical)].join("\n")).toString("hex");
};

describe("eksToken()", () => {
  it("is a presigned GetCallerIdentity call of its region, base64url without padding", async () => {
    const token = await eksToken(INPUT);
    expect(token).toMatch(/^k8s-aws-v1\.[\w-]+$/);
    expect(token.length).toBeLessThan(4_096);
    const url = urlIn(token);
    expect(url.origin + url.pathname).toBe("https://sts.eu-west-1.amazonaws.com/");
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      Action: "GetCallerIdentity",
      Version: "2011-06-15",
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": "AKIDEXAMPLE/20260501/eu-west-1/sts/aws4_request",
      "X-Amz-Date": "20260501T120000Z",
      "X-Amz-Expires": "60",
      "X-Amz-SignedHeaders": "host;x-k8s-aws-id",
      "X-Amz-Security-Token": "a+session/token==",
    });
  });

  it("carries the signature that STS computes when the control plane sends the cluster's id along", async () => {
    const url = urlIn(await eksToken(INPUT));
    const headers = { host: "sts.eu-west-1.amazonaws.com", "x-k8s-aws-id": "prod" };
    expect(url.searchParams.get("X-Amz-Signature")).toBe(signatureOf(url, CREDENTIALS, headers));
    expect(url.searchParams.get("X-Amz-Signature")).not.toBe(signatureOf(url, CREDENTIALS, { ...headers, "x-k8s-aws-id": "staging" }));
  });

  it("asks STS in China at its own name", async () => {
    expect(urlIn(await eksToken({ ...INPUT, region: "cn-north-1" })).hostname).toBe("sts.cn-north-1.amazonaws.com.cn");
  });
});

describe("eksAccess()", () => {
  let aws: AwsEndpoint;
  let now: number;
  beforeEach(async () => {
    aws = await awsEndpoint();
    now = NOW;
    vi.stubEnv("AWS_ACCESS_KEY_ID", CREDENTIALS.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", CREDENTIALS.secretAccessKey);
    vi.stubEnv("AWS_SESSION_TOKEN", "");
    vi.stubEnv("AWS_ENDPOINT_URL_STS", aws.url);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await aws.close();
  });

  const connection = {
    kind: "eks",
    endpoint: "https://ABC.gr7.eu-west-1.eks.amazonaws.com",
    caData: Buffer.from("the CA").toString("base64"),
    clusterId: "prod",
    region: "eu-west-1",
  } as const;
  const access = (more: { roleArn?: string } = {}) => eksAccess({ ...connection, ...more }, { cluster: "eu-1", clock: () => now });
  const tokenOf = async (from: ReturnType<typeof access>): Promise<string> =>
    (await from.credentials()).headers["authorization"]?.replace("Bearer ", "") ?? "";
  const assumed = (expires: number) => ({
    status: 200,
    type: "text/xml",
    body: `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIAOTHER</AccessKeyId><SecretAccessKey>other</SecretAccessKey><SessionToken>session-${aws.calls.length}</SessionToken><Expiration>${new Date(expires).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
  });

  it("makes tokens of the environment's credentials without any call", async () => {
    const own = access();
    expect(own).toMatchObject({ ca: "the CA", rejectUnauthorized: true });
    expect(urlIn(await tokenOf(own)).searchParams.get("X-Amz-Credential")).toContain("AKIDEXAMPLE/");
    expect(aws.calls).toHaveLength(0);
  });

  it("keeps a token for 14 minutes, and not longer", async () => {
    const own = access();
    const first = await tokenOf(own);
    now += 14 * 60_000 - 1;
    expect(await tokenOf(own)).toBe(first);
    now += 1;
    expect(urlIn(await tokenOf(own)).searchParams.get("X-Amz-Date")).toBe("20260501T121400Z");
  });

  it("makes a new one after a 401", async () => {
    const own = access();
    await tokenOf(own);
    now += 5_000;
    own.forget();
    expect(urlIn(await tokenOf(own)).searchParams.get("X-Amz-Date")).toBe("20260501T120005Z");
  });

  it("signs as the role of another account, assumed once per hour", async () => {
    aws.answer = () => assumed(NOW + 3_600_000);
    const other = access({ roleArn: "arn:aws:iam::111122223333:role/tidemark" });
    const [one, two] = await Promise.all([tokenOf(other), tokenOf(other)]);
    expect(one).toBe(two);
    expect(urlIn(one).searchParams.get("X-Amz-Credential")).toContain("ASIAOTHER/");
    expect(urlIn(one).searchParams.get("X-Amz-Security-Token")).toBe("session-1");
    expect(Object.fromEntries(new URLSearchParams(aws.calls[0]?.body))).toMatchObject({
      Action: "AssumeRole",
      RoleArn: "arn:aws:iam::111122223333:role/tidemark",
      RoleSessionName: "tidemark-eu-1",
    });
    now += 30 * 60_000;
    await tokenOf(other);
    expect(aws.calls).toHaveLength(1);
    now += 16 * 60_000;
    await tokenOf(other);
    expect(aws.calls).toHaveLength(2);
  });

  it("says who may not assume what", async () => {
    aws.answer = () => ({
      status: 403,
      type: "text/xml",
      body: "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>",
    });
    const other = access({ roleArn: "arn:aws:iam::111122223333:role/tidemark" });
    await expect(other.credentials()).rejects.toMatchObject({
      name: "TidemarkError",
      code: "cluster.access.eks",
      message: 'Cannot make a token for cluster "eu-1" as arn:aws:iam::111122223333:role/tidemark: not authorized to perform: sts:AssumeRole',
    });
    aws.answer = () => assumed(NOW + 3_600_000);
    expect(await tokenOf(other)).toMatch(/^k8s-aws-v1\./);
  });

  it("refuses an endpoint without TLS", () => {
    expect(() => eksAccess({ ...connection, endpoint: "http://127.0.0.1" }, { cluster: "eu-1", clock: () => now })).toThrow(
      expect.objectContaining({
        code: "cluster.access.server",
        message: 'Cannot connect cluster "eu-1" at "http://127.0.0.1": http:// is not allowed here, https:// is needed',
      }),
    );
  });
});
