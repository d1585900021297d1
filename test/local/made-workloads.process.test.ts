import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { startCommand } from "../../lib/embedded/run/options.ts";
import { run } from "../../lib/embedded/run/run.ts";
import { inside } from "../cli/inside.ts";
import { start } from "./folder/starting.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DOCUMENTS = join(ROOT, "test/examples/documents");

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0).toReversed()) await each();
});

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-made-"));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

interface Status {
  readonly state: string;
  readonly currentReplicas?: number;
  readonly metrics?: readonly { readonly kind: string }[];
}

/** What `get` says of all autoscalers, by name. */
const standing = async (data: string): Promise<Readonly<Record<string, Status>>> => {
  const { code, out } = await inside(["get", "-A", "-o", "json", "--data", data]);
  const { items = [] } =
    code === 0
      ? (JSON.parse(out) as { items: { metadata: { name: string }; status: Status }[] })
      : {};
  return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status]));
};

/** Names of those that are in none of the states of an autoscaler that works. */
const wrong = (all: Readonly<Record<string, Status>>): readonly string[] =>
  Object.entries(all).flatMap(([name, { state }]) =>
    ["active", "limited", "held"].includes(state) ? [] : [`${name} ${state}`],
  );

/**
 * A sync each 75 ms: the next is soon there, and the run has time left for the commands beside it.
 * Its one load has no drop-out.
 */
const RUN = ["--speed", "200", "--manifest", join(ROOT, "examples/daily.yaml")];
/** A look is a command, which takes as much work as two syncs. */
const LOOKS = { interval: 200 } as const;

/** A run beside which commands act. */
const begin = (data: string, ...args: readonly string[]): void => {
  const stop = new AbortController();
  const terminal = { stream: process.stdout, write: () => {}, live: false };
  const running = startCommand((options) => run(options, terminal, stop)).parseAsync(
    [...args, "--data", data],
    { from: "user" },
  );
  undo.push(async () => {
    stop.abort();
    await running;
  });
};

const hpa = (name: string, target: string, more = ""): string => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: ${name}, namespace: shop${more} }
spec:
  scaleTargetRef: { ${target} }
  minReplicas: 1
  maxReplicas: 20
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } } }]
`;

/** Other recorded loads have drop-outs, in which an autoscaler is failing. */
const WITHOUT_GAPS = ", annotations: { tidemark.dev/simulated-trace: azurefn-squarewave-1m }";

describe("a simulated cluster", () => {
  it("has the kind that a manifest targets, and its autoscaler scales it", {
    timeout: 60_000,
  }, async () => {
    const folder = newFolder();
    const [data, file] = [join(folder, "data"), join(folder, "rollout.yaml")];
    writeFileSync(file, hpa("web", "apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web"));
    const printed = await start(
      "--manifest",
      file,
      "--data",
      data,
      "--for",
      "10m",
      "--speed",
      "100000",
    );
    expect(printed).toMatch(/shop\/web 2 → \d+ applied/);
    expect(wrong(await standing(data))).toEqual([]);
  });

  it("makes the workload of an autoscaler that is applied during a run, under the trace of its annotation, and has it at the next start", {
    timeout: 120_000,
  }, async () => {
    const folder = newFolder();
    const [data, file] = [join(folder, "data"), join(folder, "more.yaml")];
    const annotated = `, annotations: { tidemark.dev/simulated-trace: azurefn-squarewave-1m, tidemark.dev/simulated-replicas: "7" }`;
    const late = hpa("late", "apiVersion: apps/v1, kind: StatefulSet, name: late", annotated);
    writeFileSync(
      file,
      `${hpa("nope", "apiVersion: apps/v1, kind: Deployment, name: nope")}---\n${late}`,
    );
    begin(data, ...RUN);
    await expect
      .poll(async () => (await standing(data))["daily"]?.state, { ...LOOKS, timeout: 30_000 })
      .toBe("active");
    expect(await inside(["apply", "-f", file, "--data", data])).toMatchObject({ code: 0, err: "" });
    await expect
      .poll(async () => (await standing(data))["nope"], { ...LOOKS, timeout: 30_000 })
      .toMatchObject({ state: "active", currentReplicas: expect.any(Number) });
    await expect
      .poll(async () => wrong(await standing(data)), { ...LOOKS, timeout: 30_000 })
      .toEqual([]);
    const events = await inside(["events", "shop/late", "-o", "json", "--data", data]);
    expect(events.out).toMatch(/"from": ?7/);
    for (const each of undo.splice(1)) await each();
    const replicas = (await standing(data))["late"]?.currentReplicas;
    expect(await start("--data", data, "--for", "1m", "--speed", "100000")).toContain("Resumed");
    const after = await standing(data);
    expect([wrong(after), replicas]).toEqual([[], expect.any(Number)]);
  });

  it("scales kinds that came during a run from the next sync on, and goes on with the same manifests", {
    timeout: 120_000,
  }, async () => {
    const folder = newFolder();
    const data = join(folder, "data");
    begin(data, ...RUN);
    await expect
      .poll(async () => (await standing(data))["daily"]?.state, { ...LOOKS, timeout: 30_000 })
      .toBe("active");
    // The first brings its group, the second another kind of the same group. Both were asked for
    // before they were made.
    for (const [name, kind] of [
      ["first", "Rollout"],
      ["second", "Canary"],
    ] as const) {
      const file = join(folder, `${name}.yaml`);
      writeFileSync(
        file,
        hpa(name, `apiVersion: argoproj.io/v1alpha1, kind: ${kind}, name: ${name}`, WITHOUT_GAPS),
      );
      expect(await inside(["apply", "-f", file, "--data", data])).toMatchObject({
        code: 0,
        err: "",
      });
      await expect
        .poll(async () => (await standing(data))[name]?.state, { ...LOOKS, timeout: 15_000 })
        .toMatch(/^(active|limited|held)$/);
    }
    for (const each of undo.splice(1)) await each();
    const files = ["first", "second"].flatMap((name) => [
      "--manifest",
      join(folder, `${name}.yaml`),
    ]);
    expect(await start(...files, "--data", data, "--for", "1m", "--speed", "100000")).toContain(
      "Resumed",
    );
    expect(wrong(await standing(data))).toEqual([]);
  });

  it("leaves nothing failing of the examples, applied during a run", {
    timeout: 120_000,
  }, async () => {
    const data = join(newFolder(), "data");
    begin(data, ...RUN);
    await expect
      .poll(async () => (await standing(data))["daily"]?.state, { ...LOOKS, timeout: 30_000 })
      .toBe("active");
    // A note on what AWS takes for the queue of an example is printed, too.
    expect((await inside(["apply", "-f", join(ROOT, "examples"), "--data", data])).code).toBe(0);
    await expect
      .poll(async () => wrong(await standing(data)), { ...LOOKS, timeout: 60_000 })
      .toEqual([]);
    expect(Object.keys(await standing(data)).length).toBeGreaterThan(12);
  });

  // Within 5 and 10 minutes one of the recorded loads has a drop-out.
  it.each(readdirSync(DOCUMENTS))(
    "runs the example of a design document: %s",
    { timeout: 60_000 },
    async (file) => {
      const data = join(newFolder(), "data");
      await start(
        "--manifest",
        join(DOCUMENTS, file),
        "--data",
        data,
        "--for",
        "12m",
        "--speed",
        "100000",
      );
      const all = await standing(data);
      expect([Object.keys(all).length > 0, wrong(all)]).toEqual([true, []]);
      for (const { metrics = [] } of Object.values(all))
        expect(metrics.filter(({ kind }) => kind !== "measured")).toEqual([]);
    },
  );
});
