import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { documents, hpa } from "../service/world/manifests.ts";
import { type Folder, type Said, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());

const owned = (name: string, namespace = "lab", label = "a"): string =>
  hpa(name, { namespace }).replace("metadata:\n", `metadata:\n  labels: { owner: ${label} }\n`);
const apply = (stdin: string, ...more: readonly string[]): Promise<Said> =>
  inside(["apply", "-f", "-", "--cluster", "us-1", "--data", folder.data, ...more], { stdin });
const names = async (): Promise<string> =>
  (
    await inside([
      "get",
      "--cluster",
      "us-1",
      "-l",
      "owner",
      "-o",
      "jsonpath={.items[*].metadata.name}",
      "--data",
      folder.data,
    ])
  ).out;

describe("tidemark apply --prune", () => {
  beforeAll(async () => {
    expect(
      await apply(
        documents(
          owned("one"),
          owned("two"),
          owned("three"),
          owned("far", "remote"),
          owned("other", "lab", "b"),
        ),
      ),
    ).toMatchObject({
      code: 0,
    });
  });

  it("says with --dry-run what would go, and deletes nothing", async () => {
    const { code, out } = await apply(owned("one"), "--prune", "-l", "owner=a", "--dry-run");
    expect([code, out]).toEqual([
      0,
      `HorizontalPodAutoscaler "one" in namespace "lab" of cluster "us-1" unchanged (dry run)
"three" in namespace "lab" of cluster "us-1" pruned (dry run)
"two" in namespace "lab" of cluster "us-1" pruned (dry run)
`,
    ]);
    expect(await names()).toBe("one other three two far");
  });

  it.each([
    [
      owned("one"),
      ["--prune"],
      "Cannot prune: give with -l the labels of what this input owns, such as -l app=shop",
    ],
    [
      owned("one"),
      ["-l", "owner=a"],
      "Cannot use --selector without --prune: an apply takes all documents of its files",
    ],
    ["", ["--prune", "-l", "owner=a"], 'Cannot read "standard input": it contains no manifest'],
    [
      "{ apiVersion: v1, kind: List, items: [] }",
      ["--prune", "-l", "owner=a"],
      'Cannot read "standard input": it contains no manifest',
    ],
    [
      documents(owned("one"), owned("two", "lab", "b")),
      ["--prune", "-l", "owner=a"],
      'Cannot prune: "standard input, document 2" has not the labels of --selector "owner=a"; all documents must have them',
    ],
  ])("is refused before anything is opened: case %#", async (stdin, more, words) => {
    const open = () => Promise.reject(new Error("nothing is opened"));
    const { code, err } = await inside(["apply", "-f", "-", ...more], { stdin, open });
    expect([code, err]).toEqual([1, `error: ${words}\n`]);
  });

  it("prunes nothing where the apply is refused", async () => {
    expect(
      await apply(
        documents(owned("one"), owned("bad").replace("maxReplicas: 10", "maxReplicas: 1")),
        "--prune",
        "-l",
        "owner=a",
      ),
    ).toMatchObject({
      code: 1,
      out: "",
    });
    expect(await names()).toBe("one other three two far");
  });

  it("deletes what has the labels and is in no document, in the namespaces of the documents alone", async () => {
    const { code, out } = await apply(
      documents(owned("one"), owned("new")),
      "--prune",
      "-l",
      "owner=a",
    );
    expect([code, out.match(/^"\w+" .* pruned$/gm)]).toEqual([
      0,
      [
        '"three" in namespace "lab" of cluster "us-1" pruned',
        '"two" in namespace "lab" of cluster "us-1" pruned',
      ],
    ]);
    expect(await names()).toBe("new one other far");
    expect((await inside(["get", "eu-1/shop/web", "-o", "name", "--data", folder.data])).code).toBe(
      0,
    );
  });
});
