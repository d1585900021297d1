import { createHash, createHmac } from "node:crypto";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Access, NOTHING_TRUSTED } from "../../../lib/stack/cluster/access/access.ts";
import { eksAccess } from "../../../lib/stack/cluster/access/eks.ts";
import type { AwsCredentials } from "../../../lib/stack/aws/sha256.ts";
import { eksToken } from "../../../lib/stack/cluster/access/eks-token.ts";
import {
  CLIENTS_LEAST,
  clusterClients,
  type ConnectOptions,
  connect,
} from "../../../lib/stack/cluster/connect.ts";
import { clusterName, namespace } from "../../../lib/rules/model/ids.ts";
import type { Connection } from "../../../lib/rules/model/records.ts";
import { NOON } from "../../noon.ts";
import { type AwsEndpoint, awsEndpoint } from "../stand-in/aws.ts";
import { authority } from "../stand-in/certificates.ts";
import { kubernetes, workload } from "../stand-in/kubernetes.ts";
import { deployment } from "../stand-in/watched.ts";

type EksConnection = Extract<Connection, { kind: "eks" }>;

const CREDENTIALS: AwsCredentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: "a+session/token==",
};
const INPUT = { credentials: CREDENTIALS, clusterId: "prod", region: "eu-west-1", nowMs: NOON };

const urlIn = (token: string): URL =>
  new URL(Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString("utf8"));

/**
 * Signature Version 4 for a presigned GET, written down again from its specification: what STS does
 * to check it.
 */
const signatureOf = (
  url: URL,
  { secretAccessKey }: AwsCredentials,
  headers: Readonly<Record<string, string>>,
): string => {
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  const query = [...url.searchParams]
    .filter(([key]) => key !== "X-Amz-Signature")
    .map(([key, value]) => `${encode(key)}=${encode(value)}`)
    .toSorted()
    .join("&");
  const names = Object.keys(headers).toSorted();
  const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
  const canonical = [
    "GET",
    "/",
    query,
    ...names.map((name) => `${name}:${headers[name]}`),
    "",
    names.join(";"),
    sha(""),
  ].join("\n");
  const date = url.searchParams.get("X-Amz-Date") ?? "";
  const scope = `${date.slice(0, 8)}/eu-west-1/sts/aws4_request`;
  const hmac = (key: string | Buffer, text: string): Buffer =>
    createHmac("sha256", key).update(text).digest();
  const key = ["eu-west-1", "sts", "aws4_request"].reduce(
    hmac,
    hmac(`AWS4${secretAccessKey}`, date.slice(0, 8)),
  );
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
      "X-Amz-Credential": "AKIDEXAMPLE/20260301/eu-west-1/sts/aws4_request",
      "X-Amz-Date": "20260301T120000Z",
      "X-Amz-Expires": "60",
      "X-Amz-SignedHeaders": "host;x-k8s-aws-id",
      "X-Amz-Security-Token": "a+session/token==",
    });
  });

  it("carries the signature that STS computes when the control plane sends the cluster's id along", async () => {
    const url = urlIn(await eksToken(INPUT));
    const headers = { host: "sts.eu-west-1.amazonaws.com", "x-k8s-aws-id": "prod" };
    expect(url.searchParams.get("X-Amz-Signature")).toBe(signatureOf(url, CREDENTIALS, headers));
    expect(url.searchParams.get("X-Amz-Signature")).not.toBe(
      signatureOf(url, CREDENTIALS, { ...headers, "x-k8s-aws-id": "staging" }),
    );
  });

  it("asks STS in China at its own name", async () => {
    expect(urlIn(await eksToken({ ...INPUT, region: "cn-north-1" })).hostname).toBe(
      "sts.cn-north-1.amazonaws.com.cn",
    );
  });
});

describe("eksAccess()", () => {
  let aws: AwsEndpoint;
  let now: number;
  let ca: string;
  /** What AWS says about cluster "prod"; tests change it. */
  let described: { status: number; body: object };
  let assume: () => ReturnType<typeof assumed>;
  beforeAll(async () => {
    ca = base64((await authority()).ca);
  });
  beforeEach(async () => {
    aws = await awsEndpoint();
    now = NOON;
    described = {
      status: 200,
      body: {
        cluster: {
          name: "prod",
          endpoint: ENDPOINT,
          certificateAuthority: { data: ca },
          status: "ACTIVE",
        },
      },
    };
    assume = () => assumed(NOON + 3_600_000);
    aws.answer = ({ request }) =>
      request.startsWith("GET ")
        ? {
            status: described.status,
            type: "application/json",
            body: JSON.stringify(described.body),
          }
        : assume();
    vi.stubEnv("AWS_ACCESS_KEY_ID", CREDENTIALS.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", CREDENTIALS.secretAccessKey);
    vi.stubEnv("AWS_SESSION_TOKEN", "");
    vi.stubEnv("AWS_ENDPOINT_URL_STS", aws.url);
    vi.stubEnv("AWS_ENDPOINT_URL_EKS", aws.url);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await aws.close();
  });

  const ENDPOINT = "https://ABC.gr7.eu-west-1.eks.amazonaws.com";
  const ROLE = "arn:aws:iam::111122223333:role/tidemark";
  const connection = { kind: "eks", clusterId: "prod", region: "eu-west-1" } as const;
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const access = (more: Partial<EksConnection> = {}) =>
    eksAccess(
      { ...connection, ...more },
      { cluster: "eu-1", clock: () => now, ownAddresses: false },
    );
  const tokenOf = async (from: Access): Promise<string> =>
    String((await from.credentials()).headers["authorization"]).replace("Bearer ", "");
  const requests = (): readonly string[] => aws.calls.map(({ request }) => request);
  const assumed = (expires: number) => ({
    status: 200,
    type: "text/xml",
    body: `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIAOTHER</AccessKeyId><SecretAccessKey>other</SecretAccessKey><SessionToken>session-${aws.calls.length}</SessionToken><Expiration>${new Date(expires).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
  });
  const refusal = (words: string) => ({
    name: "TidemarkError",
    code: "cluster.access.eks",
    message: expect.stringContaining(words),
  });

  it("takes address and CA from AWS, and makes tokens of the environment's credentials without any other call", async () => {
    const own = await access();
    expect(own).toMatchObject({
      ca: Buffer.from(ca, "base64").toString("utf8"),
      rejectUnauthorized: true,
    });
    expect(own.server.href).toBe(`${ENDPOINT.toLowerCase()}/`);
    expect(urlIn(await tokenOf(own)).searchParams.get("X-Amz-Credential")).toContain(
      "AKIDEXAMPLE/",
    );
    expect(requests()).toEqual(["GET /clusters/prod"]);
    expect(aws.calls[0]?.authorization).toContain("/eu-west-1/eks/aws4_request");
  });

  it.each([
    [
      "another endpoint",
      { endpoint: "https://attacker.example" },
      "the given endpoint differs from the one that AWS gives; leave it out",
    ],
    [
      "another port",
      { endpoint: `${ENDPOINT}:444` },
      "the given endpoint differs from the one that AWS gives",
    ],
    [
      "a user in the endpoint",
      { endpoint: ENDPOINT.replace("https://", "https://x@") },
      "the given endpoint differs from the one that AWS gives",
    ],
    [
      "another CA",
      { caData: base64("the attacker's own") },
      "the given CA differs from the one that AWS gives; leave it out",
    ],
  ])("makes no token for a record with %s", async (_name, given, words) => {
    await expect(access(given)).rejects.toMatchObject(
      refusal(`Cannot use EKS cluster "prod" in "eu-west-1" for cluster "eu-1": ${words}`),
    );
    expect(requests()).toEqual(["GET /clusters/prod"]);
  });

  it("goes on with a record that was stored with the endpoint and CA that AWS gives", async () => {
    expect(await tokenOf(await access({ endpoint: ENDPOINT, caData: ca }))).toMatch(
      /^k8s-aws-v1\./,
    );
  });

  it.each([
    [
      "a region that leads elsewhere",
      { region: "attacker.example/#" },
      'its region must be one of AWS, such as "eu-west-1"',
    ],
    [
      "a region that is another host of AWS",
      { region: "s3-website-eu-west-1" },
      "its region must be one of AWS",
    ],
    ["a region with an account", { region: "x@attacker.example" }, "its region must be one of AWS"],
    [
      "a name that is a path",
      { clusterId: "../../other" },
      "the name of an EKS cluster has letters, digits, - and _, at most 100",
    ],
    ["a role that is none", { roleArn: "arn:aws:iam::1:user/x" }, "its role must be an ARN"],
  ])("makes no call for %s", async (_name, given, words) => {
    await expect(access(given)).rejects.toMatchObject(refusal(words));
    expect(aws.calls).toEqual([]);
  });

  it.each([
    [
      "is another cluster's",
      { cluster: { name: "other", endpoint: ENDPOINT, certificateAuthority: { data: "x" } } },
      "EKS answered for another cluster",
    ],
    [
      "has no endpoint yet",
      { cluster: { name: "prod", status: "CREATING" } },
      "it has no endpoint yet, its status is CREATING",
    ],
    [
      "has a CA that is none",
      { cluster: { name: "prod", endpoint: ENDPOINT, certificateAuthority: { data: "QUFB" } } },
      "its CA is no certificate in PEM",
    ],
    ["is no description", [], "EKS answered for another cluster"],
  ])("refuses an answer that %s", async (_name, body, words) => {
    described.body = body;
    await expect(access()).rejects.toMatchObject(refusal(words));
  });

  it.each([
    [
      403,
      { message: "User is not authorized" },
      "User is not authorized (eks:DescribeCluster is needed)",
    ],
    [404, { message: "No cluster found for name: prod." }, "No cluster found for name: prod."],
    [429, {}, "EKS answered 429"],
  ])("says why AWS does not describe the cluster: %s", async (status, body, words) => {
    described = { status, body };
    await expect(access()).rejects.toMatchObject(
      refusal(
        `Cannot look up EKS cluster "prod" in "eu-west-1" for cluster "eu-1" as the environment's AWS credentials: ${words}`,
      ),
    );
  });

  it("asks once more where the first answer is a failure of AWS", async () => {
    const good = described;
    described = { status: 500, body: {} };
    const { answer } = aws;
    aws.answer = (call) => {
      const given = answer(call);
      described = good;
      return given;
    };
    await access();
    expect(requests()).toEqual(["GET /clusters/prod", "GET /clusters/prod"]);
  });

  it("refuses an endpoint of AWS that is an address of this machine", async () => {
    described.body = {
      cluster: {
        name: "prod",
        endpoint: "https://169.254.169.254",
        certificateAuthority: { data: ca },
      },
    };
    await expect(access()).rejects.toMatchObject(
      refusal("its endpoint is an address of this machine"),
    );
  });

  it("signs for the id of a cluster on Outposts, which AWS gives beside its name", async () => {
    described.body = {
      cluster: {
        name: "prod",
        id: "0b2c-id",
        endpoint: ENDPOINT,
        certificateAuthority: { data: ca },
      },
    };
    const local = await access();
    expect(local.described.tokenFor).toBe("0b2c-id");
  });

  it("keeps a token for 14 minutes, and not longer", async () => {
    const own = await access();
    const first = await tokenOf(own);
    now += 14 * 60_000 - 1;
    expect(await tokenOf(own)).toBe(first);
    now += 1;
    expect(urlIn(await tokenOf(own)).searchParams.get("X-Amz-Date")).toBe("20260301T121400Z");
  });

  it("makes a new one after a 401", async () => {
    const own = await access();
    await tokenOf(own);
    now += 5_000;
    own.forget();
    expect(urlIn(await tokenOf(own)).searchParams.get("X-Amz-Date")).toBe("20260301T120005Z");
  });

  it("describes and signs as the role of another account, assumed once per hour", async () => {
    const other = await access({ roleArn: ROLE });
    expect(aws.calls[1]?.authorization).toContain("Credential=ASIAOTHER/");
    const [one, two] = await Promise.all([tokenOf(other), tokenOf(other)]);
    expect(one).toBe(two);
    expect(urlIn(one).searchParams.get("X-Amz-Credential")).toContain("ASIAOTHER/");
    expect(urlIn(one).searchParams.get("X-Amz-Security-Token")).toBe("session-1");
    expect(Object.fromEntries(new URLSearchParams(aws.calls[0]?.body))).toMatchObject({
      Action: "AssumeRole",
      RoleArn: ROLE,
      RoleSessionName: "tidemark-eu-1",
    });
    now += 30 * 60_000;
    await tokenOf(other);
    expect(requests()).toEqual(["POST /", "GET /clusters/prod"]);
    now += 16 * 60_000;
    await tokenOf(other);
    expect(requests()).toEqual(["POST /", "GET /clusters/prod", "POST /"]);
  });

  it("gives the external id of the stack to the role of another account, and none where the stack has none", async () => {
    for (const externalId of [undefined, "tidemark-prod-7f3a"]) {
      aws.calls.length = 0;
      await eksAccess(
        { ...connection, roleArn: ROLE },
        {
          cluster: "eu-1",
          clock: () => now,
          ownAddresses: true,
          ...(externalId && { externalId }),
        },
      );
      expect(new URLSearchParams(aws.calls[0]?.body).get("ExternalId")).toBe(externalId ?? null);
    }
  });

  it("names the caller, and the role that it may not assume", async () => {
    const other = await access({ roleArn: ROLE });
    now += 46 * 60_000;
    assume = () => ({
      status: 403,
      type: "text/xml",
      body: "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>",
    });
    await expect(other.credentials()).rejects.toMatchObject({
      name: "TidemarkError",
      code: "cluster.access.eks",
      message: `Cannot make a token for cluster "eu-1" as ${ROLE}: not authorized to perform: sts:AssumeRole`,
    });
    assume = () => assumed(now + 3_600_000);
    expect(await tokenOf(other)).toMatch(/^k8s-aws-v1\./);
  });

  it("never sends a token to the server that an editor named, and asks AWS once for each incarnation of a record", async () => {
    const [own, attacker] = await Promise.all([kubernetes(), kubernetes()]);
    own.collections.set("/apis/apps/v1/deployments", [workload("shop", "web")]);
    described.body = {
      cluster: { name: "prod", endpoint: own.url, certificateAuthority: { data: base64(own.ca) } },
    };
    const open = (
      one: Parameters<typeof connect>[0] & { readonly uid: string; readonly version: number },
      options: ConnectOptions,
    ) => connect(one, options);
    const clients = clusterClients(
      { clock: () => now, trusted: { ...NOTHING_TRUSTED, ownAddresses: true } },
      open,
    );
    const record = {
      name: clusterName("eu-1"),
      uid: "uid-of-cluster",
      version: 1,
      kubeSystemUid: undefined,
      connection,
    } as const;
    const stored = {
      ...record,
      connection: { ...connection, endpoint: attacker.url, caData: base64(attacker.ca) },
    };
    await expect(clients.clientFor(stored)).rejects.toMatchObject(
      refusal("the given endpoint differs from the one that AWS gives"),
    );
    const client = await clients.clientFor({ ...record, version: 2 });
    expect(await client.readScale(namespace("shop"), deployment("web"), 3_000)).toMatchObject({
      kind: "read",
    });
    expect(own.seen[0]?.headers.authorization).toMatch(/^Bearer k8s-aws-v1\./);
    expect(attacker.connections()).toBe(0);
    // The client makes way for others and is opened again: what AWS said is still known.
    for (let other = 0; other < CLIENTS_LEAST; other++) {
      await clients
        .clientFor({
          ...record,
          name: clusterName(`other-${other}`),
          connection: { kind: "secret", secretId: "none" },
        })
        .catch(() => undefined);
    }
    await clients.clientFor({ ...record, version: 2 });
    expect(requests().filter((request) => request.startsWith("GET"))).toHaveLength(2);
    await clients.clientFor({ ...record, version: 3 });
    expect(requests().filter((request) => request.startsWith("GET"))).toHaveLength(3);
    await clients.closeAll();
    await Promise.all([own.close(), attacker.close()]);
  });
});
