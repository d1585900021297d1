import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Folder, type Said, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> =>
  inside([...args, "--data", folder.data], { by: "grace" });
const withFile = (
  command: readonly string[],
  stdin: string,
  ...args: readonly string[]
): Promise<Said> => inside([...command, "-f", "-", "--data", folder.data, ...args], { stdin });

beforeAll(async () => {
  folder = await shopFolder();
});
afterAll(() => folder.remove());

const arn = (name: string): string => `arn:aws:cloudwatch:eu-central-1:123456789012:alarm:${name}`;
const wake = (
  name: string,
  spec = "",
  labels = "{ app: shop }",
): string => `apiVersion: tidemark.dev/v1
kind: Wake
metadata: { name: ${name}, labels: ${labels} }
spec:
  alarm: ${arn(name)}
  cluster: eu-1
${spec}---
`;
const WEB = wake("web-queue", "  namespace: shop\n  names: [web]\n");

describe("documents of kind Wake", () => {
  it("are applied, found unchanged, and exported as documents that apply finds unchanged", async () => {
    expect(await withFile(["apply"], WEB + wake("api-queue"), "--dry-run")).toMatchObject({
      ...{ code: 0, err: "" },
      out: 'Wake "web-queue" created (dry run)\nWake "api-queue" created (dry run)\n',
    });
    expect((await run("wake", "list")).out).toBe("No wakes\n");
    expect(await withFile(["apply"], WEB + wake("api-queue"))).toMatchObject({
      out: 'Wake "web-queue" created\nWake "api-queue" created\n',
    });
    expect((await run("wake", "list")).out).toMatch(/web-queue +eu-1 +shop +web +arn:aws:/);
    const { out: exported } = await run("wake", "export");
    expect(exported).toContain("kind: Wake");
    expect(await withFile(["apply"], exported)).toMatchObject({
      out: 'Wake "api-queue" unchanged\nWake "web-queue" unchanged\n',
    });
    const { out: list } = await run("wake", "export", "-o", "json");
    expect((await withFile(["apply"], list)).out).toContain('"web-queue" unchanged');
    expect((await run("changes", "--all")).out).toContain("register");
  });

  it("are those of examples/wakes", async () => {
    const applied = await run("apply", "-f", "examples/wakes");
    expect(applied).toMatchObject({ code: 0, out: 'Wake "web-queue" unchanged\n' });
  });

  it("are compared by diff, whose exit code says it", async () => {
    expect(await withFile(["diff"], WEB)).toMatchObject({ code: 0, out: "" });
    const other = await withFile(["diff"], WEB.replace("names: [web]", "names: [web, api]"));
    expect(other.code).toBe(1);
    expect(other.out).toMatch(/wake\/web-queue[\s\S]*^\+ +- api$/m);
  });

  it("are refused with the field, before anything is stored", async () => {
    const bad = await withFile(["apply"], wake("new-one") + wake("bad", "  replicas: 3\n"));
    expect(bad).toMatchObject({ code: 1, out: "" });
    expect(bad.err).toMatch(/spec: Unrecognized key: "replicas"/);
    const place = await withFile(
      ["apply"],
      WEB.replace("metadata: {", "metadata: { namespace: shop,"),
    );
    expect(place.err).toContain(
      "metadata.namespace: a wake names the namespace that it wakes in spec.namespace",
    );
    const alarm = await withFile(["apply"], WEB.replace(arn("web-queue"), "web-queue"));
    expect(alarm.err).toContain(
      'wake "web-queue": alarm must be the ARN of an alarm of CloudWatch',
    );
    const twice = await withFile(["apply"], WEB + WEB);
    expect(twice.err).toContain('wake "web-queue": it is in the files twice; keep one');
    const label = await withFile(["apply"], wake("labelled", "", '{ "a b": c }'));
    expect(label.err).toContain('the label "a b" must have letters');
    expect((await run("wake", "list")).out).not.toContain("new-one");
  });

  it("are pruned by their labels, and by no others", async () => {
    await withFile(["apply"], wake("of-others", "", "{ app: bank }"));
    await run("wake", "put", "by-hand", "--alarm", arn("by-hand"), "--cluster", "eu-1");
    const without = await withFile(
      ["apply"],
      wake("no-label", "", "{}"),
      "--prune",
      "-l",
      "app=shop",
    );
    expect(without.err).toContain('has not the labels of --selector "app=shop"');
    const dry = await withFile(["apply"], WEB, "--prune", "-l", "app=shop", "--dry-run");
    expect(dry.out).toBe(
      'Wake "web-queue" unchanged (dry run)\nWake "api-queue" pruned (dry run)\n',
    );
    const pruned = await withFile(["apply"], WEB, "--prune", "-l", "app=shop");
    expect(pruned.out).toBe('Wake "web-queue" unchanged\nWake "api-queue" pruned\n');
    const { out } = await run("wake", "list");
    expect(
      ["api-queue", "by-hand", "of-others", "web-queue"].filter((name) => out.includes(name)),
    ).toEqual(["by-hand", "of-others", "web-queue"]);
  });

  it("are forgotten by delete -f", async () => {
    expect(await withFile(["delete"], WEB, "--dry-run")).toMatchObject({
      out: 'Wake "web-queue" deleted (dry run)\n',
    });
    expect(await withFile(["delete"], WEB)).toMatchObject({ out: 'Wake "web-queue" deleted\n' });
    expect((await withFile(["delete"], WEB)).err).toContain('Cannot find wake "web-queue"');
    expect(await withFile(["delete"], WEB, "--ignore-not-found")).toMatchObject({
      code: 0,
      out: "",
    });
  });

  it("are stored beside the autoscalers of the same files", async () => {
    const hpa = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: beside, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: beside }
  maxReplicas: 4
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } } }]
`;
    const both = await withFile(["apply"], WEB + hpa, "--cluster", "eu-1");
    expect(both).toMatchObject({ code: 0, err: "" });
    expect(both.out).toMatch(/^Wake "web-queue" created\n.*beside.* created\n$/s);
    const refused = await withFile(
      ["apply"],
      wake("not-stored") + hpa.replace("maxReplicas: 4", "maxReplicas: 0"),
      ...["--cluster", "eu-1"],
    );
    expect(refused.code).toBe(1);
    expect((await run("wake", "list")).out).not.toContain("not-stored");
  });
});
