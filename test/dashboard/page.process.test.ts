import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dollarsOfCluster } from "../../lib/answers/cost/bill.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { HOUR_MS } from "../../lib/rules/model/time-text.ts";
import { type Route, routeOf } from "../../lib/dashboard/page/route.ts";
import { pageFiles } from "../../lib/dashboard/serve/page-files.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { hpa } from "../service/world/manifests.ts";
import { fillShop } from "../service/world/shop.ts";
import { NOON } from "../noon.ts";
import {
  type BrowserPage,
  type BrowserTab,
  type ChromiumBrowser,
  faultsInEachLook,
  faultsOf,
  HAS_CHROMIUM,
  launchChromium,
  type Look,
} from "./browser.ts";
import { COMPARED, storeCompared } from "./compared.ts";
import { applyScheduled } from "./scheduled.ts";
import { localSource, type Served, served } from "./world.ts";

/** Text that would be markup, a script or another order of letters where it is not shown as text. */
const HOSTILE = "<img src=x onerror=alert(1)>\"'&{{x}}";

const OWNED = `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: owned, namespace: shop }
spec:
  owner: team-checkout
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: owned }
  minReplicas: 1
  maxReplicas: 9
  metrics: [{ resource: { name: cpu }, target: 60 }]
`;

const PERIOD_MS = 15_000;
/** As the page of a test is refreshed (world.ts). */
const REFRESH_MS = 2_000;

/** More than there are places before the parts of an autoscaler. */
const KEY_PRESSES_MAX = 60;

describe.skipIf(!HAS_CHROMIUM)("the page in a browser", () => {
  let world: ServiceWorld;
  let service: Service;
  let site: Served;
  let browser: ChromiumBrowser;
  beforeAll(async () => {
    world = await serviceWorld();
    await fillShop(world);
    world.set(NOON);
    service = openService({ ...world.context, clock: () => NOON });
    const owner = `  annotations:\n    tidemark.dev/owner: ${JSON.stringify(HOSTILE)}\n`;
    const text = hpa("hostile", { namespace: "shop" }).replace("spec:\n", `${owner}spec:\n`);
    await service.apply([{ file: "hostile.yaml", text }], { cluster: "eu-1", dryRun: false });
    await applyScheduled(service, "eu-1", NOON);
    site = await served(localSource(world));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await world?.close();
  });

  interface Opened {
    readonly page: BrowserPage;
    readonly context: BrowserTab;
    /** What the console said, and what the policy of the page refused. */
    readonly said: readonly string[];
  }

  const opened = async (fragment: string, look: Look = {}, on = site): Promise<Opened> => {
    const context = await browser.newContext({
      viewport: { width: 1_280, height: 800 },
      reducedMotion: "reduce",
      ...look,
    });
    const page = await context.newPage();
    const said: string[] = [];
    page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", ({ message }) => said.push(message));
    await page.goto(`${on.origin}/#token=${on.token}`);
    await page.getByRole("table", { name: "Autoscalers" }).waitFor();
    if (fragment !== "") await page.goto(`${on.origin}/${fragment}`);
    return { page, context, said };
  };

  const SHOWN = [
    { fragment: "#/fleet", heading: "Fleet" },
    { fragment: "#/clusters", heading: "Clusters" },
    { fragment: "#/schedule", heading: "Schedule" },
    { fragment: "#/changes", heading: "Changes" },
    { fragment: "#/autoscaler/eu-1/shop/web", heading: "web" },
    { fragment: "#/autoscaler/eu-1/shop/office/schedule", heading: "office" },
  ] as const;
  it.each(SHOWN)(
    "$fragment: nothing for axe-core, no error and no refusal of the policy, in both themes and each width",
    async ({ fragment, heading }) => {
      const { page, context, said } = await opened(fragment);
      await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
      expect(await faultsInEachLook(page)).toEqual([]);
      expect(said).toEqual([]);
      await context.close();
    },
  );

  it("has nothing for axe-core in any part of an autoscaler, in both themes and each width", async () => {
    const { page, context, said } = await opened("#/autoscaler/eu-1/shop/web");
    const parts = page.locator('nav[aria-label="Parts of this autoscaler"] a');
    await parts.first().waitFor();
    const links = await page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('nav[aria-label="Parts of this autoscaler"] a')].map((link) => link.hash)`,
    );
    expect(links.length).toBeGreaterThan(8);
    for (const link of links) {
      await page.goto(`${site.origin}/${link}`);
      await page.locator(`.tabs a[aria-current="page"][href="${link}"]`).waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
      expect(await faultsInEachLook(page, ".more"), link).toEqual([]);
    }
    expect(said).toEqual([]);
    await context.close();
  });

  it("leads from each thing that needs a person to the rows that it is about", async () => {
    const own = ["shop/web", "shop/api", "shop/late", "shop/office", "infra/web"];
    const names = own.map((name) => `eu-1/${name}`);
    for (const name of names) await service.pause({ name });
    await service.freeze("a test");
    const { page, context } = await opened("");
    const needs = page.locator(".needs li");
    await page.getByText("The fleet was frozen").first().waitFor();
    const more = page.locator(".needs .all");
    await more.click();
    const count = await needs.count();
    expect(count).toBeGreaterThan(6);
    expect(await page.locator(".needs li button").count()).toBe(count);
    const neverSynced = page.locator(".needs li", { hasText: '"us-1/default" was never synced' });
    await neverSynced.getByRole("button", { name: "Show" }).click();
    await page.getByRole("link", { name: "jobs", exact: true }).waitFor();
    expect(await page.locator(".row.line").count()).toBe(1);
    for (const name of names) await service.resume({ name });
    await service.thaw();
    await context.close();
  });

  it("shows the counts of the service, and filters and orders by the address", async () => {
    const { page, context } = await opened("#/fleet?q=shop%2Fweb");
    await page.getByRole("link", { name: "web", exact: true }).waitFor();
    const view = await service.get({ cluster: "eu-1", namespace: "shop", name: "web" });
    const count = view.currentReplicas ?? view.lastKnown?.replicas ?? "unknown";
    const cell = page.locator(".line", { hasText: "web" }).first().locator(".replicas b");
    expect(await cell.textContent()).toBe(String(count));
    await page.getByRole("searchbox").fill("nothing-has-this-name");
    await page.getByText("No autoscaler is like this").waitFor();
    expect(page.url()).toContain("q=nothing-has-this-name");
    await context.close();
  });

  it("shows the schedule of two weeks: lanes, what is left out, the clock, overrides, and a table", async () => {
    const { page, context, said } = await opened("#/autoscaler/eu-1/shop/office/schedule");
    await page.getByText("Bounds of the next two weeks").first().waitFor();
    const { lanes, changes } = await service.schedule({
      ...{ cluster: "eu-1", namespace: "shop", name: "office", most: 200 },
      fromMs: Date.parse("2026-03-01T00:00:00Z"),
    });
    const windows = lanes.flatMap((lane) => lane.windows);
    const leftOut = windows.filter(({ exceptedBy }) => exceptedBy !== undefined).length;
    expect(leftOut).toBe(1);
    expect(await page.locator(".schedule .out").count()).toBe(leftOut);
    expect(await page.locator(".schedule .window").count()).toBe(windows.length - leftOut);
    expect(await page.locator(".schedule .override").count()).toBe(1);
    const ahead = changes.filter(
      ({ at }) => Date.parse(at) > NOON && Date.parse(at) < Date.parse("2026-03-15T00:00:00Z"),
    );
    // The change of the clock and the window that is left out have a row each.
    expect(await page.locator(".rows tbody tr").count()).toBe(ahead.length + 2);
    for (const words of [
      "the clock of America/New_York goes from -05:00 to -04:00",
      'the window of "office" is left out: the calendar us has its date',
    ])
      expect(await page.locator(".rows td", { hasText: words }).count(), words).toBe(1);
    expect(said).toEqual([]);
    await context.close();
  });

  it("shows the schedules of the fleet and every override on one axis, each autoscaler with a link to its own", async () => {
    const fleetWide = await service.setOverride({
      ...{ fleet: true, max: 30, reason: "a quota", untilMs: NOON + 48 * HOUR_MS },
    });
    const { page, context, said } = await opened("#/schedule");
    const lanes = page.locator(".fleet-schedule .lane");
    await page.locator(".fleet-schedule .window").first().waitFor();
    await page.getByText("1 autoscaler with a schedule").first().waitFor();
    const { lanes: entries } = await service.schedule({
      ...{ cluster: "eu-1", namespace: "shop", name: "office" },
      fromMs: Date.parse("2026-03-01T00:00:00Z"),
    });
    const all = await Array.fromAsync(service.overrides({}));
    expect(await lanes.count()).toBe(all.length + entries.length);
    for (const words of ["the fleet", 'autoscaler "eu-1/shop/office"', "a quota", "TV spot"])
      expect(await page.locator(".fleet-schedule", { hasText: words }).count(), words).toBe(1);
    const asked = await page.evaluate<readonly string[]>(
      `performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)`,
    );
    expect(asked.filter((path) => path.endsWith("schedule") || path.endsWith("schedules"))).toEqual(
      ["/v1/schedules"],
    );
    await page
      .getByText("the clock of America/New_York goes from -05:00 to -04:00")
      .first()
      .waitFor();
    await page.locator("section h2").getByRole("link", { name: "office", exact: true }).click();
    await page.getByText("Bounds of the next two weeks").first().waitFor();
    await service.clearOverride({ id: fleetWide.override.id });
    expect(said).toEqual([]);
    await context.close();
  });

  it("shows of each cluster its autoscalers, what it adds to the bill, and the rules it decides by", async () => {
    const { page, context } = await opened("#/clusters");
    const line = page.locator("tr", { hasText: "eu-1" }).first();
    await page.getByText("$").first().waitFor();
    const views = await Array.fromAsync(service.autoscalers({ cluster: "eu-1" }));
    const dollars = dollarsOfCluster({
      ...{ autoscalers: views.length, partitions: 1, periodSeconds: 15, hasSecret: false },
    });
    for (const [head, words] of [
      ["Autoscalers", String(views.length)],
      ["A month", `$${dollars.toFixed(2)}`],
      ["Kubernetes", "unknowndecides as 1.37"],
    ])
      expect(await line.locator(`[data-head="${head}"]`).textContent(), head).toBe(words);
    await context.close();
  });

  it("leads from an edit to its autoscaler, in the hour around it", async () => {
    const { page, context, said } = await opened("");
    const edited = page.getByRole("link", { name: '"eu-1/shop/late"', exact: true });
    const past = async (): Promise<Route["parameters"]> => {
      await page.goto(`${site.origin}/#/changes`);
      await edited.first().click();
      await page.getByRole("heading", { level: 1, name: "late", exact: true }).waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
      return routeOf(new URL(page.url()).hash).parameters;
    };
    // Of the edit of this instant the half hour after it is still ahead.
    await service.pause({ name: "eu-1/shop/late" });
    await service.resume({ name: "eu-1/shop/late" });
    expect(await past()).toEqual({});
    await page.goto(`${site.origin}/#/changes`);
    await page.getByRole("link", { name: '"us-1/batch/jobs"', exact: true }).first().click();
    await page.locator('nav[aria-label="Parts of this autoscaler"]').first().waitFor();
    const { since = "", until = "" } = routeOf(new URL(page.url()).hash).parameters;
    expect([since, until]).not.toContain("");
    expect(Date.parse(until) - Date.parse(since)).toBe(HOUR_MS);
    expect(said).toEqual([]);
    await context.close();
  });

  it("compares what Tidemark and the controller beside it wanted, sync by sync", async () => {
    const other = await serviceWorld();
    await fillShop(other);
    const endMs = await storeCompared(other, NOON + PERIOD_MS);
    const beside = await served(localSource(other, endMs));
    const place = `#/autoscaler/eu-1/shop/${COMPARED.name}/compare?range=10m`;
    const { page, context, said } = await opened(place, {}, beside);
    const lines = page.locator(".more .rows tbody tr");
    await lines.first().waitFor();
    const queries = openService({ ...other.context, clock: () => endMs });
    const { stretches, agreed, syncs } = await queries.shadow({
      ...{ ...COMPARED, sinceMs: endMs - HOUR_MS / 6, untilMs: endMs },
    });
    const differ = stretches.filter(({ difference }) => difference !== undefined);
    expect(differ.length).toBeGreaterThan(1);
    expect(await lines.count()).toBe(differ.length);
    const [first] = differ;
    expect(await lines.first().locator('[data-head="Tidemark wants"]').textContent()).toBe(
      String(first?.own),
    );
    expect(await lines.first().locator('[data-head="The other wants"]').textContent()).toBe(
      String(first?.rival),
    );
    await page.getByText(`of ${syncs} syncs agreed`).first().waitFor();
    expect(agreed).toBeLessThan(syncs);
    expect(await faultsInEachLook(page, ".more")).toEqual([]);
    expect(said).toEqual([]);
    await context.close();
    await beside.close();
    await other.close();
  });

  it("draws below the charts the overrides that were in force", async () => {
    const earlier = openService({ ...world.context, clock: () => NOON - HOUR_MS / 2 });
    const { override } = await earlier.setOverride({
      ...{ cluster: "eu-1", namespace: "shop", name: "web", max: 12, reason: "a sale" },
      untilMs: NOON + HOUR_MS,
    });
    const { page, context, said } = await opened("#/autoscaler/eu-1/shop/web");
    const bar = page.locator(".set-lanes .override");
    await bar.first().waitFor();
    await page.getByText("max 12, by ada: a sale").first().waitFor();
    const share = await page.evaluate<number>(
      "document.querySelector('.set-lanes .override').width.baseVal.value / document.querySelector('.set-lanes svg').width.baseVal.value",
    );
    // Half of the hour that is shown, without the numbers of the axis.
    expect(share).toBeGreaterThan(0.4);
    expect(share).toBeLessThan(0.5);
    // No sync has read it yet: the fleet leads to it all the same.
    await page.goto(`${site.origin}/#/fleet`);
    await page.getByRole("button", { name: "Show", exact: true }).first().waitFor();
    await page
      .locator(".needs li", { hasText: "a sale" })
      .getByRole("button", { name: "Show" })
      .click();
    await page.getByRole("link", { name: "web", exact: true }).waitFor();
    expect(await page.locator(".row.line").count()).toBe(1);
    await service.clearOverride({ id: override.id, cluster: "eu-1" });
    expect(said).toEqual([]);
    await context.close();
  });

  it("is led by keys alone: search, the next row, open, and the help", async () => {
    const { page, context } = await opened("");
    await page.keyboard.press("/");
    await page.keyboard.type("web");
    expect(await page.getByRole("searchbox").inputValue()).toBe("web");
    await page.keyboard.press("Tab");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "web" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await context.close();
  });

  it("is walked by keys through every part of an autoscaler", async () => {
    const { page, context, said } = await opened("#/autoscaler/eu-1/shop/office");
    const parts = page.locator('nav[aria-label="Parts of this autoscaler"] a');
    await parts.first().waitFor();
    const focused = () =>
      page.evaluate<string>(
        "document.activeElement.closest('.tabs') ? document.activeElement.textContent : ''",
      );
    for (let presses = 0; (await focused()) === "" && presses < KEY_PRESSES_MAX; presses++)
      await page.keyboard.press("Tab");
    const count = await parts.count();
    const walked: string[] = [];
    for (let at = 0; at < count; at++) {
      const name = await focused();
      walked.push(name);
      await page.keyboard.press("Enter");
      await page.locator(".tabs a[aria-current]", { hasText: name }).first().waitFor();
      await page.locator(".more .loading").first().waitFor({ state: "detached" });
      const shown = await page.evaluate<string>(
        "[...document.querySelectorAll('.more > :not(nav)')].map((one) => one.textContent).join('').trim()",
      );
      expect(shown, name).not.toBe("");
      // The part that is shown is where the keys are, and a person sees it.
      expect(await focused()).toBe(name);
      expect(
        await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle"),
        name,
      ).not.toBe("none");
      await page.keyboard.press("Tab");
    }
    expect(new Set(walked).size).toBe(count);
    expect(walked).toContain("Schedule");
    expect(said).toEqual([]);
    await context.close();
  });

  it("shows hostile text as text", async () => {
    // A reader could not tell the letters behind such a character from what is beside them.
    await service.freeze(`${HOSTILE}\u202e\u001b[31m\u200b`);
    const { page, context, said } = await opened("#/fleet");
    await page.getByText("frozen by").first().waitFor();
    const fleet = await page.locator("main").textContent();
    expect(fleet).toContain(`${HOSTILE}\\u{202e}\\u{1b}[31m\\u{200b}`);
    expect(fleet).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    await service.thaw();
    await page.goto(`${site.origin}/#/autoscaler/eu-1/shop/hostile/manifest`);
    await page.getByText("onerror=alert(1)").first().waitFor();
    expect(await page.locator("img[src=x]").count()).toBe(0);
    await page.getByText("No sync has evaluated it yet").first().waitFor();
    expect(said).toEqual([]);
    await context.close();
  });

  it("sends no rows again while they are the same", async () => {
    const { page, context } = await opened("");
    const bytes = (): Promise<readonly number[]> =>
      page.evaluate(
        `performance.getEntriesByType("resource").filter(({ name }) => name.includes("/v1/rows")).map(({ encodedBodySize }) => encodedBodySize)`,
      );
    for (let tries = 0; (await bytes()).length < 4 && tries < 100; tries++)
      await new Promise((resolve) => setTimeout(resolve, 200));
    // The first look, and the first answer that says what is new since.
    const [first, second, ...same] = await bytes();
    expect([first, second]).toEqual([expect.any(Number), expect.any(Number)]);
    expect(same.length).toBeGreaterThan(1);
    expect(same.filter((size) => size > 0)).toEqual([]);
    await page.goto(`${site.origin}/#/schedule`);
    await page.locator(".fleet-schedule .window").first().waitFor();
    await page.goto(`${site.origin}/#/fleet`);
    await page.locator(".row.line").first().waitFor();
    const whole = await page.evaluate<readonly string[]>(
      `performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.includes("/v1/rows") && !name.includes("known="))`,
    );
    expect(whole.map((url) => new URL(url).search)).toEqual(["?most=200"]);
    await context.close();
  });

  it("sends no edits again while they are the same, and asks nothing while it is hidden", async () => {
    const { page, context } = await opened("#/changes");
    const bytes = (): Promise<readonly number[]> =>
      page.evaluate(
        `performance.getEntriesByType("resource").filter(({ name }) => name.includes("/v1/changes")).map(({ encodedBodySize }) => encodedBodySize)`,
      );
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    for (let tries = 0; (await bytes()).length < 3 && tries < 100; tries++) await pause(200);
    const [first, ...same] = await bytes();
    expect(first).toBeGreaterThan(0);
    expect(same.length).toBeGreaterThan(1);
    expect(same.filter((size) => size > 0)).toEqual([]);
    const show = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true }), document.dispatchEvent(new Event("visibilitychange")), 0`,
      );
    await show(true);
    await pause(500);
    const before = (await bytes()).length;
    await pause(2 * REFRESH_MS);
    expect((await bytes()).length).toBe(before);
    await show(false);
    for (let tries = 0; (await bytes()).length === before && tries < 20; tries++) await pause(200);
    expect((await bytes()).length).toBeGreaterThan(before);
    await context.close();
  });

  it("has a column of owners only where an autoscaler of the fleet names one", async () => {
    const owners = async (): Promise<number> => {
      const { page, context } = await opened("");
      const count = await page.locator("[role=columnheader].owner").count();
      await context.close();
      return count;
    };
    expect(await owners()).toBe(0);
    await service.apply([{ file: "owned.yaml", text: OWNED }], {
      cluster: "eu-1",
      dryRun: false,
    });
    expect(await owners()).toBe(1);
    await service.delete({ cluster: "eu-1", namespace: "shop", name: "owned" });
  });

  it("takes the token out of the address, and says what to do without one", async () => {
    const { page, context } = await opened("");
    expect(page.url()).not.toContain(site.token);
    await context.close();
    const stranger = await browser.newContext();
    const other = await stranger.newPage();
    await other.goto(`${site.origin}/`);
    await other.getByText("This tab has no token of the server").waitFor();
    await stranger.close();
  });

  it("says that its server is gone, and keeps what it had", async () => {
    const { page, context } = await opened("");
    await context.setOffline(true);
    await page.getByText("The server of this page does not answer").first().waitFor();
    expect(await page.getByRole("link", { name: "web", exact: true }).count()).toBeGreaterThan(0);
    await context.close();
  });

  describe("with --allow-edits", () => {
    const WEB = { cluster: "eu-1", namespace: "shop", name: "web" };
    let editable: Served;
    beforeAll(async () => {
      editable = await served(localSource(world), true);
    });
    afterAll(async () => editable?.close());

    it("pauses, overrides, extends and clears after it has asked again, with the command that does the same", async () => {
      const { page, context, said } = await opened("#/autoscaler/eu-1/shop/web", {}, editable);
      await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
      await page.keyboard.press("e");
      const pause = page.getByRole("dialog", { name: "Pause eu-1 / shop / web" });
      await pause.getByLabel("Ends after").fill("2h");
      expect(await pause.locator("code").textContent()).toBe(
        "tidemark pause web -n shop --cluster eu-1 --until 2h --data data",
      );
      expect(await faultsOf(page)).toEqual([]);
      expect(await service.get(WEB)).not.toHaveProperty("paused");
      await pause.getByRole("button", { name: "Pause" }).click();
      await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
      const until = new Date(NOON + 2 * HOUR_MS).toISOString();
      expect((await service.get(WEB)).paused).toMatchObject({ by: "ada", until });

      await page.getByRole("button", { name: "Override", exact: true }).click();
      const override = page.getByRole("dialog", { name: "Override eu-1 / shop / web" });
      await override.getByLabel("Fewest replicas").fill("9");
      await override.getByLabel("Most replicas").fill("3");
      await override.getByLabel("Ends after").fill("2h");
      await override.getByLabel("Reason").fill("it's TV");
      expect(await override.locator("code").textContent()).toBe(
        "tidemark override set web -n shop --cluster eu-1 --min 9 --max 3 --until 2h --reason 'it'\\''s TV' --data data",
      );
      await override.getByRole("button", { name: "Override" }).click();
      await override.getByRole("alert").waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await override.getByLabel("Most replicas").fill("12");
      await override.getByRole("button", { name: "Override" }).click();
      await override.waitFor({ state: "detached" });
      expect(await service.get(WEB)).toMatchObject({
        overrides: [{ min: 9, max: 12, reason: "it's TV", until }],
      });
      const [{ id = "" } = {}] = (await service.get(WEB)).overrides ?? [];
      const list = page.getByRole("list", { name: "Overrides" });
      await list.getByRole("button", { name: "Extend" }).click();
      const extend = page.getByRole("dialog", {
        name: 'Extend the override of autoscaler "eu-1/shop/web"',
      });
      await extend.getByLabel("Ends after").fill("3h");
      expect(await extend.locator("code").textContent()).toBe(
        `tidemark override extend ${id} --cluster eu-1 --until 3h --data data`,
      );
      expect(await faultsOf(page)).toEqual([]);
      await extend.getByRole("button", { name: "Extend" }).click();
      await extend.waitFor({ state: "detached" });
      expect(await service.get(WEB)).toMatchObject({
        overrides: [{ id, until: new Date(NOON + 3 * HOUR_MS).toISOString() }],
      });

      await list.getByRole("button", { name: "Clear" }).click();
      const clear = page.getByRole("dialog", {
        name: 'Clear the override of autoscaler "eu-1/shop/web"',
      });
      expect(await clear.locator("code").textContent()).toBe(
        `tidemark override clear ${id} --cluster eu-1 --data data`,
      );
      await clear.getByRole("button", { name: "Clear" }).click();
      await list.waitFor({ state: "detached" });
      expect(await service.get(WEB)).not.toHaveProperty("overrides");
      // The browser reports the refusal.
      expect(said.filter((line) => !line.includes("400 (Bad Request)"))).toEqual([]);
      await context.close();
    });

    it("freezes the fleet for a reason, once its name was typed", async () => {
      const { page, context, said } = await opened("", {}, editable);
      await page.getByRole("button", { name: "Freeze", exact: true }).click();
      const freeze = page.getByRole("dialog", { name: "Freeze the fleet" });
      await freeze.getByLabel("Reason").fill("upgrade");
      expect(await freeze.getByRole("button", { name: "Freeze" }).isDisabled()).toBe(true);
      await freeze.getByLabel("to confirm").fill("fleet");
      await freeze.getByRole("button", { name: "Freeze" }).click();
      await page.getByRole("button", { name: "Thaw", exact: true }).click();
      expect((await service.status()).frozen).toMatchObject({ by: "ada", reason: "upgrade" });
      await service.thaw();
      expect(said).toEqual([]);
      await context.close();
    });

    it("has nothing to press without it", async () => {
      const { page, context } = await opened("#/autoscaler/eu-1/shop/web");
      await page.getByText("reads only").waitFor();
      await page.locator(".about").waitFor();
      await page.keyboard.press("e");
      expect(await page.locator(".edits, .ask").count()).toBe(0);
      await context.close();
    });
  });

  it("is served as it was built", async () => {
    expect((await pageFiles()("page.js")).length).toBeGreaterThan(10_000);
  });
});
