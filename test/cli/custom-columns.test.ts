import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { columnsText, readColumns } from "../../lib/command/jsonpath/format.ts";
import { type Folder, type Said, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

const ITEM = {
  metadata: { name: "web", labels: { "app.kubernetes.io/name": "x" } },
  spec: {
    minReplicas: null,
    metrics: [{ type: "Resource" }, { type: "Pods" }],
    scaleTargetRef: { name: "web", kind: "Deployment" },
  },
};
const LIST = { kind: "List", items: [ITEM, { metadata: { name: "a-longer-name" } }] };
const print = (words: string): string => columnsText(readColumns(words), LIST, true);

describe("-o custom-columns", () => {
  it("prints a row for each item, and <none> for a field that does not exist or is null", () => {
    expect(print("NAME:.metadata.name,MIN:.spec.minReplicas")).toBe(
      "NAME            MIN\nweb             <none>\na-longer-name   <none>\n",
    );
  });

  it.each([
    ["N:metadata.name", "web"],
    ["N:{.metadata.name}", "web"],
    ["N:.spec.metrics[*].type", "Resource,Pods"],
    ["N:.spec.metrics[0,1].type", "Resource,Pods"],
    [String.raw`N:.metadata.labels.app\.kubernetes\.io/name`, "x"],
    ["N:.spec.scaleTargetRef", '{"kind":"Deployment","name":"web"}'],
  ])("reads %s as kubectl does", (words, cell) => {
    expect(print(words).split("\n")[1]).toBe(cell);
  });

  it.each(["NAME", "NAME:", ":.metadata.name", "A:.a,,B:.b", "N:.a[x]"])(
    "refuses %s with an example",
    (words) => {
      expect(() => readColumns(words)).toThrow(
        /^Cannot read -o custom-columns=.*NAME:\.metadata\.name/,
      );
    },
  );
});

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> => inside([...args, "--data", folder.data]);
beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());

describe("tidemark get -o custom-columns", () => {
  it("prints lists, one autoscaler, columns of a file, and no headers with --no-headers", async () => {
    const columns = "custom-columns=NAME:.metadata.name,MAX:.spec.maxReplicas";
    expect((await run("get", "-n", "shop", "-o", columns)).out).toBe(
      "NAME   MAX\napi    10\nlate   10\nweb    10\n",
    );
    expect((await run("get", "shop/web", "-o", columns, "--no-headers")).out).toBe("web   10\n");
    const file = folder.write(
      "columns.txt",
      "NAME            MAX\nmetadata.name   .spec.maxReplicas\n",
    );
    expect((await run("get", "shop/web", "-o", `custom-columns-file=${file}`)).out).toBe(
      "NAME   MAX\nweb    10\n",
    );
    const bad = folder.write("bad.txt", "NAME MAX\nmetadata.name\n");
    expect((await run("get", "-o", `custom-columns-file=${bad}`)).err).toContain(
      "it has 2 headers in its first line and 1 paths in its second",
    );
  });
});

describe("tidemark create and replace", () => {
  const manifest = (max: number): string =>
    JSON.stringify({
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "fresh", namespace: "lab" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "fresh" },
        maxReplicas: max,
      },
    });
  const given = (verb: string, max: number): Promise<Said> =>
    inside([verb, "-f", "-", "--cluster", "us-1", "--data", folder.data], { stdin: manifest(max) });

  it("store only what does not exist, and only what exists", async () => {
    expect(await given("replace", 5)).toMatchObject({
      code: 1,
      err: 'error: Cannot replace "fresh" in namespace "lab" of cluster "us-1": it does not exist; nothing was changed; tidemark apply creates and updates\n',
    });
    expect((await given("create", 5)).out).toContain("created");
    expect(await given("create", 7)).toMatchObject({
      code: 1,
      err: expect.stringContaining("it exists already; nothing was changed"),
    });
    expect(JSON.parse((await run("get", "lab/fresh", "-o", "json")).out).spec.maxReplicas).toBe(5);
    expect((await given("replace", 7)).out).toContain("configured");
    expect(JSON.parse((await run("get", "lab/fresh", "-o", "json")).out).spec.maxReplicas).toBe(7);
  });
});
