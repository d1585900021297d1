import Table from "cli-table3";
import { HAS_CHROMIUM, launchChromium } from "../dashboard/browser.ts";

/** What a person waits for in a browser, and what came over the wire for it. */
export interface BrowserLook {
  readonly name: string;
  readonly ms: number;
  readonly kib: number;
  /** The goal in milliseconds; absent where only the bytes have one. */
  readonly msMax?: number;
}

const KIB = 1_024;

/** Bytes of the answers that came since an instant of the page's own clock. */
const BYTES_SINCE = `(since) => performance.getEntriesByType("resource")
  .filter(({ startTime }) => startTime >= since)
  .reduce((sum, { transferSize }) => sum + transferSize, 0)`;

/**
 * Sets off a step in the page and waits until what it must show is drawn: a message that is sent
 * before the frame in which the check holds is drawn comes after it. Answers milliseconds by the
 * clock of the page.
 */
const TIMED = `async (step, check) => {
  const began = performance.now();
  step();
  do await new Promise(requestAnimationFrame); while (!check());
  await new Promise((drawn) => {
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = drawn;
    port1.postMessage("");
  });
  return { began, ms: performance.now() - began };
}`;

/** Notes when rows were drawn, the first and all: who looks from outside sees them later. */
const NOTED = `(() => {
  const look = (name, check) => {
    if (check()) requestAnimationFrame(() => performance.mark(name));
    else requestAnimationFrame(() => look(name, check));
  };
  look("first rows", () => document.querySelector(".row.line .name"));
  look("all rows", () => {
    const count = document.querySelector(".head .count")?.textContent ?? "so far";
    return !count.endsWith("so far");
  });
})()`;
/** The instant of such a note, and the bytes that had come by then. */
const NOTE = `(name) => {
  const [{ startTime: ms }] = performance.getEntriesByName(name);
  const bytes = performance.getEntries()
    .filter(({ responseEnd, transferSize }) => transferSize !== undefined && responseEnd <= ms)
    .reduce((sum, { transferSize }) => sum + transferSize, 0);
  return { ms, bytes };
}`;

interface Timed {
  readonly began: number;
  readonly ms: number;
}

const TYPED = `() => {
  const input = document.querySelector("input[type=search]");
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, WORDS);
  input.dispatchEvent(new Event("input", { bubbles: true }));
}`;

/** The page of a fleet in chromium: the table, a search, one autoscaler, and a refresh. */
export const lookInBrowser = async (
  url: string,
  { name, refreshMs }: { readonly name: string; readonly refreshMs: number },
): Promise<readonly BrowserLook[]> => {
  if (!HAS_CHROMIUM) return [];
  const browser = await launchChromium();
  try {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 840 } });
    const page = await context.newPage();
    const looks: BrowserLook[] = [];
    const bytesSince = (since: number) =>
      page.evaluate<number>(`(${BYTES_SINCE})(${since})`).then((bytes) => bytes / KIB);
    const timed = async (label: string, msMax: number, step: string, check: string) => {
      const { began, ms } = await page.evaluate<Timed>(`(${TIMED})(${step}, () => ${check})`);
      looks.push({ name: label, ms, msMax, kib: await bytesSince(began) });
    };
    await page.addInitScript(NOTED);
    await page.goto(url);
    await page.locator(".row.line .name").first().waitFor();
    await page.evaluate(
      `(async () => { while (!performance.getEntriesByName("all rows")[0]) await new Promise(requestAnimationFrame); })()`,
    );
    for (const { note, words, ...goal } of [
      { note: "first rows", words: "the first rows of the table", msMax: 1_500 },
      { note: "all rows", words: "all rows of the table" },
    ]) {
      const { ms, bytes } = await page.evaluate<{ ms: number; bytes: number }>(
        `(${NOTE})(${JSON.stringify(note)})`,
      );
      looks.push({ name: words, ms, kib: bytes / KIB, ...goal });
    }
    await timed(
      "a search among them",
      50,
      TYPED.replace("WORDS", JSON.stringify(name)),
      `document.querySelector(".tools .quiet").textContent !== ""`,
    );
    await timed(
      "one opened, with its charts and reasons",
      300,
      `() => document.querySelector(".row.line a").click()`,
      `document.querySelector(".why .outcome") && document.querySelector(".counts .current")`,
    );
    await page.goto(`${new URL(url).origin}/#/fleet`);
    await page.locator(".row.line .name").first().waitFor();
    const before = await page.evaluate<number>("performance.now()");
    await page.evaluate(`new Promise((done) => setTimeout(done, ${refreshMs * 2}))`);
    const ended = (await page.evaluate<number>("performance.now()")) - before;
    looks.push({
      name: `refreshes of the table in ${Math.round(ended / 1_000)} s`,
      ms: 0,
      kib: await bytesSince(before),
    });
    return looks;
  } finally {
    await browser.close();
  }
};

/** What was looked at as a table, or that there was no browser. */
export const browserTable = (looks: readonly BrowserLook[]): string => {
  if (looks.length === 0) return "NOT RUN: the page in a browser: no chromium";
  const table = new Table({
    head: ["in chromium", "ms", "at most", "KiB"],
    style: { head: [], border: [] },
    colAligns: ["left", "right", "right", "right"],
  });
  for (const { name, ms, msMax, kib } of looks)
    table.push([name, ms === 0 ? "" : ms.toFixed(0), msMax ?? "", kib.toFixed(1)]);
  return table.toString();
};
