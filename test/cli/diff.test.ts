import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { documents, hpa } from "../service/world/manifests.ts";
import { type Folder, type Said, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const diff = (stdin: string, ...more: readonly string[]): Promise<Said> =>
  inside(["diff", "-f", "-", "--cluster", "us-1", "--data", folder.data, ...more], { stdin });

beforeAll(async () => {
  folder = await shopInMemory();
  const stdin = documents(hpa("one", { namespace: "lab" }), hpa("two", { namespace: "lab" }));
  expect(
    await inside(["apply", "-f", "-", "--cluster", "us-1", "--data", folder.data], { stdin }),
  ).toMatchObject({ code: 0 });
});
afterAll(() => folder.remove());

describe("tidemark diff", () => {
  it("prints nothing and exits with 0 where an apply would change nothing", async () => {
    expect(
      await diff(documents(hpa("one", { namespace: "lab" }), hpa("two", { namespace: "lab" }))),
    ).toEqual({ code: 0, out: "", err: "" });
  });

  it("prints what an apply would change as a unified diff, exits with 1, and stores nothing", async () => {
    const stdin = documents(
      hpa("one", { namespace: "lab", max: 12 }),
      hpa("two", { namespace: "lab" }),
      hpa("three", { namespace: "lab" }),
    );
    const { code, out, err } = await diff(stdin);
    expect([code, err]).toEqual([1, ""]);
    expect(
      out
        .split("\n")
        .filter((line) => /^[-+@]/.test(line))
        .slice(0, 7),
    ).toEqual([
      "--- stored/us-1/lab/one",
      "+++ applied/us-1/lab/one",
      expect.stringMatching(/^@@ -\d+,\d+ \+\d+,\d+ @@$/),
      "-  maxReplicas: 10",
      "+  maxReplicas: 12",
      "--- /dev/null",
      "+++ applied/us-1/lab/three",
    ]);
    expect(
      (
        await inside([
          "get",
          "-n",
          "lab",
          "-o",
          "jsonpath={.items[*].spec.maxReplicas}",
          "--data",
          folder.data,
        ])
      ).out,
    ).toBe("10 10");
  });

  it("compares what is stored with the defaults filled in", async () => {
    expect(
      await diff(
        hpa("one", { namespace: "lab" }).replace(/ {2}minReplicas: 2\n/, "  minReplicas: 2.0\n"),
      ),
    ).toMatchObject({ code: 0, out: "" });
  });

  it.each([
    [["--cluster", "us-1"], hpa("bad", { max: 1 })],
    [["-n", "other"], hpa("one", { namespace: "lab" })],
    [["--colour"], hpa("one", { namespace: "lab" })],
  ])("exits with 2 when it cannot compare: %j", async (more, stdin) => {
    const { code, out, err } = await diff(stdin, ...more);
    expect([code, out, err.startsWith("error: ")]).toEqual([2, "", true]);
  });
});
