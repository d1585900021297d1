import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Service } from "../../lib/answers/service/service.ts";
import { openService } from "../../lib/answers/service/open.ts";
import {
  answerByService,
  FOLDER_REFRESH_SECONDS,
} from "../../lib/dashboard/serve/answer-by-service.ts";
import { dashboardServer } from "../../lib/dashboard/serve/server.ts";
import { openFolder } from "../../lib/embedded/folder/data-folder.ts";
import { closeServer, listenWithOwnGuards } from "../../lib/embedded/host/loopback.ts";
import { HOUR_MS, SECOND_MS } from "../../lib/rules/model/time-text.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import {
  type BrowserPage,
  CHROMIUM,
  HAS_CHROMIUM,
  launchChromium,
} from "../../test/dashboard/browser.ts";
import { COMPARED, storeCompared } from "../../test/dashboard/compared.ts";
import { applyScheduled } from "../../test/dashboard/scheduled.ts";
import { localSource, served } from "../../test/dashboard/world.ts";
import { NOON } from "../../test/noon.ts";
import { serviceWorld, tablesThrough } from "../../test/service/world/context.ts";
import { fillShop } from "../../test/service/world/shop.ts";
import { inPlayedFolder } from "./played-scales.ts";

/**
 * `npm run docs -- dashboard`: plays some hours of three simulated clusters, serves the page of
 * what they stored, and takes pictures of it into docs/images. The same code shows the same counts;
 * the letters depend on the fonts of the machine, so that no test compares the pictures.
 */
const IMAGES = join(import.meta.dirname, "../images");
const RUN = ["--clusters", "3", "--autoscalers", "12", "--for", "3h", "--seed", "48"];
const VIEWPORT = { width: 1_280, height: 840 };

const PICTURES = [
  { name: "dashboard-fleet", link: undefined, until: ".spark path" },
  { name: "dashboard-autoscaler", link: "web-06", until: ".why .part" },
] as const;

/** Taken once something was set and edited. */
const LATER = [
  { name: "dashboard-schedules", fragment: "#/schedule", until: ".fleet-schedule .window" },
  {
    name: "dashboard-clusters",
    fragment: "#/clusters",
    until: '[data-head="A month"]:has-text("$")',
  },
  { name: "dashboard-changes", fragment: "#/changes", until: ".changes li" },
] as const;

/**
 * What a person asks at 3 a.m., with what is pressed from the fleet on, and what has to be there
 * then. Fewer than three presses each.
 */
const QUESTIONS = [
  {
    // Why was web-06 at that count in the middle of the last hour?
    name: "dashboard-question-then",
    presses: [`.row.line a:text-is("web-06")`, ".cursor"],
    until: "text=Why, then",
  },
  {
    // Who has pinned web-12 to two pods, why, and until when?
    name: "dashboard-question-who",
    presses: [`.needs li:has-text("incident 4711") button`, `.row.line a:text-is("web-12")`],
    until: ".overrides li",
  },
  {
    // Will there be enough pods when people come to work on Monday?
    name: "dashboard-question-ahead",
    presses: [`.row.line a:text-is("office")`, `.tabs a:text-is("Schedule")`],
    until: ".schedule .window",
  },
] as const;

const pinOne = async (service: Service, nowMs: number): Promise<void> => {
  for await (const { cluster, namespace, name } of service.autoscalers({}))
    if (name === "web-12")
      await service.setOverride({
        ...{ cluster, namespace, name, min: 2, max: 2, untilMs: nowMs + 2 * HOUR_MS },
        reason: "incident 4711: no new pods until the fix is out",
      });
};

const answerQuestion = async (
  page: BrowserPage,
  { name, presses, until }: (typeof QUESTIONS)[number],
): Promise<void> => {
  await page.goto(`${new URL(page.url()).origin}/#/fleet`);
  await page.getByText("incident 4711").first().waitFor();
  for (const what of presses) await page.locator(what).first().click();
  await page.locator(until).first().waitFor();
  await page.locator(".loading").first().waitFor({ state: "detached" });
  await takeFile(name, (path) => page.screenshot({ path }));
};

const takePictures = async (data: string): Promise<void> => {
  const folder = await openFolder(data);
  const { clock } = folder;
  const tables = tablesThrough(folder.client());
  const insert = insertByStatement(tables);
  // As of the last sync: a session would say that the run has ended, and in which folder.
  const service = openService({ tables, insert, clock, by: "ada", newUid: randomUUID });
  const { server, urlAt } = dashboardServer(
    {
      answerApi: answerByService({ service, tables, insert, clock, by: "ada" }),
      caller: async () => "ada",
      clock,
      place: "folder .tidemark",
      target: "",
      refreshSeconds: FOLDER_REFRESH_SECONDS,
    },
    {
      allowEdits: false,
      onFailure: (error) => {
        throw error;
      },
    },
  );
  const browser = await launchChromium();
  try {
    const context = await browser.newContext({
      viewport: VIEWPORT,
      colorScheme: "light",
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    await page.goto(urlAt(await listenWithOwnGuards(server, 0)));
    for (const picture of PICTURES) await takePicture(page, picture);
    const [cluster] = await Array.fromAsync(service.clusters());
    if (!cluster) throw new Error("The run has no cluster");
    await applyScheduled(service, cluster.name, clock());
    await takeSchedule(page, cluster.name);
    await pinOne(service, clock());
    for (const { name, fragment, until } of LATER) {
      await page.goto(`${new URL(page.url()).origin}/${fragment}`);
      await page.locator(until).first().waitFor();
      await takeFile(name, (path) => page.screenshot({ path }));
    }
    for (const question of QUESTIONS) await answerQuestion(page, question);
  } finally {
    await browser.close();
    await closeServer(server);
    await folder.close();
  }
};

/** The tab of an autoscaler beside whose decisions an HPA decides. No run of `npm start` has one. */
const takeCompare = async (): Promise<void> => {
  const world = await serviceWorld();
  await fillShop(world);
  const endMs = await storeCompared(world, NOON + 15 * SECOND_MS);
  const site = await served(localSource(world, endMs + 5 * SECOND_MS));
  const browser = await launchChromium();
  try {
    const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: "reduce" });
    const page = await context.newPage();
    const { cluster, namespace, name } = COMPARED;
    const place = `#/autoscaler/${cluster}/${namespace}/${name}/compare?range=10m`;
    await page.goto(`${site.origin}/#token=${site.token}`);
    await page.locator(".row.line").first().waitFor();
    await page.goto(`${site.origin}/${place}`);
    await page.locator(".more .rows tbody tr").first().waitFor();
    await takeFile("dashboard-compare", (path) => page.locator(".more").screenshot({ path }));
  } finally {
    await browser.close();
    await site.close();
    await world.close();
  }
};

/** The tab of an autoscaler that no sync has seen yet: what its schedule sets needs none. */
const takeSchedule = async (page: BrowserPage, cluster: string): Promise<void> => {
  await page.goto(`${new URL(page.url()).origin}/#/autoscaler/${cluster}/shop/office/schedule`);
  await page.locator(".schedule .window").first().waitFor();
  await takeFile("dashboard-schedule", (path) => page.locator(".schedule").screenshot({ path }));
};

const takePicture = async (
  page: BrowserPage,
  { name, link, until }: (typeof PICTURES)[number],
): Promise<void> => {
  if (link !== undefined) await page.getByRole("link", { name: link }).first().click();
  await page.locator(until).first().waitFor();
  await takeFile(name, (path) => page.screenshot({ path }));
};

const takeFile = async (name: string, take: (path: string) => Promise<unknown>): Promise<void> => {
  const path = join(IMAGES, `${name}.png`);
  await take(path);
  process.stdout.write(`docs/images/${name}.png, ${Math.ceil(statSync(path).size / 1_024)} KiB\n`);
};

if (!HAS_CHROMIUM)
  throw new Error(`Cannot take pictures of the page: there is no ${CHROMIUM}, install chromium`);
await inPlayedFolder(RUN, takePictures);
await takeCompare();
