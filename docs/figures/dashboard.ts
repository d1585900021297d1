import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { openService } from "../../lib/answers/service/open.ts";
import {
  answerByService,
  FOLDER_REFRESH_SECONDS,
} from "../../lib/dashboard/serve/answer-by-service.ts";
import { dashboardServer } from "../../lib/dashboard/serve/server.ts";
import { openFolder } from "../../lib/embedded/folder/data-folder.ts";
import { closeServer, listenWithOwnGuards } from "../../lib/embedded/host/loopback.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import {
  type BrowserPage,
  CHROMIUM,
  HAS_CHROMIUM,
  launchChromium,
} from "../../test/dashboard/browser.ts";
import { applyScheduled } from "../../test/dashboard/scheduled.ts";
import { tablesThrough } from "../../test/service/world/context.ts";
import { inPlayedFolder } from "./played-scales.ts";

/**
 * `npm run docs -- dashboard`: plays some hours of three simulated clusters, serves the page of
 * what they stored, and takes pictures of it into docs/images. The same code shows the same counts;
 * the letters depend on the fonts of the machine, so that no test compares the pictures.
 */
const IMAGES = join(import.meta.dirname, "../images");
const RUN = ["--clusters", "3", "--autoscalers", "12", "--for", "3h"];
const VIEWPORT = { width: 1_280, height: 840 };

const PICTURES = [
  { name: "dashboard-fleet", link: undefined, until: ".spark path" },
  { name: "dashboard-autoscaler", link: "web-06", until: ".why .part" },
] as const;

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
  } finally {
    await browser.close();
    await closeServer(server);
    await folder.close();
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
