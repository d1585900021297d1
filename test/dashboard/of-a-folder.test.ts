import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMAND_PATHS, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { HOUR_MS } from "../../lib/rules/model/time-text.ts";
import { inside } from "../cli/inside.ts";
import { type Folder, type Said, shopInMemory } from "../cli/folder.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { hpa } from "../service/world/manifests.ts";
import { fillShop } from "../service/world/shop.ts";
import { type Answered, localSource, send, type Served, served } from "./world.ts";

let world: ServiceWorld;
let page: Served;
let folder: Folder;
beforeAll(async () => {
  world = await serviceWorld();
  await fillShop(world);
  world.set(NOON);
  page = await served(localSource(world), true);
  folder = await shopInMemory();
});
afterAll(async () => {
  await page.close();
  await world.close();
  folder.remove();
});

const get = (path: string, query: Readonly<Record<string, string>> = {}): Promise<Answered> =>
  send(page, { path: `${path}?${new URLSearchParams(query)}` });
const edit = (path: string, body: object): Promise<Answered> =>
  send(page, {
    ...{ method: "POST", path, body: JSON.stringify(body) },
    headers: { "content-type": "application/json" },
  });
const WEB = { name: "eu-1/shop/web" };
/** Markup, controls, and what turns the order of letters round. */
const HOSTILE =
  "<img src=x onerror=alert(1)></script>\"'&\u001b[31m\u0007\u202e\u2066\u200b\u{e0041}\r\n{{x}}";

describe("the page of a data folder", () => {
  it("pauses and resumes, sets an override with an end and a reason, and freezes", async () => {
    expect((await edit(COMMAND_PATHS.pause, WEB)).json).toMatchObject({ changed: true });
    expect((await get(QUERY_PATHS.get, WEB)).json).toMatchObject({ state: "paused" });
    expect((await edit(COMMAND_PATHS.resume, WEB)).json).toMatchObject({ changed: true });

    const until = new Date(NOON + HOUR_MS).toISOString();
    const wanted = { ...WEB, min: 5, until, reason: "a sale" };
    const set = (await edit(COMMAND_PATHS.setOverride, wanted)).json;
    expect(set).toMatchObject({ override: { min: 5, reason: "a sale", by: "ada" } });
    const { items } = (await get(QUERY_PATHS.overrides)).json as { items: { id: string }[] };
    expect(items).toMatchObject([{ min: 5, until: expect.stringContaining("2026") }]);
    const [{ id } = { id: "" }] = items;
    expect((await edit(COMMAND_PATHS.clearOverride, { id })).status).toBe(200);

    expect((await edit(COMMAND_PATHS.freeze, { reason: "a test" })).json).toMatchObject({
      changed: true,
    });
    expect((await get(QUERY_PATHS.fleet)).json).toMatchObject({ frozen: { reason: "a test" } });
    await edit(COMMAND_PATHS.thaw, {});
  });

  it("refuses an edit that the service refuses, in its words", async () => {
    const refused = await edit(COMMAND_PATHS.setOverride, { ...WEB, min: 5, reason: "no end" });
    expect([refused.status, refused.json]).toMatchObject([400, { detail: expect.any(String) }]);
    expect(page.failures).toEqual([]);
  });

  it("carries what strangers wrote as JSON of UTF-8 only, so that no character of it is read as markup", async () => {
    // A label of Kubernetes has none of these characters, an annotation any.
    const manifest = hpa("odd", { namespace: "shop" }).replace(
      "metadata:",
      `metadata:\n  annotations: { note: ${JSON.stringify(HOSTILE)} }`,
    );
    await openService(world.context).apply([{ file: "odd.yaml", text: manifest }], {
      cluster: "eu-1",
      dryRun: false,
    });
    expect((await edit(COMMAND_PATHS.freeze, { reason: HOSTILE })).status).toBe(200);
    const odd = { name: "eu-1/shop/odd" };
    for (const [path, query] of [
      [QUERY_PATHS.get, odd],
      [QUERY_PATHS.describe, odd],
      [QUERY_PATHS.autoscalers, {}],
      [QUERY_PATHS.changes, {}],
      [QUERY_PATHS.fleet, {}],
      [QUERY_PATHS.status, {}],
    ] as const) {
      const answer = await get(path, query);
      expect(answer.headers["content-type"], path).toBe("application/json");
      expect(answer.headers["x-content-type-options"], path).toBe("nosniff");
      expect(JSON.stringify(answer.json), path).toContain(JSON.stringify(HOSTILE).slice(1, -1));
    }
    const unknown = await get(QUERY_PATHS.get, { name: HOSTILE });
    expect(unknown.headers["content-type"]).toBe("application/problem+json");
    await edit(COMMAND_PATHS.thaw, {});
  });
});

/** Runs `tidemark dashboard` until `look` has seen the page. */
const running = async (
  words: readonly string[],
  look: (url: string) => Promise<void>,
): Promise<Said> => {
  let url = "";
  return inside(["dashboard", "--open", ...words, "--data", folder.data], {
    openBrowser: async (address) => {
      url = address;
    },
    interruptible: async (work) => {
      await look(url);
      return work(AbortSignal.abort());
    },
  });
};

describe("tidemark dashboard", () => {
  it("prints the address to open, serves the page until Ctrl-C, and then nothing", async () => {
    let url = "";
    const said = await running([], async (address) => {
      url = address;
      expect((await fetch(url)).status).toBe(200);
    });
    expect(said).toMatchObject({ code: 0, err: "" });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/);
    expect(said.out).toBe(
      `Open ${url}\nThe page only reads; with --allow-edits it can pause, override and freeze. Ctrl-C ends it.\n`,
    );
    await expect(fetch(url)).rejects.toThrow();
  });

  it("edits with --allow-edits only", async () => {
    for (const [words, status] of [
      [[], 403],
      [["--allow-edits"], 200],
    ] as const)
      await running(words, async (address) => {
        const { origin, hash } = new URL(address);
        const answer = await fetch(`${origin}${COMMAND_PATHS.thaw}`, {
          ...{ method: "POST", body: "{}" },
          headers: {
            "content-type": "application/json",
            "x-tidemark-token": hash.replace("#token=", ""),
          },
        });
        expect(answer.status).toBe(status);
      });
  });

  it("serves the page even where no browser can be started, and says so", async () => {
    const said = await inside(["dashboard", "--open", "--data", folder.data], {
      openBrowser: () => Promise.reject(new TidemarkError("cli.browser", "Cannot open", {})),
      interruptible: (work) => work(AbortSignal.abort()),
    });
    expect(said).toMatchObject({ code: 0, err: "error: Cannot open\n" });
  });

  it("refuses a port that is none, and one that is in use", async () => {
    for (const port of ["x", "-1", "65536", "1.5", ""])
      expect(
        await inside(["dashboard", "--port", port, "--data", folder.data]),
        port,
      ).toMatchObject({ code: 1, err: expect.stringContaining("Cannot use --port") });
    const { port } = new URL(page.origin);
    expect(await inside(["dashboard", "--port", port, "--data", folder.data])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`Cannot listen on port ${port}`),
    });
  });
});
