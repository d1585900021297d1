import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type SimulatedCluster,
  startSimulatedCluster,
} from "../../lib/embedded/cluster/simulated-cluster.ts";
import { demonstrationWorkloads } from "../../lib/embedded/run/world.ts";
import { startRunIn, tidemarkIn } from "./start-process.ts";

const CHECKOUT = fileURLToPath(new URL("../../examples/checkout.yaml", import.meta.url));
const SOON = ["--for", "1m", "--speed", "100000"];
let dir: string;
let here: string;
let cluster: SimulatedCluster;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-default-"));
  here = mkdtempSync(join(dir, "here-"));
  cluster = await startSimulatedCluster({
    dataDir: join(dir, "cluster"),
    clock: Date.now,
    seed: 1,
    workloads: await demonstrationWorkloads(),
  });
});
afterAll(async () => {
  await cluster.close();
  rmSync(dir, { recursive: true, force: true });
});

const start = (...args: readonly string[]) => startRunIn(here, args);
const get = () => tidemarkIn(here, ["get", "-o", "json"]);

describe("without --data", { timeout: 180_000 }, () => {
  it("each thing to run has a folder of its own, and the same command goes on in it", async () => {
    writeFileSync(join(here, "load.csv"), "timestamp,value\n1700000000,20\n1700000060,30\n");
    const commands = [
      [".tidemark", []],
      [".tidemark-load-checkout", ["--trace", "load.csv", "--manifest", CHECKOUT]],
      [".tidemark-seed-8", ["--seed", "8"]],
    ] as const;
    for (const [folder, args] of commands) {
      const { code, out, err } = await start(...args, ...SOON).ended;
      expect([code, err]).toEqual([0, ""]);
      expect(out).toMatch(new RegExp(`^Began at .*, in ".*/${folder}"$`, "m"));
    }
    const real = await start("--kubeconfig", cluster.kubeconfigPath, "--for", "1s").ended;
    expect([real.code, real.err]).toEqual([0, ""]);
    const [folder = ""] = readdirSync(here).filter(
      (name) => name.startsWith(".tidemark-") && !commands.some(([known]) => known === name),
    );
    expect(real.out).toContain(`npx tidemark apply -f FILE --data ${folder}\n`);
    const again = await start("--trace", "load.csv", "--manifest", CHECKOUT, ...SOON).ended;
    expect([again.code, again.out]).toEqual([
      0,
      expect.stringMatching(/^Resumed at .*, in ".*\/\.tidemark-load-checkout"$/m),
    ]);
  });

  it("a command chooses the run that is alive, and asks for --data where it would have to guess", async () => {
    expect(await get()).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^error: Cannot choose a data folder: no run is alive, and there are "\.tidemark", .*, of which "\.tidemark-load-checkout" was used last; name one with --data/,
      ),
    });
    const run = start("--seed", "8");
    await new Promise((resolve) => run.child.stdout?.once("data", resolve));
    expect(await get()).toMatchObject({ code: 0, err: "" });
    run.child.kill("SIGTERM");
    expect((await run.ended).code).toBe(0);
  });

  it("a context that is not the one of the folder's first start is refused: its autoscalers are of another cluster", async () => {
    const data = ["--data", join(dir, "real")];
    expect(
      (await start("--kubeconfig", cluster.kubeconfigPath, ...data, "--for", "1s").ended).code,
    ).toBe(0);
    const { code, err } = await start(
      "--kubeconfig",
      cluster.kubeconfigPath,
      "--context",
      "none",
      ...data,
    ).ended;
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /^error: Cannot continue in ".*real": it belongs to the context ".*" of its kubeconfig, not to "none"; for a run of its own: npm start -- --kubeconfig .* --context none --data .*real-2\n$/,
      ),
    ]);
  });

  it("an empty working directory is no data folder", async () => {
    const empty = mkdtempSync(join(dir, "empty-"));
    const { code, err } = await startRunIn(empty, ["--data", "."]).ended;
    expect([code, err]).toEqual([
      1,
      `error: Cannot use "${empty}": it is the working directory; name a new folder with --data\n`,
    ]);
    expect(existsSync(join(empty, "about.json"))).toBe(false);
    expect((await tidemarkIn(empty, ["get", "--data", ""])).code).toBe(1);
  });
});
