import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient, Watched } from "../../lib/stack/cluster/cluster-client.ts";
import { WATCHED_MS, WATCHED_OBJECTS_MIN } from "../../lib/stack/cluster/request-limits.ts";
import { runs } from "../runs.ts";
import { type ManyPods, manyPods } from "./stand-in/many-pods.ts";
import { json, status } from "./stand-in/server.ts";
import { clientTo, seen, watch, WHOLE } from "./stand-in/watched.ts";

const PODS = WATCHED_OBJECTS_MIN + 20;
/** More than are listed one by one. */
const NAMESPACES = 12;
const namespaceOf = (at: number): string => `team-${at % NAMESPACES}`;
const nameOf = (at: number): string => `web-${String(at).padStart(4, "0")}`;

const WEB = { namespace: "team-0", app: "web" };
const WATCHED: readonly Watched[] = Array.from({ length: NAMESPACES }, (_, at) =>
  watch(namespaceOf(at), "web"),
);

const open: { close: () => unknown }[] = [];
const opened = async (): Promise<{ server: ManyPods; client: ClusterClient; clock: Clock }> => {
  const server = await manyPods([
    ...WATCHED.map(({ namespace }) => ({ namespace, name: "web" })),
    { namespace: "team-99", name: "db" },
  ]);
  for (let at = 0; at < PODS; at++)
    server.set(nameOf(at), { namespace: namespaceOf(at), app: "web", ready: true });
  const clock = { nowMs: 1_000_000_000 };
  const client = clientTo(server, { clock: () => clock.nowMs });
  open.push(client, server);
  return { server, client, clock };
};
interface Clock {
  nowMs: number;
}
const closeAll = async (): Promise<void> => {
  for (const one of open.splice(0)) await one.close();
};
afterAll(closeAll);

/** Names, readiness and labels of the pods of each namespace, in the order of the observation. */
const podsSeen = async (client: ClusterClient): Promise<unknown> => {
  const observed = await client.observe(WATCHED, WHOLE);
  return WATCHED.map((watched) =>
    seen(observed, watched).observation.pods.all.map(({ name, ready, labels }) => [
      name,
      ready?.status,
      labels["app"],
    ]),
  );
};
const listedPods = async (server: ManyPods): Promise<unknown> => {
  const fresh = clientTo(server);
  try {
    return await podsSeen(fresh);
  } finally {
    fresh.close();
  }
};

describe("the pods of a large cluster", () => {
  let [server, client, clock]: [ManyPods, ClusterClient, Clock] = [] as never;
  beforeEach(async () => {
    await closeAll();
    ({ server, client, clock } = await opened());
    await podsSeen(client);
    expect(server.asked()).toEqual(["LIST", "LIST"]);
  });
  /** What a sync asked of pods, where it saw what a LIST shows. */
  const askedOfSync = async (): Promise<readonly string[]> => {
    const pods = await podsSeen(client);
    const asked = server.asked();
    expect(pods).toEqual(await listedPods(server));
    server.asked();
    return asked;
  };

  it("are listed once, and then only what has changed is asked for", async () => {
    expect(await askedOfSync()).toEqual(["WATCH"]);
    server.set(nameOf(3), { namespace: namespaceOf(3), app: "web", ready: false });
    server.set("api-1", { namespace: "team-1", app: "api", ready: true });
    server.set(nameOf(7), undefined);
    expect(await askedOfSync()).toEqual(["WATCH"]);
    expect(await askedOfSync()).toEqual(["WATCH"]);
  });

  it("are those of a LIST after any changes, in its order", async () => {
    const change = fc.record({
      at: fc.nat(PODS + 40),
      app: fc.constantFrom("web", "api"),
      ready: fc.boolean(),
      goes: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        for (const { at, goes, ...pod } of changes) {
          const name = nameOf(at);
          if (!goes) server.set(name, { namespace: namespaceOf(at), ...pod });
          else if (server.pods.has(name)) server.set(name, undefined);
        }
        expect(await askedOfSync()).toContain("WATCH");
      }),
      runs(12),
    );
  });

  it("are all listed every five minutes, and after the clock was set back", async () => {
    clock.nowMs += WATCHED_MS - 1;
    expect(await askedOfSync()).toEqual(["WATCH"]);
    clock.nowMs += 1;
    expect(await askedOfSync()).toEqual(["LIST", "LIST"]);
    clock.nowMs -= 1;
    expect(await askedOfSync()).toEqual(["LIST", "LIST"]);
  });

  it("are listed in the same sync where the server has dropped the version", async () => {
    server.set(nameOf(3), undefined);
    server.oldest = Number.POSITIVE_INFINITY;
    expect(await askedOfSync()).toEqual(["WATCH", "LIST", "LIST"]);
  });

  it.each([
    ["has no right to watch", status(403, "Forbidden", "pods is forbidden: cannot watch")],
    ["gets a list in place of a watch", json(200, { kind: "PodList", items: [] })],
    ["gets no answer in two seconds", () => undefined],
  ])(
    "are listed in the same sync where it %s, and for five minutes without a trial",
    async (_, answer) => {
      server.watching = answer;
      server.set(nameOf(3), undefined);
      expect(await askedOfSync()).toEqual(["WATCH", "LIST", "LIST"]);
      expect(await askedOfSync()).toEqual(["LIST", "LIST"]);
      clock.nowMs += WATCHED_MS;
      server.watching = undefined;
      expect(await askedOfSync()).toEqual(["LIST", "LIST"]);
      expect(await askedOfSync()).toEqual(["WATCH"]);
    },
    20_000,
  );

  it("have an event that was cut off a sync later", async () => {
    const before = await listedPods(server);
    server.set("zzz-1", { namespace: "team-1", app: "job", ready: true });
    server.cut.bytes = 5;
    expect(await podsSeen(client)).toEqual(before);
    server.cut.bytes = undefined;
    server.asked();
    expect(await askedOfSync()).toEqual(["WATCH"]);
  });

  it("are listed where a workload counts more of them than a watch has shown", async () => {
    server.set("zzz-1", { ...WEB, ready: true });
    server.cut.bytes = 5;
    expect(await askedOfSync()).toEqual(["WATCH", "LIST", "LIST"]);
  });

  it("are not listed again and again for a workload that counts others", async () => {
    server.counted = PODS;
    expect(await askedOfSync()).toEqual(["WATCH", "LIST", "LIST"]);
    expect(await askedOfSync()).toEqual(["WATCH"]);
    server.counted = PODS + 1;
    expect(await askedOfSync()).toEqual(["WATCH", "LIST", "LIST"]);
  });

  it("are listed where more has changed than a LIST is long", async () => {
    for (let at = 0; at < 40; at++)
      server.set(nameOf(at), { namespace: namespaceOf(at), app: "web", ready: false });
    expect(await askedOfSync()).toEqual(["WATCH"]);
    expect(await askedOfSync()).toEqual(["LIST", "LIST"]);
  });

  it("are listed where an event has a name that none can have", async () => {
    server.set("web$(touch X)", { namespace: "team-1", app: "web", ready: true });
    const observed = await client.observe(WATCHED, WHOLE);
    expect(server.asked()).toEqual(["WATCH", "LIST"]);
    const [first] = WATCHED;
    expect(first && seen(observed, first).observation.podsUnread).toBe(true);
  });

  it("are listed where a namespace has its first autoscaler", async () => {
    server.set("db-1", { namespace: "team-99", app: "db", ready: true });
    await podsSeen(client);
    server.asked();
    const more = watch("team-99", "db");
    const observed = await client.observe([...WATCHED, more], WHOLE);
    expect(server.asked()).toEqual(["LIST", "LIST"]);
    expect(seen(observed, more).observation.pods.all.map(({ name }) => name)).toEqual(["db-1"]);
  });
});
