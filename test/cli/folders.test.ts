import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { documents, hpa } from "../service/world/manifests.ts";
import { type Folder, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
let dir = "";
beforeAll(async () => {
  folder = await shopInMemory();
  dir = dirname(folder.data);
});
afterAll(() => folder.remove());

const other = (kind: string, name = "x", apiVersion = "v1"): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
const apply = (args: readonly string[], stdin = "") =>
  inside(["apply", ...args, "--cluster", "us-1", "--data", folder.data], { stdin });
const names = (out: string): readonly string[] =>
  [...out.matchAll(/^HorizontalPodAutoscaler "(.*?)"/gm)].map(([, name = ""]) => name);

describe("-k of kubectl", () => {
  it.each(["apply", "delete", "diff"])(
    "is refused by %s with the words that do the same",
    async (command) => {
      expect(await inside([command, "-k", "overlays/prod"])).toEqual({
        code: command === "diff" ? 2 : 1,
        out: "",
        err: `error: Cannot read a kustomization: run kustomize build overlays/prod | tidemark ${command} -f -\n`,
      });
    },
  );
});

describe("tidemark apply -f FOLDER", () => {
  it("applies the folder's own .yaml, .yml and .json files in order of name, and with -R those of the folders in it", async () => {
    const many = join(dir, "many");
    mkdirSync(join(many, "deeper"), { recursive: true });
    writeFileSync(join(many, "b.yml"), hpa("from-yml"));
    writeFileSync(join(many, "a.yaml"), hpa("from-yaml"));
    writeFileSync(join(many, "README.md"), "no manifest");
    writeFileSync(join(many, "deeper", "d.yaml"), hpa("deeper"));
    // A link that leads back to its own folder.
    symlinkSync(many, join(many, "deeper", "again.yaml"));
    writeFileSync(
      join(many, "c.json"),
      JSON.stringify({
        apiVersion: "v1",
        kind: "List",
        items: [{ apiVersion: "v1", kind: "Secret" }],
      }),
    );
    const flat = await apply(["-f", many, "--dry-run"]);
    expect([flat.code, names(flat.out), flat.err]).toEqual([
      0,
      ["from-yaml", "from-yml"],
      "passed over 1 object of another kind: 1 Secret\n",
    ]);
    const deep = await apply(["-R", "-f", many, "-f", folder.write("more.yaml", hpa("more"))]);
    expect([deep.code, names(deep.out)]).toEqual([0, ["from-yaml", "from-yml", "deeper", "more"]]);
  });

  it("says when a folder holds no manifest file, and that -R looks further", async () => {
    const empty = join(dir, "empty");
    mkdirSync(join(empty, "within"), { recursive: true });
    expect(await apply(["-f", empty])).toEqual({
      code: 1,
      out: "",
      err: `error: Cannot read "${empty}": the folder holds no .yaml, .yml or .json file; -R reads the folders in it too\n`,
    });
    expect((await apply(["-R", "-f", empty])).err).toBe(
      `error: Cannot read "${empty}": the folder holds no .yaml, .yml or .json file\n`,
    );
  });

  it("stops reading at the limit of bytes, whatever the number of files", async () => {
    const large = join(dir, "large");
    mkdirSync(large);
    for (const name of ["a", "b", "c", "d"])
      writeFileSync(join(large, `${name}.yaml`), `# ${"x".repeat(1_900_000)}\n${hpa(name)}`);
    expect((await apply(["-f", large])).err).toBe(
      `error: Cannot read "${join(large, "c.yaml")}": the files of one step have more than 5000000 bytes; apply it in several steps\n`,
    );
  });
});

describe("tidemark apply of objects of other kinds", () => {
  it("passes over what kustomize prints beside the autoscalers, and counts it by kind", async () => {
    const built = documents(
      other("Service"),
      other("Deployment", "web", "apps/v1"),
      hpa("built"),
      other("Service", "z"),
      other("VerticalPodAutoscaler", "v", "autoscaling.k8s.io/v1"),
    );
    const { code, out, err } = await apply(["-f", "-"], built);
    expect([code, names(out), err]).toEqual([
      0,
      ["built"],
      "passed over 4 objects of other kinds: 1 Deployment, 2 Service, 1 VerticalPodAutoscaler\n",
    ]);
  });

  it("does not judge how they are written", async () => {
    const octal = `${other("Deployment", "web", "apps/v1")}spec: { defaultMode: 0644, on: y }\n`;
    const { code, err } = await apply(["-f", "-", "--dry-run"], documents(octal, hpa("beside")));
    expect([code, err]).toEqual([0, "passed over 1 object of another kind: 1 Deployment\n"]);
  });

  it("does not count them against the limit of manifests", async () => {
    const built = `${Array.from({ length: 1_200 }, (_, index) => other("ConfigMap", `c${index}`)).join("---\n")}---\n${hpa("among-many")}`;
    const { code, out, err } = await apply(["-f", "-", "--dry-run"], built);
    expect([code, names(out), err]).toEqual([
      0,
      ["among-many"],
      "passed over 1200 objects of other kinds: 1200 ConfigMap\n",
    ]);
  });

  it("takes a large definition and a kind that ends in List for other kinds", async () => {
    const large = `${other("CustomResourceDefinition", "crd", "apiextensions.k8s.io/v1")}spec: ${"x".repeat(200_000)}\n`;
    const { code, err } = await apply(
      ["-f", "-", "--dry-run"],
      documents(large, other("AllowList", "a", "example.com/v1"), hpa("one")),
    );
    expect([code, err]).toEqual([
      0,
      "passed over 2 objects of other kinds: 1 AllowList, 1 CustomResourceDefinition\n",
    ]);
  });

  it("still refuses a file without any object, beside others", async () => {
    const file = folder.write("empty-list.yaml", "apiVersion: v1\nkind: List\nitems: []\n");
    expect(await apply(["-f", "-", "-f", file], documents(other("Service"), hpa("one")))).toEqual({
      code: 1,
      out: "",
      err: `error: Cannot read "${file}": it contains no manifest\n`,
    });
  });

  it("refuses input of nothing but other kinds", async () => {
    expect(await apply(["-f", "-"], documents(other("Service"), other("Service")))).toEqual({
      code: 1,
      out: "",
      err: "error: Cannot find an autoscaler in the input; passed over 2 objects of other kinds: 2 Service\n",
    });
  });

  const LIST =
    "autoscaling/v2, autoscaling/v1, autoscaling/v2beta2, autoscaling/v2beta1, autoscaling/v2alpha1, extensions/v1beta1";
  it.each([
    [
      "HorizontalPodAutoscalr",
      "autoscaling/v2",
      `line 2: kind must be an accepted one, not "HorizontalPodAutoscalr" of "autoscaling/v2"; write HorizontalPodAutoscaler of ${LIST}`,
    ],
    [
      "hpa",
      "autoscaling/v2",
      `line 2: kind must be an accepted one, not "hpa" of "autoscaling/v2"; write HorizontalPodAutoscaler of ${LIST}`,
    ],
    [
      "HorizontalPodAutoscaler",
      "autoscaling/v3",
      `line 1: apiVersion must be an accepted one, not "autoscaling/v3"; write HorizontalPodAutoscaler of ${LIST}`,
    ],
    [
      "PodAutoScaler",
      "tidemark.dev/v1",
      'line 2: kind must be an accepted one, not "PodAutoScaler" of "tidemark.dev/v1"; write PodAutoscaler of tidemark.dev/v1',
    ],
  ])(
    "refuses %s of %s, which looks mistyped, with the kind that was meant",
    async (kind, apiVersion, words) => {
      const { code, out, err } = await apply(
        ["-f", "-"],
        documents(other(kind, "web", apiVersion), hpa("fine")),
      );
      expect({ code, out, err }).toEqual({
        code: 1,
        out: "",
        err: `error: Cannot accept "standard input, document 1", ${words}\n`,
      });
    },
  );
});

describe("an option that names one place", () => {
  it.each([
    ["explain", "--cluster", "eu-1", "us-1"],
    ["delete", "--cluster", "eu-1", "us-1"],
    ["pause", "--cluster", "eu-1", "us-1"],
    ["get", "-n", "shop", "infra"],
  ])("of %s is refused when %s names two", async (command, option, first, second) => {
    const long = option === "-n" ? "--namespace" : option;
    expect(
      await inside([command, "web", option, first, option, second, "--data", folder.data]),
    ).toEqual({
      code: 1,
      out: "",
      err: `error: Cannot use ${long} "${first}" and ${long} "${second}" together: give one of them\n`,
    });
  });
});
