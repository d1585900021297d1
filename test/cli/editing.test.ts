import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BEHAVIOR, documents, hpa } from "../service/world/manifests.ts";
import { type Folder, type Said, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> =>
  inside([...args, "--data", folder.data], { by: "grace" });
const names = async (): Promise<string> => {
  const { out } = await run("get", "-n", "lab", "-o", "json");
  return JSON.parse(out)
    .items.map(
      ({
        metadata,
      }: {
        readonly metadata: { readonly name: string; readonly generation: number };
      }) => `${metadata.name}@${metadata.generation}`,
    )
    .join(" ");
};
const said = (code: number, out: string, err = ""): Said => ({ code, out, err });

beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());
afterEach(async () => {
  for (const name of (await names()).split(" ").filter(Boolean))
    await run("delete", `eu-1/lab/${name.split("@")[0]}`);
});

describe("tidemark apply", () => {
  it("creates, updates and leaves unchanged, a line for each", async () => {
    const file = folder.write("one.yaml", hpa("web", { namespace: "lab" }));
    const line = (outcome: string): string =>
      `HorizontalPodAutoscaler "web" in namespace "lab" of cluster "eu-1" ${outcome}\n`;
    expect(await run("apply", "-f", file, "--cluster", "eu-1")).toEqual(said(0, line("created")));
    expect(await run("apply", "-f", file, "--cluster", "eu-1")).toEqual(said(0, line("unchanged")));
    const other = folder.write("two.yaml", hpa("web", { namespace: "lab", max: 12 }));
    expect(await run("apply", "-f", other, "--cluster", "eu-1")).toEqual(
      said(0, line("configured")),
    );
    expect(await names()).toBe("web@2");
    expect((await run("describe", "lab/web")).out).toContain("by grace");
  });

  it("takes several files, documents, Lists and standard input", async () => {
    const two = folder.write("two.yaml", documents(hpa("a"), hpa("b", { more: BEHAVIOR })));
    const item = {
      apiVersion: "autoscaling/v1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "d" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        maxReplicas: 3,
      },
    };
    const list = folder.write(
      "list.json",
      JSON.stringify({ apiVersion: "v1", kind: "List", items: [item] }),
    );
    const args = [
      "apply",
      "-f",
      two,
      "-f",
      "-",
      "--filename",
      list,
      "-n",
      "lab",
      "--cluster",
      "eu-1",
      "--data",
      folder.data,
    ];
    const { code, out } = await inside(args, { stdin: hpa("c") });
    expect([code, out.match(/"(\w)" in namespace "lab" of cluster "eu-1" created/g)]).toHaveLength(
      2,
    );
    expect(await names()).toBe("a@1 b@1 c@1 d@1");
  });

  it("stores nothing in a dry run", async () => {
    const file = folder.write("one.yaml", hpa("web", { namespace: "lab" }));
    expect(await run("apply", "-f", file, "--cluster", "eu-1", "--dry-run")).toEqual(
      said(
        0,
        'HorizontalPodAutoscaler "web" in namespace "lab" of cluster "eu-1" created (dry run)\n',
      ),
    );
    expect(await names()).toBe("");
  });

  it("refuses a field that is not known, with its path, its line and the nearest name", async () => {
    const file = folder.write(
      "odd.yaml",
      hpa("web", { namespace: "lab" }).replace("minReplicas: 2", "minReplica: 2"),
    );
    for (const mode of [[], ["--validate"], ["--validate=true"], ["--validate", "strict"]])
      expect(await run("apply", "-f", file, "--cluster", "eu-1", ...mode)).toEqual(
        said(
          1,
          "",
          `error: Cannot accept "${file}", line 11: spec.minReplica: unknown field; write "minReplicas" if that is meant\n`,
        ),
      );
    expect(await names()).toBe("");
    expect(await run("apply", "-f", file, "--validate=maybe")).toEqual(
      said(
        1,
        "",
        'error: Option "--validate [mode]" argument "maybe" is invalid. Wanted one of strict, true, warn, ignore, false\n',
      ),
    );
  });

  it("says nothing of such a field, or of a repeated one, where it is asked to ignore them", async () => {
    const file = folder.write(
      "odd.yaml",
      hpa("web", { namespace: "lab" }).replace(
        "minReplicas: 2",
        "minReplicas: 2\n  minReplicas: 3\n  replicas: 3",
      ),
    );
    const line = 'HorizontalPodAutoscaler "web" in namespace "lab" of cluster "eu-1" created\n';
    expect((await run("apply", "-f", file, "--cluster", "eu-1")).err).toBe(
      `error: Cannot read "${file}", line 12, column 3: the key "minReplicas" is written twice\n`,
    );
    expect(
      await run("apply", "-f", file, "--cluster", "eu-1", "--validate=false", "--dry-run"),
    ).toEqual(said(0, line.replace("\n", " (dry run)\n")));
    const { code, err } = await run("apply", "-f", file, "--cluster", "eu-1", "--validate=warn");
    expect([code, err]).toEqual([
      0,
      `warning: "${file}", line 12: the key "minReplicas" is written twice, and the last one counts\nwarning: "${file}", line 13: unknown field "spec.replicas" is ignored; remove it\n`,
    ]);
    expect((await run("get", "eu-1/lab/web", "-o", "json")).out).toContain('"minReplicas": 3');
  });

  it("warns about fields that are not known where it is asked to, and goes on", async () => {
    const file = folder.write(
      "odd.yaml",
      hpa("web", { namespace: "lab" }).replace("minReplicas: 2", "minReplicas: 2\n  replicas: 3"),
    );
    const { code, out, err } = await run(
      "apply",
      "-f",
      file,
      "--cluster",
      "eu-1",
      "--validate",
      "warn",
    );
    expect([code, out]).toEqual([
      0,
      'HorizontalPodAutoscaler "web" in namespace "lab" of cluster "eu-1" created\n',
    ]);
    expect(err).toBe(
      `warning: "${file}", line 12: unknown field "spec.replicas" is ignored; remove it\n`,
    );
  });

  it("changes nothing when one document of many is wrong: a line for each problem, with the path of its field", async () => {
    const file = folder.write(
      "bad.yaml",
      documents(
        hpa("good", { namespace: "lab" }),
        hpa("bad", { namespace: "lab", max: 1 }).replace("60", '"sixty"'),
      ),
    );
    const { code, out, err } = await run("apply", "-f", file, "--cluster", "eu-1");
    expect([code, out]).toEqual([1, ""]);
    const lines = err.trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /^error: Cannot accept ".*bad\.yaml, document 2", line 39: spec\.metrics\[0\]\.resource\.target\.averageUtilization must be a whole number.*, not "sixty"; /,
    );
    expect(lines[1]).toMatch(
      /^error: Cannot accept ".*bad\.yaml, document 2", line 32: spec\.maxReplicas /,
    );
    expect(await names()).toBe("");
  });

  it.each([
    ["broken YAML", "a: [1\nb: 2\n", /^error: Cannot read ".*x\.yaml", line 2, column \d+: /],
    ["broken JSON", '{"a": 1,, }', /^error: Cannot read ".*x\.yaml", line 1, column \d+: /],
    ["an empty file", "# nothing\n", /^error: Cannot read ".*x\.yaml": it contains no manifest$/],
    [
      "a mistyped kind",
      "kind: PodAutoscalr\napiVersion: tidemark.dev/v1\nmetadata: {name: web}\n",
      /^error: Cannot accept ".*x\.yaml", line 1: kind /,
    ],
  ])("refuses %s in one line", async (_what, text, message) => {
    const { code, out, err } = await run(
      "apply",
      "-f",
      folder.write("x.yaml", text),
      "--cluster",
      "eu-1",
    );
    expect([code, out]).toEqual([1, ""]);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
    expect(err.trimEnd()).toMatch(message);
  });

  it("names a file that is not there, and standard input given twice", async () => {
    expect(await run("apply", "-f", "/no/such.yaml")).toEqual(
      said(1, "", 'error: Cannot read "/no/such.yaml": there is no such file\n'),
    );
    expect(await run("apply", "-f", "-", "-f", "-")).toEqual(
      said(1, "", "error: Cannot read standard input twice: give -f - only once\n"),
    );
  });

  it("asks which cluster when there are several", async () => {
    const file = folder.write("one.yaml", hpa("web", { namespace: "lab" }));
    expect(await run("apply", "-f", file)).toEqual(
      said(
        1,
        "",
        'error: Cannot apply: there are 2 clusters, "eu-1" is the first; choose one with --cluster\n',
      ),
    );
    expect(await run("apply", "-f", file, "--cluster", "eu-2")).toEqual(
      said(1, "", 'error: Cannot find cluster "eu-2": the nearest name is "eu-1"\n'),
    );
  });
});

describe("tidemark delete, pause and resume", () => {
  const web = '"web" in namespace "lab" of cluster "eu-1"';
  const apply = async (): Promise<Said> =>
    run(
      "apply",
      "-f",
      folder.write("one.yaml", hpa("web", { namespace: "lab" })),
      "--cluster",
      "eu-1",
    );

  it("say in a line what they did", async () => {
    await apply();
    expect(await run("pause", "lab/web", "--until", "2h")).toEqual(
      said(0, `${web} paused until 2026-03-01T14:00:00Z\n`),
    );
    expect(await run("pause", "lab/web", "--until", "2026-03-01T14:00:00Z")).toEqual(
      said(0, `${web} was paused until 2026-03-01T14:00:00Z already\n`),
    );
    expect((await run("describe", "lab/web")).out).toContain(
      "Paused:               since 2026-03-01T12:00:00Z by grace, until 2026-03-01T14:00:00Z\n",
    );
    expect(await run("resume", "lab/web")).toEqual(said(0, `${web} resumed\n`));
    expect(await run("resume", "lab/web")).toEqual(said(0, `${web} was not paused\n`));
    expect(await run("pause", "web", "-n", "lab")).toEqual(said(0, `${web} paused\n`));
    expect(await run("delete", "lab/web")).toEqual(said(0, `${web} deleted\n`));
    expect(await names()).toBe("");
  });

  it("suggest the nearest name and change nothing", async () => {
    await apply();
    const before = await names();
    for (const verb of ["delete", "pause", "resume", "describe", "get", "explain", "events"]) {
      expect(await run(verb, "wbe", "-n", "lab")).toEqual(
        said(
          1,
          "",
          'error: Cannot find autoscaler "wbe" in namespace "lab": the nearest name is "web"\n',
        ),
      );
    }
    expect(await names()).toBe(before);
  });

  it("refuse an end that has passed or cannot be read", async () => {
    await apply();
    const told = async (): Promise<string> => (await names()) + (await run("changes", "--all")).out;
    const before = await told();
    expect((await run("pause", "lab/web", "--until", "2026-03-01T11:00:00Z")).err).toBe(
      'error: Cannot use --until "2026-03-01T11:00:00Z": that time has passed; it is now 2026-03-01T12:00:00Z\n',
    );
    for (const end of ["soon", "2026-03-30T25:00:00Z", "2027-02-30T00:00:00Z", "99999999999d"]) {
      const { code, err } = await run("pause", "lab/web", "--until", end);
      expect([code, err.split(":")[0]]).toEqual([1, "error"]);
      expect((await run("cluster", "pause", "eu-1", "--until", end)).code).toBe(1);
    }
    expect(await told()).toBe(before);
  });
});

describe("tidemark cluster and fleet", () => {
  it("add, pause, resume and remove a cluster", async () => {
    const options = [
      "--eks",
      "prod",
      "--endpoint",
      "https://eks.example",
      "--ca-data",
      "QQ==",
      "--region",
      "eu-west-1",
      "--period",
      "30s",
    ];
    const parts = [
      "--partition",
      "shop=shop,cart",
      "--partition",
      "rest",
      "--tolerance",
      "0.05",
      "--downscale-stabilization",
      "10m",
      "--hpa-version",
      "1.38",
    ];
    expect(await run("cluster", "add", "eks-1", ...options, ...parts, "--force")).toEqual(
      said(0, 'Cluster "eks-1" added\n'),
    );
    expect(JSON.parse((await run("cluster", "describe", "eks-1", "-o", "json")).out)).toEqual({
      name: "eks-1",
      connection: {
        kind: "eks",
        clusterId: "prod",
        endpoint: "https://eks.example",
        caData: "QQ==",
        region: "eu-west-1",
      },
      syncPeriodSeconds: 30,
      partitions: [
        { name: "shop", namespaces: ["shop", "cart"], state: "never synced" },
        { name: "rest", namespaces: "all others", state: "never synced" },
      ],
      settings: {
        tolerance: 0.05,
        downscaleStabilizationSeconds: 600,
        cpuInitializationPeriodSeconds: 300,
        initialReadinessDelaySeconds: 30,
        hpaVersion: "1.38",
      },
      state: "never synced",
      version: 1,
    });
    expect(await run("cluster", "add", "eks-1", ...options)).toEqual(
      said(
        1,
        "",
        'error: Cannot add cluster "eks-1": a cluster of that name exists; change it with --replace\n',
      ),
    );
    expect(
      await run("cluster", "add", "eks-1", "--replace", "--secret", "prod/eks-1", "--force"),
    ).toEqual(said(0, 'Cluster "eks-1" replaced\n'));
    expect(JSON.parse((await run("cluster", "describe", "eks-1", "-o", "json")).out)).toMatchObject(
      {
        connection: { kind: "secret", secretId: "prod/eks-1" },
        syncPeriodSeconds: 30,
        partitions: [{ name: "shop" }, { name: "rest" }],
        settings: { tolerance: 0.05 },
        version: 2,
      },
    );
    const whole = ["--replace", "--partition", "rest"];
    expect(await run("cluster", "add", "eks-1", ...whole)).toEqual(
      said(0, 'Cluster "eks-1" replaced\n'),
    );
    expect(await run("cluster", "add", "eks-1", ...whole, "--partition", "shop=shop")).toEqual(
      said(0, 'Cluster "eks-1" replaced\n'),
    );
    expect((await run("cluster", "add", "eks-1", ...whole, "--partition", "more")).err).toBe(
      'error: Cannot replace cluster "eks-1": only one partition may hold all other namespaces\n',
    );
    expect(
      (await run("cluster", "add", "eks-1", ...whole, "--downscale-stabilization", "2h")).err,
    ).toBe(
      'error: Cannot replace cluster "eks-1": its downscale stabilization must be at most 1 h\n',
    );
    expect((await run("cluster", "add", "eks-2", "--replace", "--secret", "prod/eks-2")).err).toBe(
      'error: Cannot find cluster "eks-2": the nearest name is "eks-1"\n',
    );
    expect(JSON.parse((await run("cluster", "describe", "eks-1", "-o", "json")).out)).toMatchObject(
      {
        connection: { kind: "secret", secretId: "prod/eks-1" },
      },
    );
    expect((await run("cluster", "add", "eks-1", "--replace", "--context", "prod")).err).toBe(
      'error: Cannot connect to cluster "eks-1": give one of --kubeconfig, --secret and --eks\n',
    );
    expect(await run("cluster", "pause", "eks-1", "--until", "1h")).toEqual(
      said(0, 'Cluster "eks-1" paused until 2026-03-01T13:00:00Z\n'),
    );
    expect((await run("cluster", "list")).out).toMatch(
      /^eks-1 +secret +30s +2 +2026-03-01T13:00:00Z +never synced +- +never$/m,
    );
    expect(await run("cluster", "resume", "eks-1")).toEqual(said(0, 'Cluster "eks-1" resumed\n'));
    expect(await run("cluster", "remove", "eks-1")).toEqual(said(0, 'Cluster "eks-1" removed\n'));
    expect(await run("cluster", "remove", "eu-1")).toEqual(
      said(
        1,
        "",
        'error: Cannot remove cluster "eu-1": it still has autoscalers, such as "infra/web"; delete them first\n',
      ),
    );
  });

  it.each([
    [[], 'Cannot connect to cluster "x": give one of --kubeconfig, --secret and --eks'],
    [
      ["--kubeconfig", "/a", "--secret", "b"],
      'Cannot connect to cluster "x": give one of --kubeconfig, --secret and --eks',
    ],
    [["--eks", "prod"], 'Cannot connect to cluster "x": --eks needs --region'],
    [
      ["--secret", ""],
      'Cannot connect to cluster "x": --secret is empty; give a value or leave it out',
    ],
    [
      ["--kubeconfig", ""],
      'Cannot connect to cluster "x": --kubeconfig is empty; give a value or leave it out',
    ],
    [
      ["--eks", "prod", "--region", ""],
      'Cannot connect to cluster "x": --region is empty; give a value or leave it out',
    ],
    [
      ["--kubeconfig", "/no/such/file"],
      'Cannot connect to cluster "x": the kubeconfig "/no/such/file" does not exist',
    ],
    [["--kubeconfig", "/"], 'Cannot connect to cluster "x": the kubeconfig "/" is a folder'],
    [
      ["--secret", "s", "--partition", "a="],
      'Cannot read --partition "a=": give NAME=NAMESPACE,NAMESPACE, or NAME alone for all other namespaces',
    ],
    [
      ["--secret", "s", "--period", "often"],
      'Cannot read --period "often": give a duration of at least 1s, such as "15s" or "1m30s"',
    ],
    [
      ["--secret", "s", "--period", "1m30"],
      'Cannot read --period "1m30": give a duration of at least 1s, such as "15s" or "1m30s"',
    ],
    [
      ["--secret", "s", "--hpa-version", "1.39"],
      'Cannot read --hpa-version "1.39": give 1.37 or 1.38',
    ],
    [
      ["--secret", "s", "--tolerance", "wide"],
      'Cannot read --tolerance "wide": give a number of at least 0, such as 0.1',
    ],
  ])("refuse the options %j", async (options, message) => {
    expect(await run("cluster", "add", "x", ...options)).toEqual(
      said(1, "", `error: ${message}\n`),
    );
  });

  it.each([[""], ["  "]])("refuse to freeze the fleet for the reason %j", async (reason) => {
    expect(await run("fleet", "freeze", "--reason", reason)).toEqual(
      said(
        1,
        "",
        "error: Cannot freeze the fleet: --reason is empty; give the reason that describe and the log show\n",
      ),
    );
    expect(await run("fleet", "describe")).toEqual(said(0, "Fleet not frozen\n"));
  });

  it("freeze and thaw the fleet, and show it wherever an autoscaler is shown", async () => {
    expect(await run("fleet", "freeze", "--reason", "incident 12")).toEqual(
      said(0, "Fleet frozen; every workload keeps its count\n"),
    );
    expect(await run("fleet", "describe")).toEqual(
      said(0, "Fleet frozen since 2026-03-01T12:00:00Z by grace: incident 12\n"),
    );
    expect(
      await inside(["fleet", "freeze", "--reason", "drill", "--data", folder.data], { by: "ada" }),
    ).toEqual(
      said(
        0,
        "The fleet is already frozen since 2026-03-01T12:00:00Z by grace: incident 12\nNothing was changed; use --replace to replace this reason with yours\n",
      ),
    );
    expect(await run("fleet", "describe")).toEqual(
      said(0, "Fleet frozen since 2026-03-01T12:00:00Z by grace: incident 12\n"),
    );
    expect((await run("get", "api")).out).toMatch(/ frozen /);
    expect((await run("describe", "api")).out).toContain(
      "Fleet frozen:         since 2026-03-01T12:00:00Z by grace: incident 12\n",
    );
    expect(await run("fleet", "freeze", "--reason", "incident 13", "--replace")).toEqual(
      said(0, "Fleet frozen; every workload keeps its count\n"),
    );
    expect((await run("fleet", "describe")).out).toContain("by grace: incident 13");
    expect(await run("fleet", "thaw")).toEqual(said(0, "Fleet thawed\n"));
    expect(await run("fleet", "describe")).toEqual(said(0, "Fleet not frozen\n"));
  });
});
