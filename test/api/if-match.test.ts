import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { apiHandler } from "../../functions/api.ts";
import type { FunctionUrlHandler } from "../../lib/lambda/function-url.ts";
import { COMMAND_PATHS, KEY_HEADER, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { changesOf } from "../../lib/stack/store/history/changes.ts";
import { around } from "../contracts/faults.ts";
import { documents, hpa } from "../service/world/manifests.ts";
import { recordOf } from "../service/world/shop.ts";
import { type Answered, type ApiWorld, apiWorld, ask, eventOf } from "./world.ts";

let world: ApiWorld;
let name = "";
let count = 0;
beforeAll(async () => {
  world = await apiWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  name = `tagged-${++count}`;
  await edit(COMMAND_PATHS.apply, manifest(10));
});

const manifest = (max: number, more: object = {}) => ({
  sources: [{ file: "web.yaml", text: hpa(name, { namespace: "lab", max }) }],
  cluster: "eu-1",
  ...more,
});
const named = () => ({ name: `eu-1/lab/${name}` });

interface Sent {
  readonly ifMatch?: string;
  readonly key?: string;
  readonly api?: FunctionUrlHandler;
}
const edit = (
  path: string,
  body: unknown,
  { ifMatch, key, api = world.api }: Sent = {},
): Promise<Answered> => {
  const headers = {
    ...(ifMatch !== undefined && { "if-match": ifMatch }),
    ...(key !== undefined && { [KEY_HEADER]: key }),
  };
  return ask(api, { path, body: JSON.stringify(body), headers });
};
const get = (): Promise<Answered> =>
  ask(world.view, { path: QUERY_PATHS.get, query: `name=eu-1/lab/${name}` });
const tag = async (): Promise<string> => String((await get()).headers["etag"]);
const stored = () => recordOf(world.context, name, "lab");
const changeCount = async (): Promise<number> =>
  (await Array.fromAsync(changesOf(world.tables, await stored()))).length;
const bob = () => openService({ ...world.context, by: "bob" });

/**
 * The function whose first write of a record meets something: before it, or between it and its lost
 * answer.
 */
const apiWith = (happens: {
  readonly before?: () => Promise<unknown>;
  readonly after?: () => Promise<unknown>;
}): FunctionUrlHandler => {
  let first = true;
  const client = around(world.tables.client, async (command, send) => {
    if (command !== "PutItemCommand" || !first) return send();
    first = false;
    await happens.before?.();
    const answer = await send();
    if (!happens.after) return answer;
    await happens.after();
    throw Object.assign(new Error("planted: lost answer"), { name: "TimeoutError" });
  });
  const { insert, clock, newUid } = world.context;
  return apiHandler({
    tables: { ...world.tables, client },
    insert,
    clock,
    newUid,
    reporter: { line: () => {} },
    connecting: { kind: "here" },
  });
};

const EDITS: readonly (readonly [what: string, path: string, body: () => object])[] = [
  ["apply", COMMAND_PATHS.apply, () => manifest(12)],
  ["pause", COMMAND_PATHS.pause, named],
  ["resume", COMMAND_PATHS.resume, named],
  ["delete", COMMAND_PATHS.delete, named],
];

describe("the tag of an autoscaler", () => {
  it("is made of its uid and its generation", async () => {
    const { headers, json } = await get();
    const { uid, generation } = json as { readonly uid: string; readonly generation: number };
    expect(headers["etag"]).toBe(`"${uid}.${generation}"`);
  });

  it("is also in a compressed answer", async () => {
    const packed = await world.view(
      eventOf({
        path: QUERY_PATHS.get,
        query: "name=shop/web",
        headers: { "accept-encoding": "gzip" },
      }),
    );
    if (typeof packed === "string") throw new Error("an answer has headers");
    const { uid, generation } = JSON.parse(
      gunzipSync(Buffer.from(packed.body ?? "", "base64")).toString(),
    );
    expect(packed.headers).toMatchObject({
      "content-encoding": "gzip",
      etag: `"${uid}.${generation}"`,
    });
  });

  it("is in the answer to each edit, and is the one that GET answers after it", async () => {
    const applied = await edit(COMMAND_PATHS.apply, manifest(12));
    expect(applied.headers["etag"]).toBe(await tag());
    const paused = await edit(COMMAND_PATHS.pause, named());
    expect(paused.headers["etag"]).toBe(await tag());
    const pausedAgain = await edit(COMMAND_PATHS.pause, named());
    expect([pausedAgain.json, pausedAgain.headers["etag"]]).toMatchObject([
      { changed: false },
      await tag(),
    ]);
    const resumed = await edit(COMMAND_PATHS.resume, named());
    expect(resumed.headers["etag"]).toBe(await tag());
    expect(new Set([applied, paused, resumed].map(({ headers }) => headers["etag"])).size).toBe(3);
    expect((await edit(COMMAND_PATHS.apply, manifest(12))).headers["etag"]).toBe(
      resumed.headers["etag"],
    );
  });

  it("is absent where no single autoscaler is stored: after a delete, several documents, or a dry run", async () => {
    expect(
      (await edit(COMMAND_PATHS.apply, manifest(14, { dryRun: true }))).headers,
    ).not.toHaveProperty("etag");
    const both = documents(
      hpa(`${name}-a`, { namespace: "lab" }),
      hpa(`${name}-b`, { namespace: "lab" }),
    );
    expect(
      (await edit(COMMAND_PATHS.apply, { ...manifest(10), sources: [{ file: "a", text: both }] }))
        .headers,
    ).not.toHaveProperty("etag");
    expect((await edit(COMMAND_PATHS.delete, named())).headers).not.toHaveProperty("etag");
  });
});

describe("an edit with If-Match", () => {
  it("is made when the tag is that of the stored autoscaler, and the next edit takes the tag of its answer", async () => {
    let ifMatch = await tag();
    for (const [what, path, body] of EDITS) {
      const { status, headers } = await edit(path, body(), { ifMatch });
      expect([what, status]).toEqual([what, 200]);
      ifMatch = String(headers["etag"]);
    }
    expect((await get()).status).toBe(404);
  });

  it.each(EDITS)(
    "changes nothing when the tag is an older one: %s is 412 and names the stored generation",
    async (_what, path, body) => {
      const ifMatch = await tag();
      await edit(COMMAND_PATHS.pause, named());
      const [before, changes] = [await stored(), await changeCount()];
      const refused = await edit(path, body(), { ifMatch });
      expect([refused.status, refused.headers["content-type"], refused.json]).toEqual([
        412,
        "application/problem+json",
        {
          status: 412,
          code: "service.changed",
          detail: `Cannot edit "lab/${name}" in cluster "eu-1": the edit is for generation 1, and generation 2 is stored; read the autoscaler again, and repeat the edit on it`,
          uid: before.uid,
          generation: 2,
        },
      ]);
      expect([await stored(), await changeCount()]).toEqual([before, changes]);
    },
  );

  it.each(EDITS)(
    "changes nothing when the autoscaler was deleted and created again: %s is 412",
    async (_what, path, body) => {
      const old = await stored();
      await edit(COMMAND_PATHS.delete, named());
      await edit(COMMAND_PATHS.apply, manifest(10));
      const before = await stored();
      expect(before.uid).not.toBe(old.uid);
      const refused = await edit(path, body(), { ifMatch: `"${old.uid}.${before.generation}"` });
      expect(refused.json).toMatchObject({
        status: 412,
        detail: expect.stringContaining("the edit is for another autoscaler of this name"),
        uid: before.uid,
        generation: before.generation,
      });
      expect(await stored()).toEqual(before);
    },
  );

  it("is made when one tag of several matches, and when an autoscaler exists and the header is *", async () => {
    const ifMatch = `"other.1", W/"x" ,, ${await tag()}`;
    expect((await edit(COMMAND_PATHS.pause, named(), { ifMatch })).json).toMatchObject({
      changed: true,
    });
    expect((await edit(COMMAND_PATHS.resume, named(), { ifMatch: "*" })).json).toMatchObject({
      changed: true,
    });
    expect((await edit(COMMAND_PATHS.apply, manifest(12), { ifMatch: " * " })).json).toMatchObject({
      applied: [{ outcome: "configured" }],
    });
  });

  it("creates nothing: an apply of an autoscaler that does not exist is 412", async () => {
    const ifMatch = await tag();
    await edit(COMMAND_PATHS.delete, named());
    for (const condition of ["*", ifMatch]) {
      const { json } = await edit(COMMAND_PATHS.apply, manifest(10), { ifMatch: condition });
      expect(json).toEqual({
        status: 412,
        code: "service.changed",
        detail: `Cannot edit "lab/${name}" in cluster "eu-1": the edit is for a stored autoscaler, and none of this name is stored; create it without a condition`,
      });
    }
    expect((await get()).status).toBe(404);
    expect((await edit(COMMAND_PATHS.pause, named(), { ifMatch: "*" })).status).toBe(404);
  });

  it("is refused when a tag can match nothing: a weak tag, or the tag of another server", async () => {
    const own = await tag();
    for (const ifMatch of [
      `W/${own}`,
      '"abc"',
      '""',
      `"${"9".repeat(40)}.1"`,
      own.replace(/\.1"$/, '.01"'),
      own.replace(/\.1"$/, ".1e0"),
    ]) {
      const wanted = ifMatch.endsWith('"') ? 412 : 400;
      expect([ifMatch, (await edit(COMMAND_PATHS.pause, named(), { ifMatch })).status]).toEqual([
        ifMatch,
        wanted,
      ]);
    }
    expect((await stored()).generation).toBe(1);
  });

  it.each([
    "",
    " ",
    "abc.1",
    '"abc',
    'abc"',
    '*, "a.1"',
    '"a" "b"',
    "**",
    'w/"a"',
    '"a\u007f"',
    ",",
  ])("is 400 when the header is %j", async (ifMatch) => {
    const { json } = await edit(COMMAND_PATHS.pause, named(), { ifMatch });
    expect(json).toMatchObject({
      status: 400,
      code: "api.invalid",
      errors: [
        {
          field: "If-Match",
          message: 'must be *, or the ETag of an answer in its quotes, such as "UID.4"',
        },
      ],
    });
    expect((await stored()).generation).toBe(1);
  });

  it("is 400 when it applies several manifests, and nothing is stored", async () => {
    const text = documents(
      hpa(name, { namespace: "lab", max: 12 }),
      hpa(`${name}-b`, { namespace: "lab" }),
    );
    const { json } = await edit(
      COMMAND_PATHS.apply,
      { ...manifest(12), sources: [{ file: "a", text }] },
      { ifMatch: await tag() },
    );
    expect(json).toMatchObject({
      status: 400,
      code: "service.invalid",
      detail:
        "Cannot apply under a condition: there are 2 documents, and the condition is for one; apply each alone",
    });
    expect((await stored()).generation).toBe(1);
  });

  it("is checked in a dry run too", async () => {
    const ifMatch = await tag();
    expect(
      (await edit(COMMAND_PATHS.apply, manifest(12, { dryRun: true }), { ifMatch })).status,
    ).toBe(200);
    await edit(COMMAND_PATHS.pause, named());
    expect(
      (await edit(COMMAND_PATHS.apply, manifest(12, { dryRun: true }), { ifMatch })).status,
    ).toBe(412);
  });

  it("is 400 at a route that edits no single autoscaler, because a condition is never ignored", async () => {
    const { json } = await edit(COMMAND_PATHS.pauseCluster, { name: "eu-1" }, { ifMatch: "*" });
    expect(json).toMatchObject({
      status: 400,
      code: "api.invalid",
      errors: [{ field: "If-Match" }],
    });
    expect(
      (await ask(world.view, { path: QUERY_PATHS.cluster, query: "name=eu-1" })).json,
    ).not.toHaveProperty("paused");
  });
});

describe("an edit with If-Match beside another editor", () => {
  it.each(EDITS.filter(([what]) => what !== "resume"))(
    "is 412 when the other edit comes between its read and its write: %s",
    async (_what, path, body) => {
      const ifMatch = await tag();
      const api = apiWith({
        before: () => bob().apply(manifest(14).sources, { cluster: "eu-1", dryRun: false }),
      });
      const { json } = await edit(path, body(), { ifMatch, api });
      expect(json).toMatchObject({ status: 412, code: "service.changed", generation: 3 });
      const { paused, updatedBy, generation } = await stored();
      expect([paused, updatedBy, generation]).toEqual([undefined, "bob", 3]);
    },
  );

  it("is 412 when its autoscaler is replaced between its read and its write of a manifest", async () => {
    const ifMatch = await tag();
    const replace = async () => {
      await bob().delete(named());
      await bob().apply(manifest(14).sources, { cluster: "eu-1", dryRun: false });
    };
    const { json } = await edit(COMMAND_PATHS.apply, manifest(12), {
      ifMatch,
      api: apiWith({ before: replace }),
    });
    expect(json).toMatchObject({
      status: 412,
      detail: expect.stringContaining("another autoscaler of this name"),
    });
    expect((await stored()).updatedBy).toBe("bob");
  });

  it.each([
    ["pause", COMMAND_PATHS.pause],
    ["delete", COMMAND_PATHS.delete],
  ])(
    "is 409 when its autoscaler is replaced between its read and its write, and the new one stays as it is: %s",
    async (_what, path) => {
      const ifMatch = await tag();
      const replace = async () => {
        await bob().delete(named());
        await bob().apply(manifest(14).sources, { cluster: "eu-1", dryRun: false });
      };
      const { json } = await edit(path, named(), { ifMatch, api: apiWith({ before: replace }) });
      expect(json).toMatchObject({
        status: 409,
        code: "service.conflict",
        detail: expect.stringContaining("it was deleted and created again"),
      });
      const { paused, updatedBy } = await stored();
      expect([paused, updatedBy]).toEqual([undefined, "bob"]);
    },
  );

  it("creates nothing when its autoscaler is deleted between its read and its write of a manifest", async () => {
    const api = apiWith({ before: () => bob().delete(named()) });
    expect((await edit(COMMAND_PATHS.apply, manifest(12), { ifMatch: "*", api })).status).toBe(412);
    expect((await get()).status).toBe(404);
  });

  it("says that it was made when only its answer was lost, even though another editor has edited since", async () => {
    const ifMatch = await tag();
    const api = apiWith({ after: () => bob().resume(named()) });
    expect((await edit(COMMAND_PATHS.pause, named(), { ifMatch, api })).json).toMatchObject({
      changed: true,
    });
  });

  it("is made once when six edits with the same tag come at once", async () => {
    const ifMatch = await tag();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        edit(COMMAND_PATHS.apply, manifest(20 + index), { ifMatch }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412, 412, 412]);
    const winner = answers.find(({ status }) => status === 200);
    expect(winner?.headers["etag"]).toBe(await tag());
  });
});

describe("an edit with If-Match and a key", () => {
  const newKey = (): string => `5a0cf6ee-57de-4a07-8d6e-${String(++count).padStart(12, "0")}`;

  it("gets the first answer and its tag when it is repeated, although the tag that it gave is an older one now", async () => {
    const sent = { ifMatch: await tag(), key: newKey() };
    const first = await edit(COMMAND_PATHS.pause, named(), sent);
    await edit(COMMAND_PATHS.resume, named());
    const again = await edit(COMMAND_PATHS.pause, named(), sent);
    expect([again.status, again.text, again.headers["etag"]]).toEqual([
      200,
      first.text,
      first.headers["etag"],
    ]);
    expect((await stored()).paused).toBeUndefined();
  });

  it("is refused again with the same words when it was refused", async () => {
    const sent = { ifMatch: '"other.1"', key: newKey() };
    const first = await edit(COMMAND_PATHS.pause, named(), sent);
    await edit(COMMAND_PATHS.pause, named());
    const again = await edit(COMMAND_PATHS.pause, named(), sent);
    expect([again.status, again.text]).toEqual([412, first.text]);
  });

  it("is another request with another tag, so it takes another key", async () => {
    const key = newKey();
    await edit(COMMAND_PATHS.pause, named(), { ifMatch: '"other.1"', key });
    for (const sent of [{ ifMatch: await tag(), key }, { key }]) {
      expect((await edit(COMMAND_PATHS.pause, named(), sent)).json).toMatchObject({
        status: 409,
        code: "api.key-reused",
      });
    }
  });

  it("takes no key when its header cannot be read", async () => {
    const key = newKey();
    expect((await edit(COMMAND_PATHS.pause, named(), { ifMatch: "x", key })).status).toBe(400);
    expect((await edit(COMMAND_PATHS.pause, named(), { ifMatch: await tag(), key })).status).toBe(
      200,
    );
  });
});
