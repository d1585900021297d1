import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { type Folder, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

const DEFAULTS = readFileSync(join(import.meta.dirname, "../../infra/cluster-rbac.yaml"), "utf8");

interface Shown {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}
const documentsIn = (out: string): readonly Shown[] =>
  parseAllDocuments(out, { strict: true }).map((document) => {
    if ("errors" in document) expect(document.errors).toEqual([]);
    return document.toJS() as Shown;
  });
const printed = async (...args: readonly string[]): Promise<string> => {
  const { code, out, err } = await inside(["cluster", "rbac", ...args]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
};
const SYNC_ROLE = "arn:aws:iam::210987654321:role/sync";
/** Runs the commands in the comments with a stand-in for `aws`, which keeps its arguments. */
const callsOfAws = (out: string): readonly (readonly string[])[] => {
  const commands = out.split("\n").flatMap((line) => /^# {3}(.+)/.exec(line)?.[1] ?? []);
  const standIn = `aws() { printf '%s\\0' "$@" >&3; printf '\\n' >&3; echo ${SYNC_ROLE}; }`;
  const { output } = spawnSync("bash", ["-euc", [standIn, ...commands].join("\n")], {
    encoding: "utf8",
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  return (output[3] ?? "")
    .trimEnd()
    .split("\n")
    .map((call) => call.split("\0"));
};
const named = (documents: readonly Shown[]): readonly string[] =>
  documents.map(({ kind, metadata: { name, namespace } }) =>
    [kind, namespace, name].filter((part) => part !== undefined).join(" "),
  );

describe("tidemark cluster rbac", () => {
  it("prints infra/cluster-rbac.yaml, and opens no data folder for it", async () => {
    expect(await printed()).toBe(DEFAULTS);
    expect(await printed("--data", "/nowhere")).toBe(DEFAULTS);
  });

  it("adds with --status a role that writes the status of autoscalers and Events, and can do nothing else", async () => {
    const added = documentsIn(await printed("--status")).filter(
      ({ metadata }) => metadata.name === "tidemark-status",
    );
    expect(added.map(({ kind }) => kind)).toEqual(["ClusterRole", "ClusterRoleBinding"]);
    expect(added[0]?.rules).toEqual([
      { apiGroups: ["tidemark.dev"], resources: ["podautoscalers/status"], verbs: ["patch"] },
      {
        apiGroups: ["datadoghq.com"],
        resources: ["watermarkpodautoscalers/status"],
        verbs: ["patch"],
      },
      { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
    ]);
  });

  it("prints roles of single namespaces, and says what does not work with them", async () => {
    const out = await printed("--namespaces", "shop,cart,shop");
    expect(named(documentsIn(out))).toEqual(
      ["shop", "cart"].flatMap((namespace) =>
        ["Role", "RoleBinding"].flatMap((kind) =>
          ["observe", "scale"].map((name) => `${kind} ${namespace} tidemark-${name}`),
        ),
      ),
    );
    expect(out).toContain(
      "# What does not work then: a partition for all other namespaces, because it lists the whole cluster",
    );
    const rulesOf = (documents: readonly Shown[]) =>
      documents.slice(0, 2).map(({ rules }) => rules);
    const [observe = [], scale = []] = rulesOf(documentsIn(DEFAULTS));
    // A role of one namespace cannot give the identity of the cluster.
    expect(rulesOf(documentsIn(out))).toEqual([
      observe.filter(({ resourceNames }) => resourceNames === undefined),
      scale,
    ]);
  });

  it("leaves out the right to scale with --read-only: every verb that is left reads", async () => {
    const documents = documentsIn(await printed("--read-only"));
    expect(named(documents)).toEqual([
      "ClusterRole tidemark-observe",
      "ClusterRoleBinding tidemark-observe",
    ]);
    expect(
      new Set(documents.flatMap(({ rules = [] }) => rules.flatMap(({ verbs }) => verbs))),
    ).toEqual(new Set(["get", "list", "watch"]));
  });

  it("adds the scale of custom resources, and no other right on them", async () => {
    const documents = documentsIn(
      await printed("--kind", "argoproj.io/rollouts", "--kind", "example.com/workers"),
    );
    const added = documents.map(({ rules = [] }) =>
      rules.filter(({ apiGroups: [group = ""] }) => ["argoproj.io", "example.com"].includes(group)),
    );
    const rule = (group: string, resource: string, verb: string) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: [verb],
    });
    expect(added.slice(0, 2)).toEqual(
      ["get", "update"].map((verb) => [
        rule("argoproj.io", "rollouts/scale", verb),
        rule("example.com", "workers/scale", verb),
      ]),
    );
  });

  it("prints the access entry of an EKS cluster as comments, so that kubectl reads the same roles", async () => {
    const out = await printed("--eks", "prod", "--region", "eu-west-1");
    expect(documentsIn(out)).toEqual(documentsIn(DEFAULTS));
    expect(out.slice(DEFAULTS.length)).toBe(
      [
        "# Then give the role of Tidemark this group in the EKS cluster, with the AWS command line:",
        "# The role belongs to the function that syncs, and is an output of the stack. Put the name of yours in the place of tidemark-prod.",
        `#   SYNC_ROLE_ARN=$(aws cloudformation describe-stacks --stack-name tidemark-prod --query "Stacks[0].Outputs[?OutputKey=='SyncRoleArn'].OutputValue" --output text)`,
        '#   aws eks create-access-entry --cluster-name prod --region eu-west-1 --principal-arn "$SYNC_ROLE_ARN" --kubernetes-groups tidemark',
        "",
      ].join("\n"),
    );
  });

  it("names the stack that the command was given", async () => {
    const out = await printed(
      "--eks",
      "prod",
      "--region",
      "eu-west-1",
      "--stack",
      "tidemark",
      "--stage",
      "test",
    );
    expect(out).toContain("--stack-name tidemark-test --query");
    expect(out).not.toContain("tidemark-prod");
  });

  it("names the role that is assumed for a cluster of another account", async () => {
    const role = "arn:aws:iam::123456789012:role/tidemark-prod-cluster-eu-1";
    const out = await printed("--eks", "prod", "--region", "eu-west-1", "--role-arn", role);
    expect(out).toContain(`--principal-arn "${role}"`);
  });

  it("prints commands that make the role of another account: it trusts the function that syncs and may describe the cluster", async () => {
    const role = "arn:aws:iam::123456789012:role/tidemark-prod-cluster-eu-1";
    const out = await printed("--eks", "prod", "--region", "eu-west-1", "--role-arn", role);
    expect(documentsIn(out)).toEqual(documentsIn(DEFAULTS));
    const called = callsOfAws(out);
    expect(called.map(([service, verb]) => `${service} ${verb}`)).toEqual([
      "cloudformation describe-stacks",
      "iam create-role",
      "iam put-role-policy",
      "eks create-access-entry",
    ]);
    const optionOf = (verb: string, option: string): string => {
      const call = called.find(([, name]) => name === verb) ?? [];
      return call[call.indexOf(option) + 1] ?? "";
    };
    expect(optionOf("create-role", "--role-name")).toBe("tidemark-prod-cluster-eu-1");
    expect(JSON.parse(optionOf("create-role", "--assume-role-policy-document"))).toEqual({
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Principal: { AWS: SYNC_ROLE }, Action: "sts:AssumeRole" }],
    });
    expect(JSON.parse(optionOf("put-role-policy", "--policy-document"))).toEqual({
      Version: "2012-10-17",
      Statement: [
        {
          Effect: "Allow",
          Action: "eks:DescribeCluster",
          Resource: "arn:aws:eks:eu-west-1:123456789012:cluster/prod",
        },
      ],
    });
  });

  it("prints no command for a role that the function may not assume, and says which names it may", async () => {
    const out = await printed(
      "--eks",
      "prod",
      "--region",
      "eu-west-1",
      "--role-arn",
      "arn:aws:iam::123456789012:role/reader",
    );
    expect(out).toContain(
      '# The function that syncs assumes only roles named tidemark-prod-cluster-*: "reader" is none of them. Put the name of yours in the place of tidemark-prod.',
    );
    expect(out).not.toContain("iam create-role");
  });

  it.each([
    [
      ["--namespaces", "shop,Cart"],
      'Cannot read --namespaces "shop,Cart": "Cart" is no name of a namespace; give NAMESPACE,NAMESPACE',
    ],
    [
      ["--namespaces", ""],
      'Cannot read --namespaces "": "" is no name of a namespace; give NAMESPACE,NAMESPACE',
    ],
    [
      ["--kind", "Rollout"],
      'Cannot read --kind "Rollout": give the API group and the plural of a custom resource, such as argoproj.io/rollouts',
    ],
    [["--eks", "prod"], "Cannot print an access entry: --eks needs --region"],
    [
      ["--region", "eu-west-1"],
      "Cannot print an access entry: --region and --role-arn need --eks, the name of the EKS cluster",
    ],
    [
      ["--eks", "prod;reboot", "--region", "eu-west-1"],
      'Cannot print an access entry for "prod;reboot": the name of an EKS cluster has letters, digits, - and _, at most 100',
    ],
  ])("refuses %j, with what to give", async (args, message) => {
    expect(await inside(["cluster", "rbac", ...args])).toEqual({
      code: 1,
      out: "",
      err: `error: ${message}\n`,
    });
  });
});

describe("tidemark cluster rbac NAME", () => {
  let folder: Folder;
  beforeAll(async () => {
    folder = await shopInMemory();
  });
  afterAll(() => folder.remove());

  it("prints the access entry of a cluster that was added by EKS, and none of another", async () => {
    const run = (...args: readonly string[]) => inside([...args, "--data", folder.data]);
    expect(await run("cluster", "rbac", "eu-1")).toEqual({ code: 0, out: DEFAULTS, err: "" });
    await run("cluster", "add", "eks-1", "--eks", "prod", "--region", "eu-west-1", "--force");
    expect((await run("cluster", "rbac", "eks-1")).out).toContain(
      "--cluster-name prod --region eu-west-1",
    );
    expect(await run("cluster", "rbac", "eu-9")).toMatchObject({
      code: 1,
      err: 'error: Cannot find cluster "eu-9": the nearest name is "eu-1"\n',
    });
  });
});

describe("tidemark cluster rbac -o", () => {
  const EKS = ["--eks", "prod", "--region", "eu-west-1"];
  const rulesOf = (documents: readonly Shown[]) =>
    documents.flatMap(({ kind, rules, metadata }) => (rules ? [{ kind, metadata, rules }] : []));
  let place: string;
  let count = 0;
  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), "tidemark-rbac-"));
  });
  afterAll(() => rmSync(place, { recursive: true }));
  const made = async (form: string, ...args: readonly string[]): Promise<string> => {
    const to = join(place, `${form}-${++count}`);
    const files = await printed("-o", form, "--to", to, ...args);
    expect(
      files
        .trimEnd()
        .split("\n")
        .every((file) => file.startsWith(to)),
    ).toBe(true);
    return to;
  };
  const read = (folder: string, file: string): string => readFileSync(join(folder, file), "utf8");

  it("kustomize writes the same roles, and a kustomization that names them", async () => {
    const to = await made("kustomize", "--status");
    expect(parse(read(to, "kustomization.yaml"))).toMatchObject({ resources: ["rbac.yaml"] });
    expect(read(to, "rbac.yaml")).toBe(await printed("--status"));
  });

  it("helm writes a chart whose templates are the same roles, for a group of its values", async () => {
    const to = await made("helm", "--namespaces", "shop");
    expect(parse(read(to, "Chart.yaml"))).toMatchObject({
      apiVersion: "v2",
      name: "tidemark-rbac",
    });
    const values = parse(read(to, "values.yaml"));
    expect(values).toEqual({ group: "tidemark" });
    const template = read(to, "templates/rbac.yaml");
    expect(template.match(/\{\{.*?\}\}/g)).toEqual(Array(2).fill("{{ .Values.group | quote }}"));
    const rendered = template.replaceAll(
      "{{ .Values.group | quote }}",
      JSON.stringify(values.group),
    );
    expect(documentsIn(rendered)).toEqual(documentsIn(await printed("--namespaces", "shop")));
  });

  it.skipIf(spawnSync("terraform", ["version"]).status !== 0)(
    "terraform writes a module in the form of terraform fmt",
    async () => {
      for (const args of [[], EKS, ["--namespaces", "shop,cart", "--doctor"]]) {
        const to = await made("terraform", ...args);
        const { status, stdout } = spawnSync("terraform", ["fmt", "-check", "-diff", to], {
          encoding: "utf8",
        });
        expect([status, stdout]).toEqual([0, ""]);
      }
    },
  );

  it.each([[[]], [["--namespaces", "shop,cart", "--read-only", "--kind", "argoproj.io/rollouts"]]])(
    "terraform writes the same rules: %s",
    async (args) => {
      const text = read(await made("terraform", ...args), "main.tf");
      const roles = [
        ...text.matchAll(/^resource "kubernetes_(?:cluster_)?role_v1" "(\w+)" \{\n(.*?)^\}/gms),
      ];
      const found = roles.map(([, label = "", body = ""]) => ({
        name: label.replaceAll("_", "-"),
        rules: [...body.matchAll(/ {2}rule \{\n(.*?)\n {2}\}/gs)].map(([, rule = ""]) => {
          const values = Object.fromEntries(
            [...rule.matchAll(/^ *(\w+) += (\[.*\])$/gm)].map(([, key = "", list = ""]) => [
              key,
              JSON.parse(list),
            ]),
          );
          const { api_groups: apiGroups, resource_names: resourceNames, resources, verbs } = values;
          return { apiGroups, resources, ...(resourceNames && { resourceNames }), verbs };
        }),
      }));
      const wanted = rulesOf(documentsIn(await printed(...args)));
      const once = wanted.filter(({ metadata: { namespace } }) => namespace !== "cart");
      expect(found).toEqual(once.map(({ metadata, rules }) => ({ name: metadata.name, rules })));
    },
  );

  it("terraform gives the role of the sync, or the role that is assumed, the group by an access entry", async () => {
    const own = read(await made("terraform", ...EKS), "main.tf");
    expect(own).toContain(
      'resource "aws_eks_access_entry" "tidemark" {\n  cluster_name      = "prod"\n  principal_arn     = var.sync_role_arn\n  kubernetes_groups = ["tidemark"]\n}\n',
    );
    const role = "arn:aws:iam::123456789012:role/tidemark-prod-cluster-eu-1";
    const assumed = read(await made("terraform", ...EKS, "--role-arn", role), "main.tf");
    expect(assumed).toContain(`principal_arn     = "${role}"`);
    expect(assumed).not.toContain("variable");
  });

  it("overwrites no file", async () => {
    const to = await made("kustomize");
    const { code, err } = await inside(["cluster", "rbac", "-o", "kustomize", "--to", to]);
    expect([code, err]).toEqual([
      1,
      `error: Cannot write "${join(to, "kustomization.yaml")}": it exists already; give another folder, or move the file away\n`,
    ]);
  });

  it.each([
    [["-o", "helm"], "Cannot write the files of helm: give their folder with --to"],
    [
      ["--to", "x"],
      "Cannot write YAML into a folder: leave --to out, and give the output to kubectl",
    ],
    [
      ["--aws-auth"],
      "Cannot print a mapping for the ConfigMap aws-auth: name an EKS cluster with --eks and --region, or one that was added by EKS",
    ],
    [
      ["--aws-auth", "-o", "helm", "--to", "x", ...EKS],
      "Cannot write a mapping for the ConfigMap aws-auth with -o helm: leave -o out, and the commands are printed",
    ],
  ])("is refused as %s", async (args, words) => {
    const { code, err } = await inside(["cluster", "rbac", ...args]);
    expect([code, err]).toEqual([1, `error: ${words}\n`]);
  });

  it("maps a role in the ConfigMap aws-auth by its ARN without a path, and never replaces the ConfigMap", async () => {
    const role = "arn:aws:iam::123456789012:role/team/path/tidemark";
    const out = await printed(...EKS, "--aws-auth", "--role-arn", role);
    const bare = "arn:aws:iam::123456789012:role/tidemark";
    expect(out).toContain(
      `eksctl create iamidentitymapping --cluster prod --region eu-west-1 --arn "${bare}" --username tidemark --group tidemark`,
    );
    expect(out).toContain(
      `#   - rolearn: ${bare}\n#     username: tidemark\n#     groups: [tidemark]\n`,
    );
    expect(out).not.toContain("create-access-entry");
    expect(documentsIn(out)).toEqual(documentsIn(await printed()));
  });
});

describe("tidemark cluster rbac --service-account", () => {
  it("prints the service account, and binds the same roles to it in place of the group", async () => {
    const found = documentsIn(await printed("--service-account", "tidemark/bot"));
    const [account, ...others] = found;
    expect(account).toMatchObject({
      kind: "ServiceAccount",
      metadata: { name: "bot", namespace: "tidemark" },
    });
    const rolesOf = (documents: readonly Shown[]) => documents.filter(({ rules }) => rules);
    expect(rolesOf(others)).toEqual(rolesOf(documentsIn(await printed())));
    const subjects = others.flatMap((document) =>
      "subjects" in document ? [document.subjects] : [],
    );
    const subject = { kind: "ServiceAccount", name: "bot", namespace: "tidemark" };
    expect(subjects).toEqual([[subject], [subject]]);
  });

  it.each(["bot", "a/b/c", "A/b", "/b"])("refuses %s", async (text) => {
    const { code, err } = await inside(["cluster", "rbac", "--service-account", text]);
    expect([code, err]).toEqual([
      1,
      `error: Cannot read --service-account "${text}": the service account must be NAMESPACE/NAME, such as tidemark/tidemark\n`,
    ]);
  });
});
