import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

/** The browser of Debian. `.ci/run` says where tests in it were not run. */
export const CHROMIUM = "/usr/bin/chromium";
export const HAS_CHROMIUM = existsSync(CHROMIUM);

/**
 * What the tests use of playwright-core. Its own types bring the types of a browser into this
 * project, where `crypto` and others are those of Node.
 */
interface Located {
  first(): Located;
  locator(selector: string): Located;
  getByRole(role: Role, of?: { name?: string; level?: number; exact?: boolean }): Located;
  getByLabel(text: string): Located;
  waitFor(until?: { state: "detached" }): Promise<void>;
  count(): Promise<number>;
  fill(text: string): Promise<void>;
  click(): Promise<void>;
  isDisabled(): Promise<boolean>;
  inputValue(): Promise<string>;
  textContent(): Promise<string | null>;
  screenshot(options: { path: string }): Promise<unknown>;
}
type Role = "table" | "list" | "heading" | "link" | "searchbox" | "dialog" | "button" | "alert";
/** The protocol of the debugger: what a test asks of the memory of a tab. */
interface DebuggerSession {
  send(method: string): Promise<{ readonly usedSize?: number }>;
  detach(): Promise<void>;
}
export interface BrowserPage {
  on(event: "console", heard: (said: { type(): string; text(): string }) => void): void;
  on(event: "pageerror", heard: (error: Error) => void): void;
  /** A script that the debugger runs in each document before its own. */
  addInitScript(script: string): Promise<void>;
  goto(url: string): Promise<unknown>;
  url(): string;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  emulateMedia(media: { colorScheme: "light" | "dark" }): Promise<void>;
  /** JavaScript, which the debugger runs: the policy of a page lets no such script in. */
  evaluate<Value>(script: string): Promise<Value>;
  getByRole(role: Role, of?: { name?: string; level?: number; exact?: boolean }): Located;
  getByText(text: string): Located;
  locator(selector: string, of?: { hasText?: string }): Located;
  screenshot(options: { path: string }): Promise<unknown>;
  context(): { newCDPSession(page: BrowserPage): Promise<DebuggerSession> };
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
}
export interface Look {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
  readonly reducedMotion?: "reduce";
  readonly deviceScaleFactor?: number;
}
export interface BrowserTab {
  newPage(): Promise<BrowserPage>;
  setOffline(isOffline: boolean): Promise<void>;
  close(): Promise<void>;
}
export interface ChromiumBrowser {
  newContext(look?: Look): Promise<BrowserTab>;
  close(): Promise<void>;
}
interface Playwright {
  readonly chromium: {
    launch(options: { executablePath: string; args: readonly string[] }): Promise<ChromiumBrowser>;
  };
}

/** Chromium of root has no sandbox; it only ever opens what the caller serves. */
export const launchChromium = (): Promise<ChromiumBrowser> => {
  const { chromium }: Playwright = load("playwright-core");
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
};

const AXE = load.resolve("axe-core/axe.min.js");

/** What axe-core finds in a part of the page, with the element of each finding. */
export const faultsOf = async (
  page: BrowserPage,
  { within = "html", rules }: { within?: string; rules?: readonly string[] } = {},
): Promise<readonly string[]> => {
  if (!(await page.evaluate<boolean>("'axe' in window")))
    await page.evaluate(readFileSync(AXE, "utf8"));
  const options = rules ? { runOnly: { type: "rule", values: rules } } : {};
  return page.evaluate<readonly string[]>(
    `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`,
  );
};

/** The widths of the proof. The last is that of a zoom of 200 % on a screen of 1,280. */
const SIZES = [
  { width: 1_280, height: 800 },
  { width: 390, height: 844 },
  { width: 640, height: 400 },
] as const;

/**
 * What is wrong with what a tab shows, in each width and both themes: findings of axe-core, and a
 * page that is wider than the window. Another theme only changes colours.
 */
export const faultsInEachLook = async (
  page: BrowserPage,
  within?: string,
): Promise<readonly string[]> => {
  const part = within === undefined ? {} : { within };
  const found: string[] = [];
  for (const size of SIZES) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: "light" });
    const light = await faultsOf(page, part);
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await faultsOf(page, { ...part, rules: ["color-contrast"] });
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    const wide = width > size.width ? [`the page is ${width} px wide`] : [];
    const look = `at ${size.width} px`;
    found.push(...[...light, ...dark, ...wide].map((fault) => `${look}: ${fault}`));
  }
  return found;
};
