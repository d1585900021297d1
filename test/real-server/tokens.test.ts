import { afterEach, beforeEach, expect, inject, it, vi } from "vitest";
import { type AwsEndpoint, awsEndpoint } from "../cluster/stand-in/aws.ts";
import { apiCalls } from "../control-plane/api-calls.ts";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { type Scene, type SceneOptions, until } from "./scene.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const SECRET = "tidemark/real";

let aws: AwsEndpoint;
beforeEach(async () => {
  aws = await awsEndpoint();
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_SESSION_TOKEN", "");
  vi.stubEnv("AWS_REGION", "eu-west-1");
  for (const service of ["SECRETS_MANAGER", "STS", "EKS"])
    vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, aws.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await aws.close();
});

const holds = (token: string): void => {
  const { url, ca } = inject("cluster");
  const SecretString = JSON.stringify({ server: url, caData: base64(ca), token });
  aws.answer = () => ({
    status: 200,
    type: "application/x-amz-json-1.1",
    body: JSON.stringify({ Name: SECRET, SecretString }),
  });
};

/**
 * A token of the real API server for a service account with all of Tidemark's rights. It ends when
 * its Secret is deleted.
 */
const boundToken = async ({ admin, namespace }: Scene, name: string): Promise<string> => {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await admin("POST", accounts, { metadata: { name } });
  const { metadata } = await admin("POST", `/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name },
  });
  const { uid } = metadata as { readonly uid: string };
  for (const role of ["tidemark-observe", "tidemark-scale"]) {
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role };
    const subjects = [{ kind: "ServiceAccount", name, namespace }];
    await admin("POST", `${RBAC}/clusterrolebindings`, {
      metadata: { name: `${namespace}-${name}-${role}` },
      roleRef,
      subjects,
    });
  }
  const boundObjectRef = { apiVersion: "v1", kind: "Secret", name, uid };
  const { status } = await admin("POST", `${accounts}/${name}/token`, {
    spec: { expirationSeconds: 3_600, boundObjectRef },
  });
  return (status as { readonly token: string }).token;
};

/** The status that the API server gives to a request with this token. */
const statusWith = async (token: string): Promise<number> => {
  const { url, ca } = inject("cluster");
  const calls = apiCalls({ url, ca, token });
  try {
    return (await calls.call("GET", "/apis/apps/v1/deployments?limit=1")).status;
  } finally {
    calls.close();
  }
};

onServer("the credentials of Tidemark on a real API server", (newScene) => {
  const threeWanted = async (options: SceneOptions) => {
    const scene = await newScene("tokens", options);
    const workload = await scene.make("Deployment", "web", 2);
    await scene.running(workload, 2);
    const load = (units: number) =>
      scene.metrics({ [`external ${scene.namespace}/load-web`]: units });
    await load(30);
    await scene.apply(MANIFESTS.hpa(workload, "external"));
    const outcomes = async () =>
      (await scene.sync()).events.map(({ from, to, outcome }) => [from, to, outcome]);
    return { scene, workload, load, outcomes };
  };

  it("from a secret: an expired token holds the autoscalers and says so, and a rotated one is used in the same sync", async () => {
    const { scene, workload, load, outcomes } = await threeWanted({
      connection: { kind: "secret", secretId: SECRET },
    });
    const [first, second] = [await boundToken(scene, "first"), await boundToken(scene, "second")];
    await until(
      "both tokens have their rights",
      async () => (await statusWith(first)) === 200 && (await statusWith(second)) === 200,
    );
    holds(first);
    expect(await outcomes()).toEqual([[2, 3, "applied"]]);
    await scene.admin("DELETE", `/api/v1/namespaces/${scene.namespace}/secrets/first`);
    // The API server remembers for ten seconds that a token was good.
    await until("the first token is refused", async () => (await statusWith(first)) === 401);
    await load(10);
    expect(await outcomes()).toEqual([]);
    const { state, conditions } = await scene.service.get({ name: "web" });
    expect(state).toBe("forbidden");
    expect(JSON.stringify(conditions)).toContain("Unauthorized");
    expect(await scene.replicas(workload)).toBe(3);
    holds(second);
    // A token younger than a second is not made anew: it may be the one that another call got.
    await until(
      "the second token is used",
      async () => JSON.stringify(await outcomes()) === JSON.stringify([[3, 1, "applied"]]),
    );
    expect(await scene.replicas(workload)).toBe(1);
  });

  it("of EKS: a presigned call to STS authenticates as the role, an expired one is refused and nothing shrinks, and the next one scales", async () => {
    const { url, ca } = inject("cluster");
    const cluster = {
      name: "prod",
      endpoint: url,
      certificateAuthority: { data: base64(ca) },
      status: "ACTIVE",
    };
    aws.answer = () => ({
      status: 200,
      type: "application/json",
      body: JSON.stringify({ cluster }),
    });
    let lateMs = 0;
    const options: SceneOptions = {
      connection: { kind: "eks", clusterId: "prod", region: "eu-west-1" },
      clock: () => Date.now() - lateMs,
    };
    const { scene, workload, load, outcomes } = await threeWanted(options);
    expect(await outcomes()).toEqual([[2, 3, "applied"]]);
    expect(aws.calls.map(({ request }) => request)).toEqual(["GET /clusters/prod"]);
    await load(10);
    // Signed twenty minutes ago, by a clock that is late.
    lateMs = 20 * 60_000;
    const late = await threeWanted(options);
    expect(await late.outcomes()).toEqual([]);
    expect(JSON.stringify((await late.scene.service.get({ name: "web" })).conditions)).toContain(
      "Unauthorized",
    );
    expect(await late.scene.replicas(late.workload)).toBe(2);
    lateMs = 0;
    expect(await late.outcomes()).toEqual([[2, 3, "applied"]]);
    expect(await outcomes()).toEqual([[3, 1, "applied"]]);
    expect(await scene.replicas(workload)).toBe(1);
  });
});
