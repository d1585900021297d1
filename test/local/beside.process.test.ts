import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { inside } from "../cli/inside.ts";
import { type Started, startRun } from "../e2e/start-process.ts";
import { refusal } from "./folder/starting.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/migrating.md"), "utf8");
/** The commands of the page for the second terminal, without `npx tidemark`. */
const COMMANDS = (
  /### A rehearsal\n[\s\S]*?```sh\n[\s\S]*?```[\s\S]*?```sh\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? ""
)
  .split("\n")
  .filter((line) => line.startsWith("npx tidemark "))
  .map((line) => line.replace("npx tidemark ", ""));

/** A sync each 750 ms, so that a person could act between two of them. */
const SPEED = "20";
const WAIT_MAX_MS = 60_000;

interface Rehearsal {
  readonly beside: "hpa" | "wpa" | "keda";
  /** What the page calls shop/crowd. */
  readonly path: string;
  readonly imported: string;
  readonly rested: string;
  readonly wentOn: string;
}

const REHEARSALS: readonly Rehearsal[] = [
  {
    beside: "hpa",
    path: "shop/crowd",
    imported: 'HorizontalPodAutoscaler "crowd" in namespace "shop" of cluster "local" created',
    rested: 'HorizontalPodAutoscaler "crowd" deleted',
    wentOn: 'HorizontalPodAutoscaler "crowd" made again',
  },
  {
    beside: "wpa",
    path: "documents/watermark",
    imported:
      'WatermarkPodAutoscaler "watermark" in namespace "documents" of cluster "local" created',
    rested: 'WatermarkPodAutoscaler "watermark" set to a dry run',
    wentOn: 'WatermarkPodAutoscaler "watermark" taken out of its dry run',
  },
  {
    beside: "keda",
    path: "shop/orders",
    imported: 'HorizontalPodAutoscaler "orders" in namespace "shop" of cluster "local" created',
    rested: 'ScaledObject "orders" paused',
    wentOn: 'ScaledObject "orders" resumed',
  },
];

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0).toReversed()) await each();
});

const begin = (beside: string) => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-beside-"));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, "data");
  const start = (): Started => {
    const run = startRun(["--beside", beside, "--speed", SPEED, "--data", data]);
    undo.push(async () => {
      run.child.kill("SIGKILL");
      await run.ended;
    });
    return run;
  };
  const run = start();
  /** A command of the page, on this folder. */
  const tidemark = (line: string) =>
    inside([...line.replaceAll(".tidemark-beside-hpa", data).split(" "), "--data", data]);
  const stateOf = async (): Promise<readonly string[]> => {
    const { code, out } = await tidemark("get -o json");
    const { items = [] } = code === 0 ? JSON.parse(out) : {};
    return items.map(({ status }: { readonly status: { readonly state: string } }) => status.state);
  };
  const until = async (isTrue: () => Promise<boolean>): Promise<void> => {
    const untilMs = performance.now() + WAIT_MAX_MS;
    while (!(await isTrue())) {
      if (performance.now() > untilMs)
        throw new Error(
          `it did not come true in ${WAIT_MAX_MS / 1_000} s; the states are ${await stateOf()}`,
        );
      await wait(200);
    }
  };
  const isInShadow = async (): Promise<boolean> =>
    (await stateOf()).every((state) => state === "shadow");
  return { data, run, start, tidemark, until, stateOf, isInShadow };
};

/** The API server must be up, and KEDA have made its HPA. */
const imported = async (
  { tidemark, until, isInShadow }: ReturnType<typeof begin>,
  line: string,
): Promise<string> => {
  let out = "";
  await until(async () => {
    const said = await tidemark(line);
    out = said.out;
    return said.code === 0 && out.includes("created");
  });
  await until(isInShadow);
  return out;
};

describe("npm start -- --beside", () => {
  it("has the commands of the page", () => {
    expect(COMMANDS.map((line) => line.split(" ")[0])).toEqual([
      "import",
      "shadow",
      "takeover",
      "handback",
    ]);
  });

  it.each(REHEARSALS)(
    "rehearses the whole migration beside $beside, as the page says",
    { timeout: 180_000 },
    async (rehearsal) => {
      const begun = begin(rehearsal.beside);
      const { run, tidemark, until, isInShadow, stateOf } = begun;
      const [first = "", shadow = "", takeover = "", handback = ""] = COMMANDS.map((line) =>
        line.replace("shop/crowd", rehearsal.path),
      );
      expect(await imported(begun, first)).toContain(rehearsal.imported);
      await until(async () => /"syncs": [1-9]/.test((await tidemark(`${shadow} -o json`)).out));
      const compared = await tidemark(shadow);
      // A load that moves may have the two differ in a first sync: then the verdict is "look at".
      expect(compared.out).toMatch(/^ready: \d+, look at: \d+(?:, too early: \d+)?$/m);
      const taken = await tidemark(takeover);
      // Where the two want different counts at this instant it waits, and says so.
      expect(taken).toMatchObject({
        code: 0,
        err: expect.stringMatching(/^(?:"\S+" waits: [^\n]*\n)*$/),
      });
      expect(taken.out).toContain(`taken over at`);
      expect(taken.out).toContain(rehearsal.rested);
      expect((await stateOf()).some((state) => state === "active" || state === "limited")).toBe(
        true,
      );
      const back = await tidemark(handback);
      expect(back).toMatchObject({ code: 0, err: "" });
      expect(back.out).toContain(
        `handed back: ${rehearsal.wentOn}, and the autoscaler is in its shadow`,
      );
      await until(isInShadow);
      run.child.kill("SIGINT");
      expect(await run.ended).toMatchObject({ code: 0, err: "" });
    },
  );

  it("undoes a takeover whose autoscaler is paused while its syncs are watched: the HPA is made again, and the autoscaler is paused", {
    timeout: 120_000,
  }, async () => {
    const begun = begin("hpa");
    const { tidemark, until } = begun;
    const [first = "", , takeover = ""] = COMMANDS;
    await imported(begun, first);
    const taking = tidemark(takeover);
    await until(async () => (await tidemark("changes shop/crowd")).out.includes("takeover"));
    expect(await tidemark("pause shop/crowd")).toMatchObject({ code: 0 });
    const { code, err } = await taking;
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(
        'it is paused; the autoscaler was paused, and HorizontalPodAutoscaler "crowd" was made again',
      ),
    ]);
    const { out } = await tidemark("get shop/crowd -o json");
    expect(JSON.parse(out)).toMatchObject({ status: { paused: { by: "ada" } } });
  });

  it("goes on beside the controller at the next start, and does not make an HPA again that was taken over", {
    timeout: 120_000,
  }, async () => {
    const begun = begin("hpa");
    const { run, start, tidemark, until, stateOf } = begun;
    const [first = "", , takeover = ""] = COMMANDS;
    await imported(begun, first);
    expect(await tidemark(takeover)).toMatchObject({ code: 0 });
    run.child.kill("SIGKILL");
    await run.ended;
    start();
    await until(
      async () =>
        (await tidemark("status")).out.includes("whose run is alive") ||
        (await stateOf()).length === 3,
    );
    await wait(3_000);
    expect((await stateOf()).filter((state) => state === "shadow")).toHaveLength(2);
  });

  it("is refused with a cluster of your own, with the rules of another folder, and where one kind would have two readers", async () => {
    expect(await refusal("--beside", "hpa", "--kubeconfig", "config")).toContain(
      "Cannot use --beside hpa with --kubeconfig",
    );
    expect(await refusal("--beside", "wpa", "--specs", "cluster")).toContain(
      "Cannot use --beside wpa with --specs cluster",
    );
    expect(await refusal("--beside", "vpa")).toContain("vpa");
  });
});
