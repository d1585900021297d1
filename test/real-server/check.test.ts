import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { eksToken } from "../../lib/stack/cluster/access/eks-token.ts";
import { ON_THIS_MACHINE } from "../../lib/stack/cluster/access/kubeconfig-file.ts";
import { checkConnection } from "../../lib/stack/cluster/check/check-connection.ts";
import type {
  CheckedConnection,
  CheckedPoint,
  ConnectionReport,
} from "../../lib/stack/cluster/check/report.ts";
import { rbacText } from "../../lib/stack/cluster/rights/rbac-text.ts";
import { customKindRules } from "../../lib/stack/cluster/rights/rules.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import type { SpecKindName } from "../../lib/rules/model/spec.ts";
import { authority } from "../cluster/stand-in/certificates.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import { onServer } from "./on-server.ts";
import { RULES, type Rule } from "./rbac-rules.ts";
import { type Scene, until } from "./scene.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

interface Place {
  readonly token: string;
  readonly url?: string;
  readonly ca?: string;
  readonly namespaces?: readonly string[];
  /** Kinds of autoscalers that are read from the cluster. */
  readonly specs?: readonly SpecKindName[];
  readonly targets?: CheckedConnection["targets"];
}

let dir: string;
let looks = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-check-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const look = ({ token, url, ca, namespaces, specs, targets }: Place): Promise<ConnectionReport> => {
  const shared = inject("cluster");
  const path = join(dir, `kubeconfig-${++looks}`);
  writeFileSync(path, kubeconfigText({ url: url ?? shared.url, ca: ca ?? shared.ca }, { token }), {
    mode: 0o600,
  });
  const target: CheckedConnection = {
    name: clusterName("real"),
    connection: { kind: "kubeconfig", path },
    ...(namespaces && { namespaces }),
    ...(specs && { specsFromCluster: specs }),
    ...(targets && { targets }),
  };
  return checkConnection(target, { clock: Date.now, trusted: ON_THIS_MACHINE });
};

const troubles = ({ checks }: ConnectionReport): readonly string[] =>
  checks
    .filter(({ result }) => result === "failed" || result === "warning")
    .map(({ check, result }) => `${result} ${check}`);

/** A token of a new service account of the scene. */
const tokenOf = async ({ admin, namespace }: Scene, name: string): Promise<string> => {
  await admin("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  const { status } = await admin(
    "POST",
    `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    { spec: { expirationSeconds: 3_600 } },
  );
  return (status as { readonly token: string }).token;
};

/** Gives the account a cluster role with these rules alone. */
const grant = async (
  { admin, namespace }: Scene,
  name: string,
  rules: readonly Rule[],
  account = name,
): Promise<void> => {
  const role = `${namespace}-${name}`;
  await admin("POST", `${RBAC}/clusterroles`, { metadata: { name: role }, rules });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role };
  await admin("POST", `${RBAC}/clusterrolebindings`, {
    metadata: { name: role },
    roleRef,
    subjects: [{ kind: "ServiceAccount", name: account, namespace }],
  });
};

/** The points that a rule is for, where its API is installed. */
const pointsOf = ({ apiGroups: [group = ""], resources, verbs }: Rule): readonly string[] => {
  if (group.endsWith(".metrics.k8s.io")) return [`warning ${group}`];
  if (group === "metrics.k8s.io") return ["warning metrics.k8s.io"];
  if (resources.includes("namespaces")) return ["warning identity"];
  const names = resources.map(
    (resource) => `${resource.split("/")[0]}${group === "" ? "" : `.${group}`}`,
  );
  const isNeeded = (name: string): boolean => name === "pods" && verbs.includes("list");
  return names.map((name) => `${isNeeded(name) ? "failed" : "warning"} ${name}`);
};

onServer("a look at a real cluster", (newScene) => {
  it("finds everything right with the roles, and the user that the server knows", async () => {
    const { tidemarkToken } = inject("cluster");
    const report = await look({ token: tidemarkToken });
    expect([report.usable, troubles(report)]).toEqual([true, []]);
    expect(report.checks).toContainEqual({
      check: "user",
      result: "passed",
      message: '"tidemark", in tidemark',
    });
    expect(report.checks.find(({ check }) => check === "version")?.message).toMatch(
      /^v1\.\d+\.\d+/,
    );
  });

  it("names exactly the points of each rule that is taken away", async () => {
    const scene = await newScene("single");
    const groups = (await scene.admin("GET", "/apis"))["groups"] as readonly {
      readonly name: string;
    }[];
    const installed = new Set(["", ...groups.map(({ name }) => name)]);
    for (const [at, rule] of RULES.entries()) {
      const token = await tokenOf(scene, `without-${at}`);
      await grant(
        scene,
        `without-${at}`,
        RULES.filter((other) => other !== rule),
      );
      const wanted = pointsOf(rule).filter(() => installed.has(rule.apiGroups[0] ?? ""));
      // The authorizer knows a new role a moment after it was made.
      let found: readonly string[] = [];
      await until(`${JSON.stringify(rule)} alone is missing`, async () => {
        found = troubles(await look({ token, specs: ["PodAutoscaler"] }));
        return found.length <= wanted.length;
      });
      expect(found, JSON.stringify(rule)).toEqual(wanted);
    }
  });

  it("fails without any role, and prints the command with the roles of this account", async () => {
    const scene = await newScene("bare");
    const report = await look({ token: await tokenOf(scene, "bare") });
    expect(report.usable).toBe(false);
    expect(troubles(report)).toContain("failed deployments.apps");
    expect(report.checks.find(({ check }) => check === "pods")?.fix).toContain(
      `tidemark cluster rbac --service-account ${scene.namespace}/bare | kubectl apply -f -`,
    );
  });

  it("finds a custom kind of a stored autoscaler, and the rights that its scale still needs", async () => {
    const scene = await newScene("kinds");
    const token = await tokenOf(scene, "kinds");
    await grant(scene, "kinds", RULES);
    const targets = [{ apiVersion: "tidemark.test/v1", kind: "Fleet" }];
    let fleets: CheckedPoint | undefined;
    await until("the roles count", async () => {
      const report = await look({ token, targets });
      fleets = report.checks.find(({ check }) => check === "fleets.tidemark.test");
      return troubles(report).length === 1;
    });
    expect(fleets).toMatchObject({
      result: "warning",
      message: "not allowed: get fleets/scale.tidemark.test; update fleets/scale.tidemark.test",
    });
    expect(fleets?.fix).toContain(
      `tidemark cluster rbac --service-account ${scene.namespace}/kinds --kind tidemark.test/fleets | kubectl apply -f -`,
    );
    const custom = customKindRules([{ group: "tidemark.test", plural: "fleets" }]);
    const rules = [...custom.observe, ...custom.scale].map(({ group, resources, verbs }) => ({
      apiGroups: [group],
      resources,
      verbs,
    }));
    await grant(scene, "kinds-more", [...RULES, ...rules], "kinds");
    await until(
      "the added rights count",
      async () => troubles(await look({ token, targets })).length === 0,
    );
  });

  it("accepts the roles of single namespaces for a cluster whose partitions name them, and for no other", async () => {
    const scene = await newScene("spaces");
    const { namespace, admin } = scene;
    const token = await tokenOf(scene, "spaces");
    for (const document of parseAllDocuments(rbacText({ namespaces: [namespace] }))) {
      const object: { readonly kind: string } = document.toJS();
      const bound =
        object.kind === "RoleBinding"
          ? { ...object, subjects: [{ kind: "ServiceAccount", name: "spaces", namespace }] }
          : object;
      await admin("POST", `${RBAC}/namespaces/${namespace}/${object.kind.toLowerCase()}s`, bound);
    }
    await until(
      "the roles count",
      async () => troubles(await look({ token, namespaces: [namespace] })).length === 0,
    );
    expect((await look({ token })).usable).toBe(false);
    const both = await look({ token, namespaces: [namespace, "kube-system"] });
    expect(both.checks.find(({ check }) => check === "pods")?.message).toContain(
      "in namespace kube-system",
    );
  });

  it("refuses a token that is unknown, and one of EKS that has expired; accepts one that has not", async () => {
    const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" };
    const signedAt = (nowMs: number): Promise<string> =>
      eksToken({ credentials, clusterId: "real", region: "eu-west-1", nowMs });
    expect(troubles(await look({ token: "unknown" }))).toEqual(["failed user"]);
    expect(troubles(await look({ token: await signedAt(Date.now() - 16 * 60_000) }))).toEqual([
      "failed user",
    ]);
    const report = await look({ token: await signedAt(Date.now()) });
    expect(troubles(report)).toEqual([]);
    expect(report.checks.find(({ check }) => check === "user")?.message).toContain(
      "assumed-role/tidemark/sync",
    );
  });

  it("tells a wrong CA, a port on which nothing listens, and names that lead nowhere", async () => {
    const { url, tidemarkToken: token } = inject("cluster");
    expect(troubles(await look({ token, ca: (await authority()).ca }))).toEqual(["failed tls"]);
    expect(troubles(await look({ token, url: url.replace("127.0.0.1", "127.0.0.2") }))).toEqual([
      "failed reachable",
    ]);
    expect(troubles(await look({ token, url: "https://127.0.0.1:1" }))).toEqual([
      "failed reachable",
    ]);
    expect(troubles(await look({ token, url: "https://nowhere.invalid" }))).toEqual([
      "failed reachable",
    ]);
  });
});
