import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { documents, hpa } from "../service/world/manifests.ts";
import { type Folder, type Said, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> => inside([...args, "--data", folder.data]);

beforeAll(async () => {
  folder = await shopInMemory();
  const labels = "  labels: { tier: front, app.kubernetes.io/name: web }\n";
  const stdin = documents(
    hpa("web", { namespace: "shop" }).replace("metadata:\n", `metadata:\n${labels}`),
    hpa("bare", { namespace: "shop" }),
  );
  expect(
    await inside(["apply", "-f", "-", "--cluster", "us-1", "--data", folder.data], { stdin }),
  ).toMatchObject({ code: 0 });
});
afterAll(() => folder.remove());

describe("--clusters", () => {
  it("lists the autoscalers of the clusters whose names match", async () => {
    expect((await run("get", "--clusters", "us-*", "-o", "name")).out).toBe(
      "us-1/batch/jobs\nus-1/shop/bare\nus-1/shop/web\n",
    );
    expect((await run("get", "--clusters", "us-1,eu-?", "-n", "shop", "-o", "name")).out).toBe(
      "eu-1/shop/api\neu-1/shop/late\neu-1/shop/web\nus-1/shop/bare\nus-1/shop/web\n",
    );
  });

  it("means the same as --cluster given several times", async () => {
    const both = (await run("get", "--clusters", "us-1,eu-1", "-n", "shop", "-o", "name")).out;
    expect(
      (await run("get", "--cluster", "us-1", "--cluster", "eu-1", "-n", "shop", "-o", "name")).out,
    ).toBe(both);
    expect((await run("get", "--cluster", "us-1", "--cluster", "us-1", "-o", "name")).out).toBe(
      (await run("get", "--cluster", "us-1", "-o", "name")).out,
    );
    expect(
      (await run("get", "--cluster", "us-1", "--cluster", "eu-1", "--clusters", "*")).err,
    ).toBe(
      'error: Cannot use --cluster "us-1" and --cluster "eu-1" and --clusters "*" together: give one of them\n',
    );
    expect((await run("get", "--cluster", "us-1", "--cluster", "nowhere")).err).toMatch(
      /^error: Cannot find a cluster that matches --clusters "nowhere": there are /,
    );
  });

  it("shows an autoscaler of each of them that has it", async () => {
    expect((await run("get", "shop/web", "--clusters", "*-1", "-o", "name")).out).toBe(
      "eu-1/shop/web\nus-1/shop/web\n",
    );
    expect(
      (
        await run(
          "get",
          "shop/bare",
          "--clusters",
          "*-1",
          "-o",
          "jsonpath={.items[*].status.cluster}",
        )
      ).out,
    ).toBe("us-1");
    expect(
      (await run("describe", "hpa/web", "-n", "shop", "--clusters", "*")).out.match(
        /^Cluster: .*$/gm,
      ),
    ).toEqual(["Cluster:              eu-1", "Cluster:              us-1"]);
    expect((await run("get", "absent", "--clusters", "*")).err).toBe(
      'error: Cannot find "absent" in a cluster that matches --clusters "*"\n',
    );
  });

  it("narrows events and changes", async () => {
    expect(
      (await run("events", "--clusters", "us-*", "-o", "jsonpath={.items[*].cluster}")).out,
    ).toBe("us-1");
    const { out } = await run(
      "changes",
      "--all",
      "--clusters",
      "us-*",
      "-o",
      "jsonpath={.items[*].cluster}",
    );
    expect(new Set(out.split(" "))).toEqual(new Set(["us-1"]));
    expect(
      (await run("changes", "--clusters", "us-*", "-o", "jsonpath={.items[*].cluster}")).out,
    ).toBe(out);
    expect(
      (await run("changes", "-A", "--clusters", "us-*", "-o", "jsonpath={.items[*].cluster}")).out,
    ).toBe(out);
    expect(
      (await run("changes", "-n", "batch", "-o", "jsonpath={.items[*].namespace}")).out,
    ).toMatch(/^batch( batch)*$/);
    expect((await run("changes")).err).toBe(
      "error: Cannot list changes: give the name of an autoscaler, or --all, -n or --cluster\n",
    );
  });

  it("is refused where no cluster matches, beside --cluster, and for a command that takes one autoscaler", async () => {
    expect((await run("get", "--clusters", "prod-*")).err).toBe(
      'error: Cannot find a cluster that matches --clusters "prod-*": there are "eu-1", "us-1"\n',
    );
    expect(await run("get", "--clusters", "*", "--cluster", "eu-1")).toEqual({
      code: 1,
      out: "",
      err: 'error: Cannot use --cluster "eu-1" and --clusters "*" together: give one of them\n',
    });
    expect(await run("explain", "web", "--clusters", "*")).toEqual({
      code: 1,
      out: "",
      err: 'error: Cannot use --clusters "*" with explain: it works on one cluster; name it with --cluster\n',
    });
  });

  it("takes no pattern for more than a pattern of names", async () => {
    expect((await run("get", "--clusters", "us.1")).code).toBe(1);
    expect((await run("get", "--clusters", "(a+)+$")).code).toBe(1);
  });
});

describe("what programs read", () => {
  it("has one shape of a list in JSON and YAML with every command", async () => {
    for (const args of [
      ["get"],
      ["events", "--all"],
      ["events", "-n", "none"],
      ["changes", "--all"],
      ["cluster", "list"],
      ["describe", "api", "jobs"],
    ])
      for (const format of ["json", "yaml"]) {
        const { code, out } = await run(...args, "-o", format);
        expect(code).toBe(0);
        const read = (await import("yaml")).parse(out);
        expect([args, Object.keys(read), read.kind]).toEqual([
          args,
          ["apiVersion", "kind", "items"],
          "List",
        ]);
        expect(Array.isArray(read.items)).toBe(true);
      }
  });

  it("is printed by a template with every command that prints JSON", async () => {
    expect(
      (
        await run(
          "get",
          "-o",
          'jsonpath={range .items[?(@.metadata.namespace=="shop")]}{.status.cluster}/{.metadata.name}{"\\n"}{end}',
        )
      ).out,
    ).toBe("eu-1/api\neu-1/late\neu-1/web\nus-1/bare\nus-1/web\n");
    expect((await run("get", "eu-1/shop/web", "-o=jsonpath={.status.currentReplicas}")).out).toBe(
      "9",
    );
    expect((await run("cluster", "describe", "eu-1", "-o", "jsonpath={.name}")).out).toBe("eu-1");
    expect(await run("get", "-o", "jsonpath={.items")).toMatchObject({ code: 1, out: "" });
    expect((await run("get", "-o", "xml")).err).toBe(
      'error: Cannot use --output "xml": give one of table, wide, name, json, yaml, jsonpath=TEMPLATE, jsonpath-file=FILE, custom-columns=HEADER:PATH,…, custom-columns-file=FILE\n',
    );
  });

  it("is printed by a template in a file, as it stands there", async () => {
    const file = folder.write("names.jsonpath", "{range .items[*]}{.metadata.name}\n{end}");
    expect(
      (await run("get", "-n", "shop", "--cluster", "eu-1", "-o", `jsonpath-file=${file}`)).out,
    ).toBe("api\nlate\nweb\n");
    expect((await run("get", "-o", "jsonpath-file=nowhere")).err).toBe(
      'error: Cannot read "nowhere": there is no such file\n',
    );
    expect(
      (await run("get", "-o", `jsonpath-file=${folder.write("broken", "{.items")}`)).code,
    ).toBe(1);
    expect((await run("completion", "bash", "-o", `jsonpath-file=${file}`)).code).toBe(1);
  });

  it("has the labels in a last column with --show-labels", async () => {
    const { out } = await run("get", "-n", "shop", "--cluster", "us-1", "--show-labels");
    expect(out.split("\n").map((line) => line.split(/ {3,}/).at(-1))).toEqual([
      "LABELS",
      "<none>",
      "app.kubernetes.io/name=web,tier=front",
      "",
    ]);
  });
});
