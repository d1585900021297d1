import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { clusterName, namespace } from "../../lib/rules/model/ids.ts";
import { NOTHING_TRUSTED } from "../../lib/stack/cluster/access/access.ts";
import { connect } from "../../lib/stack/cluster/connect.ts";
import { rbacText } from "../../lib/stack/cluster/rights/rbac-text.ts";
import { type AwsEndpoint, awsEndpoint } from "../cluster/stand-in/aws.ts";
import { type Issuer, newKey, startIssuer, webIdentityAnswer } from "../cluster/stand-in/issuer.ts";
import { deployment } from "../cluster/stand-in/watched.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { fillCluster } from "../control-plane/fill.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/start.ts";

const binaries = controlPlaneBinaries();
const NAME = "tidemark-prod/eu-8";
const ROLE = "arn:aws:iam::123456789012:role/tidemark-prod-sync-eu-west-1";
const PAGE = readFileSync(join(import.meta.dirname, "../../docs/clusters-by-issuer.md"), "utf8");
/** The configuration that the page prints. */
const CONFIGURATION = /```yaml\n(apiVersion: apiserver.config.k8s.io.*?)```/s.exec(PAGE)?.[1] ?? "";

let dir: string;
let issuer: Issuer;
let plane: ControlPlane;
let aws: AwsEndpoint;

beforeAll(async () => {
  if (binaries.kind === "missing") return;
  dir = mkdtempSync(join(tmpdir(), "tidemark-issuer-"));
  issuer = await startIssuer(dir);
  const configuration = parse(CONFIGURATION);
  Object.assign(configuration.jwt[0].issuer, {
    url: issuer.url,
    certificateAuthority: issuer.ca,
  });
  plane = await startControlPlane(binaries.folder, {
    flags: (file) => [
      `--authentication-config=${file("authentication.json", JSON.stringify(configuration))}`,
    ],
  });
  await fillCluster(plane, [{ namespace: "shop", name: "web" }]);
  for (const document of parseAllDocuments(rbacText({}))) {
    const object = document.toJS() as { readonly kind: string };
    const plural = `/apis/rbac.authorization.k8s.io/v1/${object.kind.toLowerCase()}s`;
    expect((await plane.call("POST", plural, object)).status).toBe(201);
  }
  aws = await awsEndpoint();
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_REGION", "eu-west-1");
  for (const service of ["SECRETS_MANAGER", "STS"])
    vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, aws.url);
}, 120_000);
afterAll(async () => {
  if (binaries.kind === "missing") return;
  vi.unstubAllEnvs();
  await aws.close();
  await plane.close();
  await issuer.close();
  rmSync(dir, { recursive: true, force: true });
});

const claimsOf = (more: object = {}): object => {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  return {
    ...{ iss: issuer.url, aud: NAME, sub: ROLE },
    ...{ iat: nowSeconds, exp: nowSeconds + 900 },
    ...more,
  };
};

/** STS signs these claims; whoever asks for another audience than that of the cluster gets it. */
const issues = (tokenFor: (audience: string) => string): void => {
  aws.answer = ({ target, body }) => {
    if (target.includes("GetSecretValue")) {
      const caData = Buffer.from(plane.ca).toString("base64");
      const SecretString = JSON.stringify({ server: plane.url, caData, tokenFrom: "aws" });
      return {
        ...{ status: 200, type: "application/x-amz-json-1.1" },
        body: JSON.stringify({ Name: NAME, SecretString }),
      };
    }
    const audience = new URLSearchParams(body).get("Audience.member.1") ?? "";
    return {
      ...{ status: 200, type: "text/xml" },
      body: webIdentityAnswer(tokenFor(audience), Date.now() + 900_000),
    };
  };
};

/** How the API server answers to a token of STS: the scale of `web`, or why it refuses. */
const scaleRead = async (): Promise<unknown> => {
  const client = await connect(
    {
      name: clusterName("eu-8"),
      kubeSystemUid: undefined,
      connection: { kind: "secret", secretId: NAME },
    },
    { clock: Date.now, trusted: { ...NOTHING_TRUSTED, ownAddresses: true } },
  );
  try {
    return await client.readScale(namespace("shop"), deployment("web"), 3_000);
  } finally {
    client.close();
  }
};
const UNAUTHORIZED = { kind: "failed", failure: { code: 401 } };

describe.skipIf(binaries.kind === "missing")(
  "an API server that trusts AWS as an issuer, as docs/clusters-by-issuer.md configures it",
  () => {
    it("takes the token that STS makes for the name of the secret, with the rights of the printed roles", async () => {
      issues((aud) => issuer.tokenOf(claimsOf({ aud })));
      expect(await scaleRead()).toMatchObject({ kind: "read", specReplicas: 1 });
      const asked = new URLSearchParams(aws.calls.at(-1)?.body);
      expect([asked.get("Action"), asked.get("Audience.member.1")]).toEqual([
        "GetWebIdentityToken",
        NAME,
      ]);
    });

    it.each([
      ["of another cluster", () => claimsOf({ aud: "tidemark-prod/eu-9" })],
      ["of another role", () => claimsOf({ sub: ROLE.replace("tidemark", "other") })],
      ["of another account", () => claimsOf({ sub: ROLE.replace("123456789012", "999988887777") })],
      ["of another issuer", () => claimsOf({ iss: "https://127.0.0.1:1" })],
    ])("refuses a token %s", async (_, claims) => {
      issues(() => issuer.tokenOf(claims()));
      expect(await scaleRead()).toMatchObject(UNAUTHORIZED);
    });

    it("refuses a token of another key, and one that has ended is not sent", async () => {
      const { privateKey } = newKey();
      issues(() => issuer.tokenOf(claimsOf(), privateKey));
      expect(await scaleRead()).toMatchObject(UNAUTHORIZED);
      issues(() => issuer.tokenOf(claimsOf({ exp: Math.floor(Date.now() / 1_000) - 60 })));
      await expect(scaleRead()).rejects.toThrow(/its token ended at/);
    });
  },
);
