import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import fc from "fast-check";
import {
  clusterDocument,
  clustersIn,
} from "../../lib/answers/service/clusters/cluster-documents.ts";
import { clusterFieldsMarkdown } from "../../docs/figures/cluster-fields.ts";
import { withTable } from "../../docs/figures/page-table.ts";
import { clusterDocumentSchema } from "../../lib/rules/manifest/native/json-schema.ts";
import { documentText } from "../../lib/command/output/documents.ts";
import { type RunningCluster, runCluster, workload } from "../local/cluster/running-cluster.ts";
import { runs } from "../runs.ts";
import { hpa } from "../service/world/manifests.ts";
import { type Folder, type Said, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

const EXAMPLES = join(import.meta.dirname, "../../examples/clusters");

let folder: Folder;
let cluster: RunningCluster;
const run = (...args: readonly string[]): Promise<Said> =>
  inside([...args, "--data", folder.data], { by: "grace" });
const apply = (stdin: string, ...args: readonly string[]): Promise<Said> =>
  inside(["apply", "-f", "-", "--data", folder.data, ...args], { stdin });

beforeAll(async () => {
  folder = await shopFolder();
  cluster = await runCluster({ workloads: [workload()] });
});
afterAll(async () => {
  await cluster.remove();
  folder.remove();
});

const secret = (name: string, more = ""): string => `apiVersion: tidemark.dev/v1
kind: Cluster
metadata: { name: ${name}, labels: { fleet: test } }
spec:
  connection: { kind: secret, secretId: prod/${name} }
${more}---
`;

describe("tidemark apply of clusters", () => {
  it("connects the clusters of examples/clusters, and exports documents that apply finds unchanged", async () => {
    const files = ["-f", EXAMPLES];
    expect(await run("apply", ...files, "--force")).toEqual({
      code: 0,
      err: "",
      out: 'Cluster "ap-1" created\nCluster "eu-7" created\nCluster "eu-8" created\n',
    });
    const exported = await run("cluster", "export", "ap-1", "eu-7", "eu-8", "--grants");
    expect(exported.err).toBe("");
    const unchanged =
      'Cluster "ap-1" unchanged\nCluster "eu-7" unchanged\nCluster "eu-8" unchanged\n';
    expect(await apply(exported.out)).toMatchObject({ code: 0, out: unchanged });
    expect(await run("apply", ...files)).toMatchObject({ code: 0, out: unchanged });
    const list = await run("cluster", "export", "ap-1", "eu-7", "eu-8", "-o", "json");
    expect(await apply(list.out)).toMatchObject({ code: 0, out: unchanged });
    expect(await run("diff", ...files)).toMatchObject({ code: 0, out: "" });
  });

  it("looks at a new cluster first, stores nothing with --dry-run, and refuses a second name of it", async () => {
    const document = (name: string): string =>
      `apiVersion: tidemark.dev/v1\nkind: Cluster\nmetadata: { name: ${name} }\nspec:\n  connection: { kind: kubeconfig, path: ${cluster.kubeconfigPath} }\n`;
    expect(await apply(document("sim"), "--dry-run")).toMatchObject({
      code: 0,
      out: 'Cluster "sim" created (dry run)\n',
    });
    expect((await run("cluster", "describe", "sim")).code).toBe(1);
    expect(await apply(document("sim"))).toMatchObject({ code: 0, out: 'Cluster "sim" created\n' });
    for (const more of [["--dry-run"], []]) {
      const { code, err } = await apply(document("second"), ...more);
      expect(code).toBe(1);
      expect(err).toContain('it is cluster "sim" under a second name');
    }
    expect((await run("cluster", "describe", "second")).code).toBe(1);
  });

  it("stores autoscalers for a cluster that the same files add", async () => {
    const files = `${secret("fresh")}${hpa("web", { namespace: "shop" })}`;
    expect(await apply(files, "--force", "--cluster", "fresh", "--dry-run")).toMatchObject({
      code: 0,
      out: 'Cluster "fresh" created (dry run)\n',
      err: 'the autoscalers are not compared: cluster "fresh" is added by this apply\n',
    });
    expect(await apply(files, "--force", "--cluster", "fresh")).toMatchObject({
      code: 0,
      out: 'Cluster "fresh" created\nHorizontalPodAutoscaler "web" in namespace "shop" of cluster "fresh" created\n',
    });
    expect((await apply(files, "--cluster", "fresh")).out).toMatch(/unchanged\n.* unchanged\n$/);
    expect(
      await inside(["delete", "-f", "-", "--cluster", "fresh", "--data", folder.data], {
        stdin: files,
      }),
    ).toMatchObject({
      code: 0,
      out: '"web" in namespace "shop" of cluster "fresh" deleted\nCluster "fresh" deleted\n',
    });
  });

  it("stores no cluster where an autoscaler beside it is refused", async () => {
    const files = `${secret("beside")}${hpa("web", { namespace: "shop" }).replace("maxReplicas: 10", "maxReplicas: 0")}`;
    expect(await apply(files, "--force", "--cluster", "us-1")).toMatchObject({ code: 1, out: "" });
    expect((await run("cluster", "describe", "beside")).code).toBe(1);
  });

  it("sends only the fields that differ, shows them in diff and changes, and gives the others their defaults", async () => {
    await apply(
      secret("eu-9", "  syncPeriodSeconds: 30\n  settings: { tolerance: 0.57 }\n"),
      "--force",
    );
    const changed = secret(
      "eu-9",
      "  partitions: [{ name: shop, namespaces: [shop] }, { name: rest }]\n",
    );
    const { code, out } = await inside(["diff", "-f", "-", "--data", folder.data], {
      stdin: changed,
    });
    expect(code).toBe(1);
    expect(out).toContain("--- stored/cluster/eu-9\n+++ applied/cluster/eu-9\n");
    expect(out).toContain(
      "-    tolerance: 0.57\n-  syncPeriodSeconds: 30\n+    tolerance: 0.1\n+  syncPeriodSeconds: 15\n",
    );
    expect(await apply(changed)).toMatchObject({ code: 0, out: 'Cluster "eu-9" configured\n' });
    const { items } = JSON.parse(
      (await run("changes", "--all", "--cluster", "eu-9", "-o", "json")).out,
    );
    const replaced = items.find(({ verb }: { readonly verb: string }) => verb === "replace");
    const paths = replaced.fields.map(({ path }: { readonly path: string }) => path);
    expect(paths.map((path: string) => path.replace(/\[.*/, ""))).not.toContain("connection");
    expect(paths).toEqual(expect.arrayContaining(["settings.tolerance", "syncPeriodMs"]));
  });

  it("gives a cluster the grants of its document, and takes its others", async () => {
    const arn = (name: string): string => `arn:aws:iam::123456789012:user/${name}`;
    const grants = (...lines: readonly string[]): string =>
      secret("eu-9", `  grants:\n${lines.map((line) => `    - { ${line} }\n`).join("")}`);
    const two = [
      `arn: "${arn("ada")}", role: edit, namespace: shop`,
      `arn: "${arn("bob")}", role: view`,
    ];
    expect((await apply(grants(...two))).out).toBe('Cluster "eu-9" configured\n');
    expect((await apply(grants(...two.toReversed()))).out).toBe('Cluster "eu-9" unchanged\n');
    expect((await apply(secret("eu-9"))).out).toBe('Cluster "eu-9" unchanged\n');
    expect((await apply(secret("eu-9", "  grants: []\n"))).out).toBe('Cluster "eu-9" configured\n');
    expect((await run("access", "list", "-o", "json")).out).not.toContain('"cluster": "eu-9"');
  });
});

describe("tidemark apply --prune of clusters", () => {
  const seven = ["p-1", "p-2", "p-3", "p-4", "p-5", "p-6", "p-7"];
  it("removes clusters with the labels that no document names, and none that has autoscalers", async () => {
    const all = seven.map((name) => secret(name).replace("fleet: test", "fleet: pruned")).join("");
    const selected = ["--prune", "-l", "fleet=pruned"];
    expect((await apply(all, "--force", ...selected)).code).toBe(0);
    const less = (count: number): string =>
      `${all.split("---\n").slice(0, count).join("---\n")}---\n`;
    const refused = await apply(less(1), ...selected);
    expect([refused.code, refused.err]).toEqual([
      1,
      "error: Cannot prune: 6 of 7 clusters with these labels are in no document, which is more than 5 and more than half; look at the folder, or remove them with tidemark cluster remove\n",
    ]);
    expect((await apply(less(5), ...selected, "--dry-run")).out).toContain(
      'Cluster "p-6" pruned (dry run)\nCluster "p-7" pruned (dry run)\n',
    );
    await apply(hpa("web", { namespace: "shop" }), "--cluster", "p-6");
    const pruned = await apply(less(5), ...selected);
    expect(pruned.err).toContain('Cannot remove cluster "p-6": it still has autoscalers');
    expect(pruned.out).toContain('Cluster "p-7" pruned\n');
    expect((await run("cluster", "describe", "p-6")).code).toBe(0);
    expect((await run("cluster", "describe", "eu-1")).code).toBe(0);
  });

  it("is refused where a document has not the labels", async () => {
    expect((await apply(secret("p-1"), "--prune", "-l", "fleet=pruned")).err).toContain(
      '"standard input" has not the labels of --selector "fleet=pruned"',
    );
  });
});

describe("a document of a cluster", () => {
  it.each([
    [
      "spec: { connection: { kind: secret, secretId: prod/other } }",
      "spec.connection.secretId: the secret of this cluster must be named FOLDER/x",
    ],
    [
      "spec: { connection: { kind: eks, clusterId: a } }",
      "spec.connection.region must be given with kind eks; write region",
    ],
    [
      "spec: { connection: { kind: eks, clusterId: a, region: eu-west-1, context: b } }",
      "spec.connection.context may not be given with kind eks",
    ],
    ["spec: { connection: { kind: secret, secretId: '' } }", "spec.connection.secretId"],
    [
      "spec: { connection: { kind: ssh } }",
      'spec.connection.kind is not one of the supported values: "eks", "kubeconfig", "secret"',
    ],
    [
      "spec: { connection: { kind: secret, secretId: prod/x, token: abc } }",
      "spec.connection.token: unknown field",
    ],
    [
      "spec: { connection: { kind: secret, secretId: prod/x }, syncPeriodSeconds: 3 }",
      "spec.syncPeriodSeconds must be greater than or equal to 5; write 5 or more",
    ],
    [
      "spec: { connection: { kind: secret, secretId: prod/x }, partitions: [{ name: a, namespaces: [s] }, { name: b, namespaces: [s] }] }",
      'spec.partitions[1].namespaces[0]: the namespace "s" is in two partitions',
    ],
    [
      "spec: { connection: { kind: secret, secretId: prod/x }, recommenderHosts: [HTTPS://a] }",
      "spec.recommenderHosts[0]: the recommender host",
    ],
    [
      "spec: { connection: { kind: secret, secretId: prod/x }, grants: [{ arn: me, role: edit }] }",
      "spec.grants[0].arn: must be the ARN of a caller",
    ],
    ["spec: {}", "spec.connection is required"],
  ])("is refused with the path of the field before anything is opened: %s", async (spec, words) => {
    const stdin = `apiVersion: tidemark.dev/v1\nkind: Cluster\nmetadata: { name: x }\n${spec}\n`;
    const open = () => Promise.reject(new Error("nothing is opened"));
    const { code, err } = await inside(["apply", "-f", "-"], { stdin, open });
    expect(code).toBe(1);
    expect(err).toContain(`Cannot accept "standard input", line 4: `);
    expect(err).toContain(words);
  });

  it("is no document of another project", async () => {
    const other =
      "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: { name: capi }\n---\n";
    const { code, err } = await apply(
      `${other}${hpa("web", { namespace: "shop" })}`,
      "--cluster",
      "us-1",
    );
    expect([code, err]).toEqual([0, "passed over 1 object of another kind: 1 Cluster\n"]);
  });

  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}[a-z0-9]$/);
  it("reads back what was printed, for every cluster that can be stored", () => {
    fc.assert(
      fc.property(
        fc.record({
          name,
          labels: fc.dictionary(name, name, { maxKeys: 3 }),
          syncPeriodMs: fc.integer({ min: 5_000, max: 900_000 }),
          tolerance: fc.integer({ min: 0, max: 1_000_000 }).map((millionths) => millionths / 1e6),
          namespaces: fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
          hosts: fc.array(fc.constantFrom("*", "a.example.com", "http://a:8080"), { maxLength: 2 }),
          kinds: fc.constantFrom([], ["PodAutoscaler"] as const),
        }),
        ({ tolerance, namespaces, hosts, kinds, ...stored }) => {
          const whole = {
            ...stored,
            connection: { kind: "secret", secretId: `prod/${stored.name}` } as const,
            partitions: [{ name: "some", namespaces }, { name: "rest" }],
            specsFromCluster: kinds,
            recommenderHosts: hosts,
            settings: {
              tolerance,
              downscaleStabilizationMs: 300_000,
              cpuInitializationPeriodMs: 1,
              initialReadinessDelayMs: 30_000,
              hpaVersion: "1.38" as const,
            },
          };
          const text = documentText(clusterDocument(whole), "yaml").written();
          const [read] = clustersIn([{ file: "a.yaml", text }]).values;
          expect(read && clusterDocument(read)).toEqual(clusterDocument(whole));
        },
      ),
      runs(60),
    );
  });
});

describe("docs/clusters-in-git.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/clusters-in-git.md"), "utf8");
  it("shows a document of the example", () => {
    const [, shown = ""] =
      /^```yaml\n(apiVersion: tidemark\.dev\/v1\nkind: Cluster\n.*?)^```/ms.exec(page) ?? [];
    expect(shown).toBe(readFileSync(join(EXAMPLES, "eu-7.yaml"), "utf8"));
  });

  it("has the fields and the schema as npm run docs -- cluster writes them", () => {
    expect(withTable(page, "fields", clusterFieldsMarkdown())).toBe(page);
    const schema = readFileSync(join(EXAMPLES, "../../docs/cluster.schema.json"), "utf8");
    expect(documentText(clusterDocumentSchema(), "json").written()).toBe(schema);
  });
});
