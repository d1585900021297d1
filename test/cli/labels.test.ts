import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { documents, hpa } from "../service/world/manifests.ts";
import { type Folder, openHere, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const run = (...args: readonly string[]) => inside([...args, "--data", folder.data]);
const labelled = (name: string, team: string): string =>
  hpa(name).replace("metadata:", `metadata:\n  labels: { team: ${team} }`);
const apply = async (cluster: string, ...manifests: readonly string[]): Promise<void> => {
  const args = ["apply", "-f", "-", "-n", "lab", "--cluster", cluster, "--data", folder.data];
  expect(await inside(args, { stdin: documents(...manifests) })).toMatchObject({
    code: 0,
    err: "",
  });
};
const inLab = async (): Promise<string> =>
  (await run("get", "-n", "lab", "-o", "name")).out.trim().replaceAll("\n", " ");

beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());
beforeEach(() =>
  apply("us-1", labelled("one", "red"), labelled("two", "red"), labelled("three", "blue")),
);

describe("delete, pause and resume with -l", () => {
  it("reach what has the labels, and nothing else", async () => {
    expect(
      (await run("pause", "-l", "team=red", "-n", "lab", "--until", "1h")).out.match(/^"\w+"/gm),
    ).toEqual(['"one"', '"two"']);
    expect(
      (await run("resume", "hpa", "-l", "team", "-n", "lab")).out.match(
        /^"\w+".*?(?=resumed|was not)/gm,
      ),
    ).toHaveLength(3);
    expect((await run("delete", "-l", "team in (red)", "-A")).out.match(/^"\w+"/gm)).toEqual([
      '"one"',
      '"two"',
    ]);
    expect(await inLab()).toBe("us-1/lab/three");
  });

  it("need a namespace, or -A for all of them, and change nothing without", async () => {
    for (const command of ["delete", "pause", "resume"])
      expect(await run(command, "-l", "team=red")).toEqual({
        code: 1,
        out: "",
        err: `error: Cannot use --selector "team=red" with ${command}: give a namespace with -n too, or -A for all of them\n`,
      });
    expect(await inLab()).toBe("us-1/lab/one us-1/lab/three us-1/lab/two");
  });

  it("are refused where the labels match in several clusters, unless the clusters are given", async () => {
    await apply("eu-1", labelled("one", "red"));
    const { code, err } = await run("delete", "-l", "team=red", "-n", "lab");
    expect([code, err]).toEqual([
      1,
      'error: Cannot use --selector "team=red" with delete: 3 autoscalers in 2 clusters match, in "eu-1", "us-1"; name one with --cluster, or all of them with --clusters \'*\'\n',
    ]);
    expect((await run("delete", "-l", "team=red", "-n", "lab", "--cluster", "us-1")).code).toBe(0);
    expect(await inLab()).toBe("eu-1/lab/one us-1/lab/three");
    await apply("us-1", labelled("one", "red"));
    expect(
      (await run("delete", "-l", "team=red", "-n", "lab", "--clusters", "*")).out.match(
        / deleted$/gm,
      ),
    ).toHaveLength(2);
  });

  it("delete nothing that was edited since its labels were read", async () => {
    const session = await openHere({ kind: "folder", dir: folder.data, from: "--data" }, "ada");
    const { service } = session;
    const edited = {
      ...service,
      async *rows(...query: Parameters<typeof service.rows>) {
        yield* await Array.fromAsync(service.rows(...query));
        await service.apply([{ file: "x.yaml", text: labelled("one", "green") }], {
          cluster: "us-1",
          namespace: "lab",
          dryRun: false,
        });
      },
    };
    const { code, out, err } = await inside(["delete", "-l", "team=red", "-n", "lab"], {
      open: async () => ({ ...session, service: edited }),
    });
    expect([code, out.match(/^"\w+"/gm), err.match(/^error: /gm)?.length]).toEqual([
      1,
      ['"two"'],
      1,
    ]);
    expect(await inLab()).toBe("us-1/lab/one us-1/lab/three");
  });

  it("tell on standard error that nothing has the labels, which is no failure", async () => {
    for (const command of ["delete", "pause", "resume", "describe", "get"])
      expect(await run(command, "-l", "team=none", "-n", "lab")).toEqual({
        code: 0,
        out: "",
        err: 'No autoscalers in namespace "lab" with these labels\n',
      });
  });

  it("are refused beside a name, beside --all, and with labels that cannot be read", async () => {
    expect((await run("pause", "one", "-l", "team=red")).err).toBe(
      'error: Cannot use "one" and --selector "team=red" together: give one of them\n',
    );
    expect((await run("pause", "--all", "-n", "lab", "-l", "team=red")).err).toBe(
      'error: Cannot use --all and --selector "team=red" together: give one of them\n',
    );
    expect((await run("delete", "-n", "lab", "-l", "a b")).code).toBe(1);
    expect((await run("delete", "-f", "-", "-l", "team=red")).err).toBe(
      "error: Cannot delete by --selector and the manifests of -f together: give one of them\n",
    );
  });
});

describe("delete, pause and resume", () => {
  it("reach all autoscalers of a namespace with --all, or all of a type", async () => {
    expect((await run("pause", "hpa", "--all", "-n", "lab")).out.match(/ paused$/gm)).toHaveLength(
      3,
    );
    expect((await run("delete", "wpa", "--all", "-n", "lab")).err).toBe(
      'No autoscalers in namespace "lab"\n',
    );
    expect((await run("delete", "--all")).err).toBe(
      "error: Cannot use --all with delete: give a namespace with -n too, or -A for all of them\n",
    );
    expect((await run("delete", "--all", "-n", "lab")).out.match(/ deleted$/gm)).toHaveLength(3);
  });

  it("reach a name in several clusters with --clusters", async () => {
    await apply("eu-1", labelled("one", "red"));
    expect(
      (await run("pause", "lab/one", "--clusters", "*")).out.match(/cluster "\S+" paused$/gm),
    ).toEqual(['cluster "eu-1" paused', 'cluster "us-1" paused']);
    expect((await run("delete", "lab/one", "--cluster", "eu-1")).code).toBe(0);
  });

  it("delete nothing with --dry-run, and say what would go", async () => {
    expect((await run("delete", "-l", "team=red", "-n", "lab", "--dry-run")).out).toBe(
      ["one", "two"]
        .map((name) => `"${name}" in namespace "lab" of cluster "us-1" deleted (dry run)\n`)
        .join(""),
    );
    expect((await run("delete", "lab/one", "lab/none", "--dry-run=server")).code).toBe(1);
    expect(await inLab()).toBe("us-1/lab/one us-1/lab/three us-1/lab/two");
  });
});

describe("tidemark describe", () => {
  it("takes labels, and a type alone", async () => {
    expect((await run("describe", "-l", "team=red")).out.match(/^Name: .*/gm)).toEqual([
      "Name:                 one",
      "Name:                 two",
    ]);
    expect((await run("describe", "hpa", "-n", "lab")).out.match(/^Name: /gm)).toHaveLength(3);
    expect(
      (await run("describe", "-l", "team=blue", "-o", "jsonpath={.kind}/{.items[*].metadata.name}"))
        .out,
    ).toBe("List/three");
  });

  it("needs a name, a type or labels", async () => {
    expect(await run("describe", "-n", "lab")).toEqual({
      code: 1,
      out: "",
      err: "error: Cannot choose an autoscaler: give its name, such as web, or a type (pa, hpa, wpa), or --selector\n",
    });
  });
});
