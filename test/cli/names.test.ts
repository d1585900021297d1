import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { documents, hpa } from "../service/world/manifests.ts";
import { type Folder, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

const native = (name: string): string => `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: ${name}, namespace: lab }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }
  minReplicas: 2
  maxReplicas: 10
  metrics: [{ name: load, external: { metric: load }, measure: Average, target: 10 }]
`;

let folder: Folder;
const run = (args: readonly string[], stdin = "") =>
  inside([...args, "--data", folder.data], { stdin });
const inLab = async (): Promise<string> =>
  (await run(["get", "-n", "lab"])).out
    .match(/lab +(\S+)/g)
    ?.map((cell) => cell.replace(/lab +/, ""))
    .join(" ") ?? "";

beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());
beforeEach(async () => {
  const { code, err } = await run(
    ["apply", "-f", "-", "-n", "lab", "--cluster", "us-1"],
    documents(hpa("one"), hpa("two"), hpa("three")),
  );
  expect({ code, err }).toEqual({ code: 0, err: "" });
});

describe("names as kubectl takes them", () => {
  it.each([
    ["hpa/one"],
    ["hpa", "one"],
    ["HorizontalPodAutoscaler/one"],
    ["horizontalpodautoscalers.autoscaling", "one"],
    ["lab/one"],
    ["us-1/lab/one"],
  ])("get takes %s %s", async (...words) => {
    const { code, out } = await run(["get", ...words, "-o", "json"]);
    expect([code, JSON.parse(out).metadata.name]).toEqual([0, "one"]);
  });

  it("get takes several names and shows what exists, with an error for each that does not", async () => {
    const { code, out, err } = await run(["get", "one", "missing-one", "lab/two"]);
    expect([code, out.split("\n").length, err]).toEqual([
      1,
      4,
      'error: Cannot find autoscaler "missing-one": no object has that name\n',
    ]);
    expect(JSON.parse((await run(["get", "hpa/one", "hpa/two", "-o", "json"])).out)).toMatchObject({
      kind: "List",
      items: [{}, {}],
    });
  });

  it("get with a type alone lists the autoscalers of that kind", async () => {
    expect((await run(["get", "hpa", "-n", "lab"])).out.split("\n")).toHaveLength(5);
    expect(await run(["get", "pa", "-n", "lab"])).toEqual({
      code: 0,
      out: "",
      err: 'No autoscalers in namespace "lab"\n',
    });
    expect((await run(["get", "pa,hpa", "-n", "lab", "-o", "name"])).out.split("\n")).toHaveLength(
      4,
    );
    expect((await run(["get", "pa,hpa", "one"])).err).toBe(
      'error: Cannot read "pa,hpa one": give one type before names\n',
    );
  });

  it.each(["explain", "events", "changes", "shadow"])(
    "%s takes a type before its name",
    async (command) => {
      expect((await run([command, "hpa/one", "-n", "lab"])).err).not.toContain("Cannot find");
      expect((await run([command, "hpa", "one", "-n", "lab"])).err).not.toContain("Cannot find");
      expect((await run([command, "wpa/one"])).err).toBe(
        'error: Cannot find WatermarkPodAutoscaler "one": "one" in namespace "lab" of cluster "us-1" is a HorizontalPodAutoscaler\n',
      );
      expect((await run([command, "one", "two"])).err).toMatch(
        /^error: Cannot .* 2 autoscalers at once: give one name\n$/,
      );
    },
  );

  it("events and changes take a type for one that was deleted, too", async () => {
    expect(await run(["delete", "lab/one"])).toMatchObject({ code: 0 });
    expect(
      (
        await run([
          "changes",
          "hpa/one",
          "-n",
          "lab",
          "--cluster",
          "us-1",
          "-o",
          "jsonpath={.items[-1:].verb}",
        ])
      ).out,
    ).toBe("delete");
  });

  it("no command takes an autoscaler of another kind than it was told", async () => {
    const words =
      'error: Cannot find WatermarkPodAutoscaler "one": "one" in namespace "lab" of cluster "us-1" is a HorizontalPodAutoscaler\n';
    for (const command of ["get", "describe", "pause", "resume", "delete"])
      expect(await run([command, "wpa/one"])).toEqual({ code: 1, out: "", err: words });
    expect(await inLab()).toBe("one three two");
  });

  it("describe takes several, one sheet after the other", async () => {
    const { out } = await run(["describe", "hpa", "one", "two"]);
    expect(out.match(/^Name: .*/gm)).toEqual([
      "Name:                 one",
      "Name:                 two",
    ]);
  });

  it("pause, resume and delete take several, and one that fails does not stop the others", async () => {
    expect((await run(["pause", "hpa/one", "lab/two"])).out.match(/ paused$/gm)).toHaveLength(2);
    expect((await run(["resume", "hpa", "one", "two"])).out.match(/ resumed$/gm)).toHaveLength(2);
    const { code, out, err } = await run(["delete", "one", "missing-one", "two", "missing-two"]);
    expect([
      code,
      out.match(/ deleted$/gm)?.length,
      err.match(/^error: Cannot find autoscaler "missing-\w+"/gm)?.length,
    ]).toEqual([1, 2, 2]);
    expect(await inLab()).toBe("three");
  });

  it.each([["delete"], ["delete", "hpa"], ["pause", "wpa"]])(
    "%s %s without a name is a wrong call that changes nothing",
    async (...args) => {
      expect(await run(args)).toMatchObject({ code: 1, out: "" });
      expect(await inLab()).toBe("one three two");
    },
  );
});

describe("tidemark delete -f", () => {
  it("deletes what the manifests name, passes over other kinds, and tells what does not exist", async () => {
    const file = folder.write(
      "some.yaml",
      documents(
        hpa("one", { namespace: "lab" }),
        hpa("never", { namespace: "lab" }),
        "apiVersion: v1\nkind: Service\n",
      ),
    );
    const first = await run(["delete", "-f", file]);
    expect(first).toMatchObject({
      code: 1,
      out: '"one" in namespace "lab" of cluster "us-1" deleted\n',
    });
    expect(first.err).toMatch(
      /^passed over 1 object of another kind: 1 Service\nerror: Cannot find autoscaler "never" in namespace "lab"/,
    );
    expect(await run(["delete", "-f", file, "--ignore-not-found"])).toMatchObject({
      code: 0,
      out: "",
    });
    expect(await inLab()).toBe("three two");
    expect(
      await run(["delete", "-f", file, "--ignore-not-found", "--cluster", "us-2"]),
    ).toMatchObject({ code: 1, out: "" });
  });

  it("does not delete an autoscaler that has another kind by now", async () => {
    expect(await run(["apply", "-f", "-", "--cluster", "us-1"], native("four"))).toMatchObject({
      code: 0,
    });
    const { code, err } = await run(["delete", "-f", "-", "-n", "lab"], hpa("four"));
    expect([code, err]).toEqual([
      1,
      'error: Cannot find HorizontalPodAutoscaler "four": "four" in namespace "lab" of cluster "us-1" is a PodAutoscaler\n',
    ]);
    expect(await run(["delete", "-f", "-"], native("four"))).toMatchObject({ code: 0, err: "" });
  });

  it("deletes nothing when one manifest cannot be read or is in another namespace", async () => {
    for (const wrong of [
      "kind: [\n",
      "kind: HorizontalPodAutoscalr\napiVersion: autoscaling/v2\n",
      hpa("two", { namespace: "shop" }),
      hpa('""'),
    ])
      expect(
        await run(["delete", "-f", "-", "-n", "lab"], documents(hpa("one"), wrong)),
      ).toMatchObject({ code: 1, out: "" });
    expect(await run(["delete", "one", "-f", folder.write("x.yaml", hpa("one"))])).toMatchObject({
      code: 1,
      out: "",
    });
    expect(await inLab()).toBe("one three two");
  });

  it("deletes by a manifest that breaks a rule", async () => {
    expect(await run(["delete", "-f", "-", "-n", "lab"], hpa("one", { max: 1 }))).toMatchObject({
      code: 0,
      err: "",
    });
  });
});
