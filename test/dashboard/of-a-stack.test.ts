import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMAND_PATHS, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import type { ChangeView } from "../../lib/answers/views/change.ts";
import type { ClusterRows } from "../../lib/answers/views/row.ts";
import { openStack } from "../../lib/command/stack-session.ts";
import { NOON } from "../noon.ts";
import { ADA, callerOf, IDENTITIES, type RemoteWorld, remoteWorld } from "../remote/world.ts";
import { type Answered, send, type Served, served } from "./world.ts";

let world: RemoteWorld;
const open: Served[] = [];
beforeAll(async () => {
  world = await remoteWorld();
});
afterAll(async () => {
  for (const each of open) await each.close();
  await world.close();
});

/** The page of a person, over the function URLs that verify each signature. */
const pageOf = async (key: string, url = world.url.url): Promise<Served> => {
  const { dashboard } = openStack(
    { url, from: "--stack" },
    () => callerOf(key),
    () => NOON,
  );
  if (!dashboard) throw new Error("a stack has a page");
  const page = await served(dashboard, true);
  open.push(page);
  return page;
};

const edit = (page: Served, path: string, body: object, headers = {}): Promise<Answered> =>
  send(page, {
    ...{ method: "POST", path, body: JSON.stringify(body) },
    headers: { "content-type": "application/json", ...headers },
  });

const rowsIn = ({ json }: Answered): readonly string[] =>
  (json as { readonly items: readonly ClusterRows[] }).items.flatMap(({ cluster, rows }) =>
    rows.map(({ namespace, name }) => `${cluster}/${namespace}/${name}`),
  );

describe("the page of a stack", () => {
  it("gives what the stack answers, with its tags, and nothing anew where nothing has changed", async () => {
    const page = await pageOf("ADA");
    const rows = await send(page, { path: QUERY_PATHS.rows });
    expect(rows.status).toBe(200);
    expect(rowsIn(rows)).toContain("eu-1/shop/web");
    const { etag = "" } = rows.headers;
    expect(etag).toMatch(/^W\//);
    const again = await send(page, { path: QUERY_PATHS.rows, headers: { "if-none-match": etag } });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, "", etag]);
    const one = await send(page, { path: `${QUERY_PATHS.get}?name=eu-1%2Fshop%2Fweb` });
    expect(one.json).toMatchObject({ cluster: "eu-1", namespace: "shop", name: "web" });
  });

  it("says who asks, by the credentials that sign", async () => {
    expect((await send(await pageOf("ADA"), { path: "/v1/dashboard" })).json).toMatchObject({
      caller: ADA,
      edits: true,
      place: `the stack at ${world.url.url}`,
      target: `--stack ${world.url.url}`,
      now: new Date(NOON).toISOString(),
    });
  });

  it("gives a refusal of the stack as it came, and refuses a parameter that comes twice", async () => {
    const page = await pageOf("ADA");
    const refused = await send(page, { path: `${QUERY_PATHS.get}?name=nothing` });
    expect([refused.status, refused.json]).toMatchObject([404, { code: "service.unknown" }]);
    const twice = await send(page, { path: `${QUERY_PATHS.get}?name=web&name=api` });
    expect([twice.status, twice.json]).toMatchObject([400, { code: "api.invalid" }]);
  });

  it("says in the words of the command why a stack gives no answer", async () => {
    const mallory = await send(await pageOf("MALLORY"), { path: QUERY_PATHS.rows });
    expect([mallory.status, mallory.json]).toMatchObject([
      403,
      { code: "remote.forbidden", detail: expect.stringContaining("may not call it") },
    ]);
    const nowhere = await send(await pageOf("ADA", "http://127.0.0.1:9"), {
      path: QUERY_PATHS.fleet,
    });
    expect([nowhere.status, nowhere.json]).toMatchObject([502, { code: "remote.unclear" }]);
  });

  it("shows one namespace, and edits there only, where a grant is on one namespace", async () => {
    const { arn = "" } = IDENTITIES["GRACE"] ?? {};
    const ada = world.remote("ADA");
    const { id } = await ada.grantAccess({ arn, role: "edit", cluster: "eu-1", namespace: "shop" });
    const page = await pageOf("GRACE");
    const rows = rowsIn(await send(page, { path: QUERY_PATHS.rows }));
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter((row) => !row.startsWith("eu-1/shop/"))).toEqual([]);
    const all = rowsIn(await send(await pageOf("ADA"), { path: QUERY_PATHS.rows }));
    const other = all.find((row) => !row.startsWith("eu-1/shop/")) ?? "";
    expect(other).not.toBe("");
    for (const path of [QUERY_PATHS.get, QUERY_PATHS.explain, QUERY_PATHS.history])
      expect((await send(page, { path: `${path}?name=${other}` })).status, path).toBe(404);
    expect((await edit(page, COMMAND_PATHS.pause, { name: other })).status).toBe(404);
    expect((await edit(page, COMMAND_PATHS.freeze, { reason: "no" })).status).toBe(403);
    expect((await edit(page, COMMAND_PATHS.pause, { name: "eu-1/shop/web" })).status).toBe(200);
    expect((await edit(page, COMMAND_PATHS.resume, { name: "eu-1/shop/web" })).status).toBe(200);
    if (id) await ada.revokeAccess(id);
  });

  it("edits in the name of the person, once for each key of the page", async () => {
    const page = await pageOf("ADA");
    const key = { "idempotency-key": "key-of-a-freeze-0001" };
    const freeze = { reason: "the page was tried" };
    const first = await edit(page, COMMAND_PATHS.freeze, freeze, key);
    expect(first.json).toMatchObject({ changed: true });
    expect((await edit(page, COMMAND_PATHS.freeze, freeze, key)).text).toBe(first.text);
    const other = await edit(page, COMMAND_PATHS.freeze, { reason: "another" }, key);
    expect([other.status, other.json]).toMatchObject([409, { code: "api.key-reused" }]);
    const thawed = await edit(page, COMMAND_PATHS.thaw, {});
    expect(thawed.json).toMatchObject({ changed: true });
    const { items } = (await send(page, { path: QUERY_PATHS.changes })).json as {
      readonly items: readonly ChangeView[];
    };
    expect(items.filter(({ scope }) => scope === "fleet").slice(-2)).toMatchObject([
      { verb: "freeze", by: ADA },
      { verb: "thaw", by: ADA },
    ]);
  });
});
