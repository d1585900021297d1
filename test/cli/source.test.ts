import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { prometheusServer } from "../source-client/scene.ts";
import { type Folder, type Said, shopFolder, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> =>
  inside([...args, "--data", folder.data], { by: "grace" });
const FOR_ALL = ["--for-cluster", "*", "--for-namespace", "*"];
const put = (...args: readonly string[]): Promise<Said> =>
  run("source", "put", "main", ...args, ...FOR_ALL);
const REGISTERED = { code: 0, out: "Source main registered\n" };

beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());
afterEach(async () => {
  await run("source", "delete", "main");
});

describe("docs/sources.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/sources.md"), "utf8");
  const [, commands = "", output = ""] =
    /^```sh\n(.*?)^```\n\n```text\n(.*?)^```/ms.exec(page) ?? [];

  it("prints what it says", async () => {
    let printed = "";
    for (const command of commands.trim().split("\n")) {
      const args = command.replaceAll("'", "").split(" ").slice(2);
      const { code, out } = await run(...args);
      expect(code).toBe(0);
      printed += out;
    }
    expect(printed).toBe(output);
  });

  it.each(page.match(/^npx tidemark source put .*$/gm) ?? [])(
    "has a command that registers a source: %s",
    async (command) => {
      const [name = "", ...args] = command.replaceAll("'", "").split(" ").slice(4);
      expect(await run("source", "put", name, ...args)).toMatchObject({
        code: 0,
        out: `Source ${name} registered\n`,
      });
      await run("source", "delete", name);
    },
  );

  it("shows a document that apply takes", async () => {
    const [, document = ""] =
      /^```yaml\n(apiVersion: tidemark\.dev\/v1\nkind: MetricSource\n.*?)^```/ms.exec(page) ?? [];
    expect(await run("apply", "-f", folder.write("page.yaml", document))).toMatchObject({
      code: 0,
      out: 'MetricSource "main" created\n',
    });
  });
});

describe("tidemark source", () => {
  it("registers a source once, replaces it, and lists both edits with their fields", async () => {
    expect(await put("--url", "https://prometheus.example.com")).toMatchObject({
      ...REGISTERED,
      err: "",
    });
    expect(await put("--url", "https://prometheus.example.com")).toMatchObject({
      code: 0,
      out: "Source main is registered so already\n",
    });
    expect(
      await put(
        "--url",
        "https://prometheus.example.com",
        "--timeout-seconds",
        "5",
        "--parameter",
        "namespace=shop",
      ),
    ).toMatchObject(REGISTERED);
    const spec = {
      kind: "prometheus",
      url: "https://prometheus.example.com",
      parameters: { namespace: "shop" },
      clusters: ["*"],
      namespaces: ["*"],
      timeoutSeconds: 5,
      maxMetrics: 1_000,
      private: false,
    };
    const described = {
      apiVersion: "tidemark.dev/v1",
      kind: "MetricSource",
      metadata: { name: "main" },
      spec,
    };
    expect(JSON.parse((await run("source", "describe", "main", "-o", "json")).out)).toEqual(
      described,
    );
    const [listed] = JSON.parse((await run("source", "list", "-o", "json")).out);
    expect(listed).toEqual({
      name: "main",
      ...spec,
      updatedAt: expect.stringMatching(/Z$/),
      updatedBy: "grace",
    });
    const changes: readonly {
      readonly scope: string;
      readonly verb: string;
      readonly fields: readonly { readonly path: string }[];
    }[] = JSON.parse((await run("changes", "--all", "-o", "json")).out).items;
    const replaced = changes.filter(
      ({ scope, verb, fields }) => scope === "source" && verb === "register" && fields.length > 0,
    );
    expect(replaced.map(({ fields }) => fields.map(({ path }) => path))).toEqual([
      ["timeoutSeconds", "parameters"],
    ]);
    expect((await run("changes", "--all")).out).toMatch(/ grace: register source "main"$/m);
  });

  it("says that the clusters must allow a service", async () => {
    expect((await put("--service", "monitoring/prometheus:9090")).err).toContain(
      "tidemark cluster rbac --source main | kubectl apply -f -",
    );
  });

  it.each([
    [["--url", "https://p.example.com", "--service", "a/b:1"], /give either url or service/],
    [[], /give either url or service/],
    [["--url", "ftp://p.example.com"], /url must begin with https/],
    [
      ["--url", "https://user:pass@p.example.com"],
      /url has a user or a password; put them into a secret/,
    ],
    [["--url", "https://p.example.com?tenant=a"], /url has a query or a fragment; give parameters/],
    [["--service", "monitoring/prometheus"], /give NAMESPACE\/NAME:PORT/],
    [
      ["--service", "monitoring/prometheus:9090/../../secrets"],
      /service.path .* must be empty or \/segments/,
    ],
    [["--service", "monitoring/prometheus:9090/a?b"], /service.path/],
    [
      ["--service", "monitoring/prometheus:9090", "--auth", "bearer", "--secret", "t/source.main"],
      /auth of a service must be of kind header/,
    ],
    [
      ["--url", "https://p.example.com", "--auth", "bearer", "--secret", "t/eu-1"],
      /must be named FOLDER\/source\.main/,
    ],
    [["--url", "https://p.example.com", "--auth", "bearer"], /--auth and --secret need each other/],
    [
      ["--url", "https://p.example.com", "--header", "authorization=Bearer x"],
      /headers: "authorization" is not a header/,
    ],
    [["--url", "https://p.example.com", "--header", "Host=x"], /headers: "Host" is not/],
    [
      ["--service", "a/b:1", "--header", "impersonate-user=admin"],
      /headers: "impersonate-user" is not/,
    ],
    [["--url", "https://p.example.com", "--parameter", "query=up"], /parameters: "query" is not/],
    [
      [
        "--url",
        "https://p.example.com",
        "--parameter",
        "max_samples_processed_error_threshold=9000000",
      ],
      /parameters: "max_samples_processed_error_threshold" is not a parameter that is no part of the question/,
    ],
    [
      ["--url", "https://p.example.com", "--timeout-seconds", "11"],
      /timeoutSeconds must be a whole number from 1 to 10, and is 11/,
    ],
    [
      ["--url", "https://p.example.com", "--max-metrics", "many"],
      /maxMetrics must be a whole number from 1 to 10000, and is NaN/,
    ],
  ])("refuses %j with its field", async (args, words) => {
    const { code, err } = await put(...args);
    expect(code).not.toBe(0);
    expect(err).toMatch(words);
    expect((await run("source", "list")).out).toBe("No sources\n");
  });

  const ROLE = [
    "--aws-region",
    "eu-central-1",
    "--role",
    "arn:aws:iam::123456789012:role/tidemark-prod-source-orders",
    "--external-id",
    "7f3c",
  ];
  const SIGNED = ["--auth", "sigv4", "--auth-service", "execute-api"];
  it("registers an address whose requests the role signs", async () => {
    expect(await put("--url", "https://a.example.com/prod", ...SIGNED, ...ROLE)).toMatchObject(
      REGISTERED,
    );
    expect((await run("source", "list")).out).toMatch(
      /^main +prometheus +https:\/\/a\.example\.com\/prod +\* +\* +sigv4$/m,
    );
    const described = await run("source", "describe", "main", "-o", "yaml");
    expect(described.out).toContain("service: execute-api");
    expect((await run("apply", "-f", folder.write("signed.yaml", described.out))).out).toBe(
      'MetricSource "main" unchanged\n',
    );
  });

  it("registers queues and a workspace of AWS with the role that reaches them", async () => {
    expect(
      await put("--kind", "sqs", ...ROLE, "--queue", "orders-*", "--queue", "999988887777/mail"),
    ).toMatchObject(REGISTERED);
    expect((await run("source", "list")).out).toContain(
      "orders-*,999988887777/mail in eu-central-1 of account 123456789012",
    );
    expect(await put("--kind", "amp", ...ROLE, "--workspace", "ws-1a2b")).toMatchObject(REGISTERED);
    expect(
      await put(
        "--kind",
        "cloudwatch",
        ...ROLE,
        "--metric-namespace",
        "AWS/*",
        "--search",
        "--account",
        "999988887777",
      ),
    ).toMatchObject(REGISTERED);
    expect(JSON.parse((await run("source", "describe", "main", "-o", "json")).out)).toMatchObject({
      spec: { aws: { accounts: ["999988887777"] } },
    });
    expect((await run("source", "list")).out).toContain(
      "AWS/* in eu-central-1 of account 123456789012",
    );
  });

  it.each([
    [["--kind", "sqs"], "give aws with region, roleArn and externalId: sqs is a service of AWS"],
    [["--kind", "sqs", ...ROLE], "aws.queues is empty"],
    [
      ["--kind", "sqs", ...ROLE, "--queue", "https://sqs.example.com/1/a"],
      'aws.queues: "https://sqs.example.com/1/a" must be a name',
    ],
    [
      ["--kind", "sqs", ...ROLE, "--queue", "a", "--url", "https://a.example.com"],
      "url is not for sqs, whose requests are signed with its role",
    ],
    [
      ["--kind", "amp", ...ROLE, "--workspace", "../x"],
      "aws.workspace must be the id of a workspace",
    ],
    [
      ["--kind", "amp", ...ROLE.with(1, "nowhere"), "--workspace", "ws-1"],
      'aws.region "nowhere" is no region of AWS',
    ],
    [
      [
        "--kind",
        "amp",
        ...ROLE.with(3, "arn:aws:iam::123456789012:role/admin"),
        "--workspace",
        "ws-1",
      ],
      "aws.roleArn must be the ARN of a role",
    ],
    [
      ["--kind", "amp", ...ROLE, "--workspace", "ws-1", "--max-samples", "0"],
      "maxSamples must be a whole number from 1 to 50000000",
    ],
    [
      ["--kind", "sqs", ...ROLE, "--queue", "a", "--max-samples", "5"],
      "aws.maxSamples is for amp, and this is sqs",
    ],
    [["--kind", "cloudwatch", ...ROLE], "aws.metricNamespaces is empty"],
    [
      ["--kind", "cloudwatch", ...ROLE, "--metric-namespace", "AWS SQS"],
      'aws.metricNamespaces: "AWS SQS" must be a namespace',
    ],
    [
      ["--kind", "cloudwatch", ...ROLE, "--metric-namespace", "AWS/*", "--account", "9*"],
      'aws.accounts: "9*" must be the twelve digits of an account',
    ],
    [
      ["--kind", "sqs", ...ROLE, "--queue", "a", "--account", "999988887777"],
      "aws.accounts is for cloudwatch, and this is sqs",
    ],
    [
      ["--kind", "sqs", ...ROLE, "--queue", "a", "--search"],
      "aws.search is for cloudwatch, and this is sqs",
    ],
    [
      ["--url", "https://a.example.com", ...ROLE],
      "aws is for sqs, amp, cloudwatch and for auth of kind sigv4, and this is prometheus without it",
    ],
    [
      ["--url", "https://a.example.com", "--auth", "sigv4", ...ROLE],
      "--auth sigv4 and --auth-service need each other",
    ],
    [
      ["--url", "https://a.example.com", "--auth", "basic", "--auth-service", "lambda", ...ROLE],
      "--auth sigv4 and --auth-service need each other",
    ],
    [
      ["--url", "https://a.example.com", ...SIGNED, "--secret", "t/source.main", ...ROLE],
      "takes neither --secret nor --auth-header",
    ],
    [
      ["--url", "https://a.example.com", ...SIGNED],
      "auth of kind sigv4 needs aws with region, roleArn and externalId: the role signs",
    ],
    [["--service", "a/b:1", ...SIGNED, ...ROLE], "auth of kind sigv4 is for a url"],
    [
      ["--url", "https://a.example.com", ...SIGNED, ...ROLE, "--queue", "a"],
      "aws.queues is for sqs, and this is prometheus",
    ],
    [
      ["--kind", "sqs", ...SIGNED, ...ROLE, "--queue", "a"],
      "auth is not for sqs, whose requests are signed with its role",
    ],
    [["--kind", "sqs", "--role", "x"], "--aws-region, --role and --external-id need each other"],
  ])("refuses a place in AWS that is none: %j", async (args, words) => {
    expect((await put(...args)).err).toContain(words);
  });

  const DOCUMENT = `apiVersion: tidemark.dev/v1
kind: MetricSource
metadata: { name: main, labels: { app.kubernetes.io/managed-by: flux } }
spec:
  url: https://prometheus.example.com
  kind: prometheus
  clusters: ["*"]
  namespaces: [shop]
`;
  const WEB = `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: sourced, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: sourced }
  maxReplicas: 3
  metrics: [{ prometheus: { source: main, query: up }, target: 5 }]
`;

  it("is a document, too: applied before the autoscalers that name it, compared, printed as it is applied, and deleted", async () => {
    const file = folder.write("both.yaml", `${WEB}---\n${DOCUMENT}`);
    const place = ["-f", file, "--cluster", "eu-1"];
    const applied = 'PodAutoscaler "sourced" in namespace "shop" of cluster "eu-1"';
    expect(await run("apply", ...place, "--dry-run")).toMatchObject({
      code: 0,
      out: `MetricSource "main" created (dry run)\n${applied} created (dry run)\n`,
    });
    expect((await run("source", "list")).out).toBe("No sources\n");
    expect((await run("diff", ...place)).out).toContain("+++ applied/metricsource/main");
    expect(await run("apply", ...place)).toMatchObject({
      code: 0,
      out: `MetricSource "main" created\n${applied} created\n`,
      err: "",
    });
    expect(await run("apply", ...place)).toMatchObject({
      code: 0,
      out: `MetricSource "main" unchanged\n${applied} unchanged\n`,
    });
    expect(await run("diff", ...place)).toMatchObject({ code: 0, out: "" });
    const described = folder.write(
      "main.yaml",
      (await run("source", "describe", "main", "-o", "yaml")).out,
    );
    expect((await run("apply", "-f", described)).out).toBe('MetricSource "main" unchanged\n');
    const changed = folder.write("changed.yaml", DOCUMENT.replace("[shop]", "[shop, bank]"));
    const different = await run("diff", "-f", changed);
    expect([different.code, different.out]).toEqual([1, expect.stringMatching(/^\+ +- bank$/m)]);
    expect((await run("apply", "-f", changed)).out).toBe('MetricSource "main" configured\n');
    expect((await run("delete", "-f", file, "--cluster", "eu-1")).out).toMatch(
      /^MetricSource "main" deleted\n"sourced" .* deleted\n$/,
    );
    expect(await run("delete", "-f", changed, "--ignore-not-found")).toMatchObject({
      code: 0,
      out: "",
    });
  });

  it.each([
    [
      DOCUMENT.replace("url:", "uri:"),
      /main\.yaml": spec: .*uri|main\.yaml", line \d+: spec: .*uri/,
    ],
    [DOCUMENT.replace("kind: prometheus", "kind: graphite"), /line 6: spec\.kind: /],
    [
      DOCUMENT.replace("{ name: main,", "{ name: main, namespace: shop,"),
      /metadata\.namespace: a source belongs to the fleet/,
    ],
    [DOCUMENT.replace("https://", "ftp://"), /source "main": url must begin with https/],
    [`${DOCUMENT}---\n${DOCUMENT}`, /Cannot accept source "main": it is in the files twice/],
    [`${DOCUMENT.replace("[shop]", "[]")}---\n${WEB}`, /namespaces is empty/],
    [`${DOCUMENT}---\n${WEB.replace("maxReplicas: 3", "maxReplicas: 0")}`, /spec\.maxReplicas/],
    [`${DOCUMENT}---\n${WEB.replace("Deployment, name: sourced", "Deployment")}`, /scaleTargetRef/],
  ])("refuses a document with its place, and stores nothing: %#", async (text, words) => {
    const file = folder.write("main.yaml", text);
    const { code, err } = await run("apply", "-f", file, "--cluster", "eu-1");
    expect([code, err]).toEqual([1, expect.stringMatching(words)]);
    expect((await run("source", "list")).out).toBe("No sources\n");
  });

  it("names the source that is not there", async () => {
    for (const args of [
      ["source", "describe", "none"],
      ["source", "delete", "none"],
      ["cluster", "rbac", "--source", "none"],
    ])
      expect(await run(...args)).toMatchObject({
        code: 1,
        err: expect.stringContaining('Cannot find source "none": run tidemark source list'),
      });
  });

  it("says what AWS takes for each source in a month, where autoscalers of a partition pay once for what they share", async () => {
    expect((await run("cost", "--sources")).out).toBe("No sources\n");
    await put("--kind", "sqs", ...ROLE, "--queue", "orders");
    const manifest = (name: string) =>
      JSON.stringify({
        apiVersion: "tidemark.dev/v1",
        kind: "PodAutoscaler",
        metadata: { name, namespace: "shop" },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
          maxReplicas: 3,
          metrics: [{ sqs: { source: "main", queue: "orders" }, target: 5 }],
        },
      });
    const files = ["one", "two"].map((name) => folder.write(`${name}.json`, manifest(name)));
    const applied = await run(
      "apply",
      ...files.flatMap((file) => ["-f", file]),
      "--cluster",
      "eu-1",
    );
    expect(applied.err).toContain('AWS takes some $0.07 a month for "orders", asked every 15 s');
    expect(JSON.parse((await run("cost", "--sources", "-o", "json")).out)).toEqual({
      sources: [
        {
          source: "main",
          kind: "sqs",
          autoscalers: 2,
          metrics: 1,
          questionsAMonth: 175_200,
          dollars: expect.closeTo(0.07, 3),
        },
      ],
      dollars: expect.closeTo(0.07, 3),
    });
    expect((await run("cost", "--sources")).out).toMatch(
      /^SOURCE .*\nmain +sqs +2 +1 +175,200 +0\.07\nTogether \$0\.07 a month by list prices/,
    );
    expect((await run("cost", "--sources", "--clusters", "5")).code).not.toBe(0);
    await run("delete", "one", "two", "-n", "shop", "--cluster", "eu-1");
  });

  it("needs no role in a cluster for a source with a URL", async () => {
    await put("--url", "https://prometheus.example.com");
    expect((await run("cluster", "rbac", "--source", "main")).err).toContain(
      "it is reached outside of the clusters, so that none must allow it",
    );
  });
});

describe("tidemark source check", () => {
  let inMemory: Folder;
  // A folder asks from this machine.
  beforeAll(async () => {
    inMemory = folder;
    folder = await shopFolder();
  });
  afterAll(() => {
    folder.remove();
    folder = inMemory;
  });

  it("asks a source from this machine, prints a mark for each point, and ends with 1 where it does not answer", async () => {
    const server = await prometheusServer();
    await put("--url", server.url);
    expect(await run("source", "check", "main")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^✓ {3}answer {3}the value 1 in \d+ ms\n$/),
    });
    expect(
      JSON.parse((await run("source", "check", "main", "--cluster", "eu-1", "-o", "json")).out),
    ).toMatchObject({ name: "main", usable: true });
    await server.close();
    const { code, out, err } = await run("source", "check", "main");
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('Cannot ask source "main": answer failed'),
    ]);
    expect(out).toMatch(
      /✗ {3}answer .*nothing listens at its address.*\n.*to do: correct the port/,
    );
  });

  it("does not ask a source for a cluster that may not ask it, or where no cluster may", async () => {
    await run(
      "source",
      "put",
      "main",
      "--url",
      "https://p.example.com",
      "--for-cluster",
      "us-*",
      "--for-namespace",
      "*",
    );
    expect((await run("source", "check", "main", "--cluster", "eu-1")).err).toContain(
      'cluster "eu-1" may not ask it, only us-*',
    );
    await run(
      "source",
      "put",
      "main",
      "--url",
      "https://p.example.com",
      "--for-cluster",
      "none",
      "--for-namespace",
      "*",
    );
    expect((await run("source", "check", "main")).err).toContain(
      "no cluster may ask it: none is named none",
    );
    expect((await run("source", "check", "other")).err).toContain('Cannot find source "other"');
  });
});
