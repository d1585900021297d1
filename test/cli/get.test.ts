import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInRows, readSortField } from "../../lib/command/commands/get.ts";
import { readSelector } from "../../lib/answers/service/label-selector.ts";
import { documents, hpa } from "../service/world/manifests.ts";
import { type Folder, type Said, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> =>
  inside(["get", ...args, "--data", folder.data]);
const labelled = (name: string, labels: string): string =>
  hpa(name, { namespace: "lab" }).replace("metadata:", `metadata:\n  labels: ${labels}`);

beforeAll(async () => {
  folder = await shopInMemory();
  const stdin = documents(
    labelled("front", "{ app: web, tier: front }"),
    labelled("back", "{ app: web, tier: back }"),
    labelled("bare", "{}"),
  );
  expect(
    await inside(["apply", "-f", "-", "--cluster", "us-1", "--data", folder.data], { stdin }),
  ).toMatchObject({ code: 0 });
});
afterAll(() => folder.remove());

describe("tidemark get, as kubectl", () => {
  it("fits 120 columns with names of 20 characters, and -o wide has all columns", async () => {
    const long = labelled("checkout-worker-high", "{}").replace(
      "namespace: lab",
      "namespace: team-payments",
    );
    expect(
      await inside(["apply", "-f", "-", "--cluster", "us-1", "--data", folder.data], {
        stdin: long,
      }),
    ).toMatchObject({ code: 0 });
    const widths = (await run()).out.split("\n").map(({ length }) => length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(120);
    const [header] = (await run("-o", "wide")).out.split("\n");
    expect(header?.split(/ {3,}/)).toEqual(
      "CLUSTER NAMESPACE NAME REFERENCE TARGETS MIN MAX CURRENT DESIRED STATE REASON FINDINGS SYNCED MEASURED AGE".split(
        " ",
      ),
    );
    expect(await inside(["delete", "checkout-worker-high", "--data", folder.data])).toMatchObject({
      code: 0,
    });
  });

  it("prints with -o name what every command takes as a name", async () => {
    const { out } = await run("-n", "lab", "-o", "name");
    expect(out).toBe("us-1/lab/back\nus-1/lab/bare\nus-1/lab/front\n");
    expect((await run(...out.trim().split("\n"), "-o", "name")).out).toBe(out);
  });

  it.each([
    ["app=web", "back front"],
    ["app=web,tier!=back", "front"],
    ["tier in (front, back)", "back front"],
    ["!app", "bare"],
  ])(
    "lists with -l %s the autoscalers whose manifests have such labels",
    async (selector, names) => {
      const { out } = await run("-n", "lab", "-l", selector, "-o", "name");
      expect(out).toBe(
        names
          .split(" ")
          .map((name) => `us-1/lab/${name}\n`)
          .join(""),
      );
      const list = JSON.parse((await run("-n", "lab", "-l", selector, "-o", "json")).out);
      expect(list.items).toHaveLength(names.split(" ").length);
    },
  );

  it("sorts by a field of the document, numbers as numbers, and what has no such field last", async () => {
    const namesBy = async (field: string, ...more: readonly string[]): Promise<string> =>
      (await run("--sort-by", field, "-o", "name", ...more)).out;
    expect(await namesBy(".status.currentReplicas")).toMatch(
      /^eu-1\/shop\/api\neu-1\/shop\/web\neu-1\/infra\/web\n/,
    );
    expect(await namesBy("{.metadata.name}", "-n", "lab")).toBe(
      "us-1/lab/back\nus-1/lab/bare\nus-1/lab/front\n",
    );
    expect(
      (await run("shop/web", "shop/api", "--sort-by", "metadata.name", "-o", "name")).out,
    ).toBe("eu-1/shop/api\neu-1/shop/web\n");
    expect(
      JSON.parse((await run("-n", "shop", "--sort-by", "status.currentReplicas", "-o", "json")).out)
        .items[0].metadata.name,
    ).toBe("api");
  });

  it("gives with --fields only these fields of each, in a table and in documents, in order of any field", async () => {
    const table = (
      await run("--fields", "state,currentReplicas", "-n", "shop", "--sort-by", ".metadata.name")
    ).out
      .split("\n")
      .map((line) => line.split(/ {2,}/));
    expect(table[0]).toEqual(["CLUSTER", "NAMESPACE", "NAME", "STATE", "CURRENT_REPLICAS"]);
    expect(table[1]).toEqual(["eu-1", "shop", "api", "failing", "3"]);
    const { items } = JSON.parse(
      (await run("--fields", "state,labels", "-o", "json", "-n", "lab")).out,
    );
    expect(items[0]).toEqual({
      ...{
        cluster: "us-1",
        partition: "default",
        namespace: "lab",
        name: "back",
        uid: expect.any(String),
        generation: 1,
      },
      ...{ labels: expect.any(Object), state: "waiting" },
    });
    const sorted = JSON.parse(
      (await run("--fields", "kind", "-o", "json", "-n", "lab", "--sort-by", ".spec.maxReplicas"))
        .out,
    ).items;
    expect(Object.keys(sorted[0])).toEqual([
      "cluster",
      "namespace",
      "name",
      "uid",
      "generation",
      "kind",
    ]);
    expect((await run("shop/web", "--fields", "kind", "-o", "jsonpath={.items[0].kind}")).out).toBe(
      "HorizontalPodAutoscaler",
    );
  });

  it("leaves out the header with --no-headers, and -A lists every namespace", async () => {
    const cells = (text: string): readonly string[] =>
      text
        .trimEnd()
        .split("\n")
        .map((line) => line.replace(/ +/g, " "));
    expect(cells((await run("-A", "--no-headers")).out)).toEqual(cells((await run()).out).slice(1));
    expect(await run("-l", "app=nothing")).toEqual({
      code: 0,
      out: "",
      err: "No autoscalers with these labels\n",
    });
    expect(await run("-l", "app=nothing", "-o", "name")).toEqual({ code: 0, out: "", err: "" });
  });

  it.each([
    [
      ["-A", "-n", "lab"],
      'Cannot use --all-namespaces and --namespace "lab" together: give one of them',
    ],
    [["web", "-l", "app=web"], 'Cannot use "web" and --selector together: give one of them'],
    [
      ["--sort-by", "a b"],
      'Cannot read --sort-by "a b": it is no path of a field; write for example .status.currentReplicas',
    ],
    [
      ["--sort-by", ".nothing"],
      'Cannot sort by "nothing": no autoscaler of the list has that field; write for example .status.currentReplicas',
    ],
    [["--fields", "stat"], 'Cannot use --fields "stat": did you mean "state"?'],
    [
      ["--fields", "state", "-w"],
      "Cannot use --fields and --watch together: a watch prints whole rows",
    ],
    [
      ["--fields", "state", "-o", "wide"],
      "Cannot use --fields and -o wide together: give -o table, json or yaml",
    ],
    [["-l", "app=="], undefined],
    [
      ["-l", "a b"],
      'Cannot read the selector "a b": "a b" is no name of a label; write for example app=web,tier!=db',
    ],
    [
      ["-l", ""],
      'Cannot read the selector "": "" is no name of a label; write for example app=web,tier!=db',
    ],
  ])("takes or refuses %j", async (args, words) => {
    expect(await run(...args)).toMatchObject(
      words === undefined ? { code: 0 } : { code: 1, out: "", err: `error: ${words}\n` },
    );
  });
});

describe("isInRows()", () => {
  it.each([
    [".status.currentReplicas", true],
    ["metadata.creationTimestamp", true],
    ["{.metadata.labels.app}", true],
    [".kind", true],
    [".spec.minReplicas", false],
    [".status.conditions", false],
    [".metadata.annotations", false],
  ])("says of %s whether a list is sorted by it without a manifest: %s", (field, inRows) => {
    expect(isInRows(readSortField(field))).toBe(inRows);
  });
});

describe("readSelector()", () => {
  it.each([
    ["app", { app: "" }, true],
    ["app", {}, false],
    ["app=", { app: "" }, true],
    ["app!=web", {}, true],
    ["app notin (web,api)", { app: "db" }, true],
    ["app notin (web,api)", { app: "api" }, false],
    ["example.com/app==web , !old", { "example.com/app": "web" }, true],
    ["toString", {}, false],
  ])("reads %j for %j as %j", (selector, labels, chosen) =>
    expect(readSelector(selector)(labels as Record<string, string>)).toBe(chosen),
  );
});
