import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStack } from "../../lib/command/stack-session.ts";
import type { DashboardSource } from "../../lib/dashboard/serve/server.ts";
import { NOON } from "../noon.ts";
import { callerOf, type RemoteWorld, remoteWorld } from "../remote/world.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { type ChromiumBrowser, faultsInEachLook, HAS_CHROMIUM, launchChromium } from "./browser.ts";
import { localSource, type Served, served } from "./world.ts";

/** Each state in which the page cannot show what was asked for, from the answers that bring it. */
describe.skipIf(!HAS_CHROMIUM)("a state of the page", () => {
  let stack: RemoteWorld;
  let empty: ServiceWorld;
  let browser: ChromiumBrowser;
  const open: Served[] = [];
  const waiting: (() => void)[] = [];
  beforeAll(async () => {
    stack = await remoteWorld();
    empty = await serviceWorld();
    browser = await launchChromium();
  });
  afterAll(async () => {
    for (const go of waiting) go();
    await browser?.close();
    for (const each of open) await each.close();
    await stack?.close();
    await empty?.close();
  });

  /** The page of a person over the function URLs of a stack. */
  const ofStack = (key: string, url = stack.url.url): DashboardSource => {
    const { dashboard } = openStack(
      { url, from: "--stack" },
      () => callerOf(key),
      () => NOON,
    );
    if (!dashboard) throw new Error("a stack has a page");
    return dashboard;
  };
  /** The API answers when the test has ended. */
  const slow = (): DashboardSource => {
    const source = localSource(empty);
    const go = new Promise<void>((resolve) => waiting.push(resolve));
    return { ...source, answerApi: (...request) => go.then(() => source.answerApi(...request)) };
  };

  const STATES: readonly {
    readonly state: string;
    readonly source: () => DashboardSource;
    readonly fragment: string;
    /** What a person reads: what it is, and what to do. */
    readonly words: readonly string[];
  }[] = [
    { state: "loading", source: slow, fragment: "#/fleet", words: ["Loading"] },
    {
      state: "empty, the fleet",
      source: () => localSource(empty),
      fragment: "#/fleet",
      words: ["There is no autoscaler yet", "tidemark apply -f FILE"],
    },
    {
      state: "empty, the clusters",
      source: () => localSource(empty),
      fragment: "#/clusters",
      words: ["There is no cluster yet", "tidemark cluster add NAME"],
    },
    {
      state: "empty, the schedules",
      source: () => localSource(empty),
      fragment: "#/schedule",
      words: ["Neither a schedule nor an override is set", "spec.schedule"],
    },
    {
      state: "no right to the schedules",
      source: () => ofStack("MALLORY"),
      fragment: "#/schedule",
      words: ["No right to this", "tidemark access grant"],
    },
    {
      state: "empty, the changes",
      source: () => localSource(empty),
      fragment: "#/changes",
      words: ["Nothing was edited in the last 30 days"],
    },
    {
      state: "error",
      source: () => ofStack("ADA", "http://127.0.0.1:9"),
      fragment: "#/fleet",
      words: ["The answer failed", "The page asks again by itself"],
    },
    {
      state: "refused",
      source: () => ofStack("ADA"),
      fragment: "#/autoscaler/eu-1/shop/web?since=2099-01-01T00:00:00Z&until=2099-01-02T00:00:00Z",
      words: ["The request was refused", "that is a future time"],
    },
    {
      state: "not there",
      source: () => ofStack("ADA"),
      fragment: "#/autoscaler/eu-1/shop/nothing",
      words: ["There is no such thing", "It may have been deleted or renamed"],
    },
    {
      state: "no right",
      source: () => ofStack("MALLORY"),
      fragment: "#/fleet",
      words: ["No right to this", "may not call it", "tidemark access grant"],
    },
    {
      state: "starting",
      source: () => ({ ...localSource(empty), isReady: () => false }),
      fragment: "#/fleet",
      words: ["The run is starting", "The page asks again by itself"],
    },
  ];

  it.each(STATES)(
    "$state: says what it is and what to do, for axe-core too",
    { timeout: 60_000 },
    async ({ state, source, fragment, words }) => {
      const site = await served(source());
      open.push(site);
      const context = await browser.newContext({ reducedMotion: "reduce" });
      const page = await context.newPage();
      await page.goto(`${site.origin}/#token=${site.token}`);
      await page.getByText("Tidemark").first().waitFor();
      await page.goto(`${site.origin}/${fragment}`);
      for (const text of words) await page.locator("main", { hasText: text }).first().waitFor();
      if (state !== "loading") {
        await page.locator(".loading").first().waitFor({ state: "detached" });
      }
      const { STATE_PICTURES: folder } = process.env;
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${words[0]}.png` });
      expect(await faultsInEachLook(page)).toEqual([]);
      await context.close();
    },
  );
});
