import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Explanation } from "../../lib/answers/views/autoscaler.ts";
import { outcomeText } from "../../lib/answers/words/decision-words.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../lib/rules/model/time-text.ts";
import { tidemark } from "../e2e/start-process.ts";
import { type BrowserPage, CHROMIUM, HAS_CHROMIUM, launchChromium } from "./browser.ts";

/**
 * `npm run prove -- watched`: a run at speed 600 with its page open in a browser. The counts of the
 * page must be those of `tidemark get -o json` at the same instant, the explanations those of
 * `tidemark explain --at`, the run must end by itself, and the tab must not grow: its heap after a
 * garbage collection, and the elements of its document. `--hours` makes the run longer.
 */
const { values } = parseArgs({
  options: {
    hours: { type: "string", default: "2" },
    speed: { type: "string", default: "600" },
    autoscalers: { type: "string", default: "30" },
    seed: { type: "string", default: "7" },
  },
});
const HOURS = Number(values.hours);
const CLUSTERS = 3;
const BEGIN = "2026-01-05T08:00:00Z";
const EXPLAINED = 5;
/** What a collection leaves differs from time to time by this much. */
const GROWTH_MAX = 1.1;
const TRIES = 60;
/** Looks in a row at which the page says that its server does not answer. */
const SILENT_MAX = 20;
/** After these a run must have ended, though its page is open. */
const EXIT_MS = 20_000;
const TRY_MS = 500;

const [START, TIDEMARK] = ["lib/embedded/start.ts", "bin/tidemark.js"].map((file) =>
  fileURLToPath(new URL(`../../${file}`, import.meta.url)),
);

const ROWS = `[...document.querySelectorAll(".row.line")].map((line) => [
  line.querySelector(".name a").textContent,
  line.querySelector(".replicas b").textContent,
])`;
const IS_STALE = `document.querySelector(".asof.stale") !== null`;
const AS_OF = `document.querySelector(".asof time")?.dateTime ?? ""`;

const faults: string[] = [];
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Heap {
  readonly bytes: number;
  readonly elements: number;
}

const heapOf = async (page: BrowserPage): Promise<Heap> => {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize = 0 } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  const elements = await page.evaluate<number>("document.querySelectorAll('*').length");
  return { bytes: usedSize, elements };
};

const KIB = 1_024;
const heapText = ({ bytes, elements }: Heap): string =>
  `${Math.round(bytes / KIB)} KiB and ${elements} elements`;

/** A process that serves a page, with the address that it prints. */
const serving = async (
  file: string | undefined,
  args: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly url: string }> => {
  const child = spawn(process.execPath, [file ?? "", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // What it says after its address is read too, so that its pipe does not fill.
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (part: Buffer) => {
      if (said.length < KIB * KIB) said += part;
      const [found] = /http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`It ended without an address: ${said}`)));
  });
  return { child, url };
};

/** Reads until the value is wanted, or the time is over. */
const until = async <Value>(
  read: () => Promise<Value>,
  isWanted: (value: Value) => boolean,
): Promise<Value> => {
  for (let left = TRIES; ; left--) {
    const value = await read();
    if (isWanted(value) || left === 0) return value;
    await wait(TRY_MS);
  }
};

const jsonOf = async (data: string, args: readonly string[]): Promise<unknown> => {
  const { code, out, err } = await tidemark([...args, "--data", data, "-o", "json"]);
  if (code !== 0) throw new Error(`tidemark ${args.join(" ")} ended with ${code}: ${err}`);
  return JSON.parse(out);
};

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly namespace: string };
    readonly status: { readonly currentReplicas?: number };
  }[];
}

/** Watches the run until it ends; the heap of the tab at these hours of it. */
const watchRun = async (page: BrowserPage, child: ChildProcess): Promise<readonly Heap[]> => {
  const seen = new Set<string>();
  const heaps: Heap[] = [];
  const hours = [0.5, HOURS / 2, HOURS * 0.9];
  // Its page is gone before the process is, which then prints its summary.
  for (let silent = 0; child.exitCode === null && silent < SILENT_MAX; ) {
    silent = (await page.evaluate<boolean>(IS_STALE)) ? silent + 1 : 0;
    const atMs = Date.parse(await page.evaluate<string>(AS_OF));
    for (const row of await page.evaluate<readonly string[][]>(ROWS)) seen.add(row.join(" "));
    const passedMs = atMs - Date.parse(BEGIN);
    const next = hours[heaps.length];
    if (next !== undefined && passedMs >= next * HOUR_MS) {
      heaps.push(await heapOf(page));
      say(`after ${Math.round(passedMs / MINUTE_MS)} min: ${heapText(heaps.at(-1) as Heap)}`);
    }
    await wait(TRY_MS);
  }
  say(`${seen.size} different counts were seen in the table while it ran`);
  if (seen.size <= Number(values.autoscalers)) faults.push("hardly a count changed");
  return heaps;
};

const compareCounts = async (page: BrowserPage, listed: Listed): Promise<void> => {
  const wanted = new Map(
    listed.items.map(({ metadata, status }) => [
      metadata.name,
      String(status.currentReplicas ?? "unknown"),
    ]),
  );
  const shown = await until(
    () => page.evaluate<readonly [string, string][]>(ROWS),
    (rows) => rows.length === wanted.size,
  );
  for (const [name, count] of shown)
    if (wanted.get(name) !== count)
      faults.push(`${name}: the page shows ${count}, get shows ${wanted.get(name)}`);
  if (shown.length !== wanted.size)
    faults.push(`the page shows ${shown.length} rows, get shows ${wanted.size}`);
  say(`${shown.length} counts compared with tidemark get -o json`);
};

/** Explanations over the whole run, as the command has them. */
const explanationsOf = async (data: string, { items }: Listed): Promise<readonly Explanation[]> => {
  const explained: Explanation[] = [];
  for (let nth = 0; nth < EXPLAINED; nth++) {
    const item = items[Math.floor((nth * items.length) / EXPLAINED)];
    if (!item) continue;
    const { name, namespace } = item.metadata;
    const atMs = Date.parse(BEGIN) + Math.round(((nth + 0.5) * HOURS * HOUR_MS) / EXPLAINED);
    const at = new Date(atMs).toISOString();
    const answer = await jsonOf(data, ["explain", `${namespace}/${name}`, "--at", at]);
    explained.push(answer as Explanation);
  }
  return explained;
};

const TEXTS = `(selector) => [...document.querySelectorAll(selector)].map((one) => one.textContent)`;

const compareExplanations = async (
  page: BrowserPage,
  explained: readonly Explanation[],
): Promise<void> => {
  const origin = await page.evaluate<string>("location.origin");
  for (const wanted of explained) {
    const { cluster, namespace, name, decision, steps, metrics } = wanted;
    const at = encodeURIComponent(decision.at);
    await page.goto(`${origin}/#/autoscaler/${cluster}/${namespace}/${name}?at=${at}`);
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    await page.locator(".why .outcome").first().waitFor();
    for (const [selector, words] of [
      [".why .outcome", [outcomeText(wanted)]],
      [".why .message strong", [decision.reason]],
      [".steps .step", steps.map(({ step }) => step)],
      [".measured > .name", metrics.map((metric) => metric.name)],
    ] as const) {
      const read = () =>
        page.evaluate<readonly string[]>(`(${TEXTS})(${JSON.stringify(selector)})`);
      const isSame = (texts: readonly string[]): boolean =>
        words.every((word, nth) => texts[nth] === word);
      const shown = await until(read, isSame);
      if (!isSame(shown))
        faults.push(`${name} at ${decision.at}: ${selector} is ${shown}, explain says ${words}`);
    }
  }
  say(`${explained.length} explanations compared with tidemark explain --at`);
};

/** A run ends by itself when its time has passed, and says so by its exit code. */
const endedByItself = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null)
    await Promise.race([once(child, "exit"), wait(EXIT_MS, undefined, { ref: false })]);
  if (child.exitCode === null)
    faults.push(`the run has not ended ${EXIT_MS / SECOND_MS} s after its page was gone`);
  else if (child.exitCode !== 0) faults.push(`the run ended with ${child.exitCode}`);
  else say("the run ended by itself, with its page open");
};

const endedProcess = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return;
  child.kill("SIGINT");
  await once(child, "exit");
};

const main = async (): Promise<void> => {
  if (!HAS_CHROMIUM) throw new Error(`Cannot watch a run: there is no ${CHROMIUM}`);
  const data = mkdtempSync(join(tmpdir(), "tidemark-watched-"));
  const browser = await launchChromium();
  const children: ChildProcess[] = [];
  try {
    const run = await serving(START, [
      ...["--data", data, "--speed", values.speed, "--for", `${HOURS}h`, "--seed", values.seed],
      ...["--begin", BEGIN],
      ...["--clusters", String(CLUSTERS), "--autoscalers", values.autoscalers],
    ]);
    children.push(run.child);
    const tab = await browser.newContext({ viewport: { width: 1_280, height: 2_400 } });
    const page = await tab.newPage();
    await page.goto(run.url);
    await page.locator(".row.line").first().waitFor();
    const heaps = await watchRun(page, run.child);
    await endedByItself(run.child);
    await endedProcess(run.child);
    const [early, late] = [heaps[0], heaps.at(-1)];
    if (!early || !late || heaps.length < 2)
      faults.push("the run ended before the heap was measured twice");
    else if (late.bytes > early.bytes * GROWTH_MAX || late.elements > early.elements * GROWTH_MAX)
      faults.push(`the tab grew from ${heapText(early)} to ${heapText(late)}`);
    // The folder of a run that has ended stands still, so that the commands, which are asked first,
    // and the page are of the same instant.
    const listed = (await jsonOf(data, ["get"])) as Listed;
    const explained = await explanationsOf(data, listed);
    const still = await serving(TIDEMARK, ["dashboard", "--data", data]);
    children.push(still.child);
    await page.goto(still.url);
    await page.locator(".row.line").first().waitFor();
    await compareCounts(page, listed);
    await compareExplanations(page, explained);
  } finally {
    await browser.close();
    for (const child of children) await endedProcess(child);
    rmSync(data, { recursive: true, force: true });
  }
  for (const fault of faults) say(`FAULT: ${fault}`);
  say(faults.length === 0 ? "the page equals the commands, and the tab does not grow" : "failed");
  process.exitCode = faults.length === 0 ? 0 : 1;
};

await main();
