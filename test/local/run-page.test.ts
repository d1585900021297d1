import { afterAll, beforeAll, expect, it } from "vitest";
import { folderLayout } from "../../lib/embedded/layout.ts";
import { startRunPage } from "../../lib/embedded/run/run-page.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { fillShop } from "../service/world/shop.ts";

let world: ServiceWorld;
beforeAll(async () => {
  world = await serviceWorld();
  await fillShop(world);
});
afterAll(() => world.close());

it("the page of a run is there from the first moment, and shows the run once it is open", async () => {
  const page = await startRunPage(folderLayout("data"), { dashboardPort: 0 });
  const { origin, hash } = new URL(page.url);
  const headers = { "x-tidemark-token": hash.replace("#token=", "") };
  const asked = async (path: string) => {
    const answer = await fetch(`${origin}${path}`, { headers });
    return { status: answer.status, after: answer.headers.get("retry-after"), answer };
  };
  expect((await asked("/")).status).toBe(200);
  for (const path of ["/v1/dashboard", "/v1/rows"])
    expect(await asked(path), path).toMatchObject({ status: 503, after: "1" });

  const { context, tables } = world;
  const service = openService(context);
  const lines: unknown[] = [];
  page.serve(
    { service, tables, insert: context.insert, clock: context.clock, by: "ada" },
    (line) => void lines.push(line),
  );
  expect(await (await asked("/v1/dashboard")).answer.json()).toMatchObject({
    edits: false,
    target: "--data data",
    now: new Date(context.clock()).toISOString(),
  });
  expect(await (await asked("/v1/rows")).answer.text()).toContain('"web"');
  expect(lines).toEqual([]);

  const port = Number(new URL(page.url).port);
  await expect(startRunPage(folderLayout("data"), { dashboardPort: port })).rejects.toMatchObject({
    code: "local.port-in-use",
  });
  await page.close();
  await expect(fetch(origin)).rejects.toThrow();
});

it("what fails in a request of the page is in the log of the run, with its error", async () => {
  const page = await startRunPage(folderLayout("data"), { dashboardPort: 0, allowEdits: true });
  const { origin, hash } = new URL(page.url);
  const { context, tables } = world;
  const fleet = (): never => {
    throw new TypeError("a mistake");
  };
  const lines: unknown[] = [];
  page.serve(
    {
      ...{ service: { ...openService(context), fleet }, tables, insert: context.insert },
      ...{ clock: context.clock, by: "ada" },
    },
    (line) => void lines.push(line),
  );
  const headers = { "x-tidemark-token": hash.replace("#token=", "") };
  const answer = await fetch(`${origin}/v1/fleet`, { headers });
  expect([answer.status, await answer.text()]).toEqual([
    500,
    expect.not.stringContaining("a mistake"),
  ]);
  expect(lines).toMatchObject([{ level: "error", fields: { error: { message: "a mistake" } } }]);
  await page.close();
});
