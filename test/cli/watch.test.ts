import { randomUUID } from "node:crypto";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../lib/command/main.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { hpa } from "../service/world/manifests.ts";
import { demandRules } from "../sync/demand-rules.ts";
import { newWorld, type World } from "../sync/world.ts";
import { type Folder, type Said, openHere, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());

type Edit = (service: Service) => Promise<unknown>;

/**
 * Runs a command that watches. Before each look after the first an edit is made; Ctrl-C comes
 * during the last look.
 */
const watched = async (args: readonly string[], edits: readonly Edit[]): Promise<Said> => {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const printed = [text(stdout), text(stderr)] as const;
  const stop = new AbortController();
  const session = await openHere({ kind: "folder", dir: folder.data, from: "--data" }, "ada");
  const { service } = session;
  let looks = 0;
  const look = async (): Promise<void> => {
    await edits[looks - 1]?.(service);
    if (looks++ === edits.length) stop.abort();
  };
  const edited: Service = {
    ...service,
    async *rows(...query) {
      await look();
      yield* service.rows(...query);
    },
    async get(query) {
      await look();
      return service.get(query);
    },
    async *events(query) {
      await look();
      yield* service.events(query);
    },
  };
  const code = await main(args, {
    ...{ stdin: Readable.from([""]), stdout, stderr, colours: false, by: "ada", watchEveryMs: 1 },
    open: async () => ({ ...session, service: edited }),
    interruptible: (work) => work(stop.signal),
  });
  stdout.end();
  stderr.end();
  expect(looks).toBe(edits.length + 1);
  return { code, out: await printed[0], err: await printed[1] };
};

const apply =
  (manifest: string): Edit =>
  (service) =>
    service.apply([{ file: "x.yaml", text: manifest }], { cluster: "us-1", dryRun: false });

describe("tidemark get -w", () => {
  it("prints the list once, and then each autoscaler that is new or changed", async () => {
    const none: Edit = async () => {};
    const { code, out, err } = await watched(
      ["get", "-w", "--cluster", "us-1"],
      [
        none,
        apply(hpa("fresh", { namespace: "lab" })),
        (service) => service.pause({ name: "fresh" }),
        none,
      ],
    );
    expect([code, err]).toEqual([0, `In folder ${folder.data}, no run is alive:\n`]);
    expect(
      out
        .split("\n")
        .map((line) => line.split(/ {3,}/).filter((_, column) => [2, 8].includes(column))),
    ).toEqual([
      ["NAME", "STATE"],
      ["jobs", "waiting"],
      ["fresh", "waiting"],
      ["fresh", "paused"],
      [],
    ]);
  });

  it("prints an autoscaler once more when it was deleted, or has lost its labels, as kubectl does", async () => {
    const gone: Edit = (service) => service.delete({ name: "fresh" });
    const { out } = await watched(
      ["get", "-w", "--cluster", "us-1", "-n", "lab", "--no-headers"],
      [gone],
    );
    expect(
      out
        .split("\n")
        .map((line) => line.split(/ {3,}/).filter((_, column) => [2, 8].includes(column))),
    ).toEqual([["fresh", "paused"], ["fresh", "deleted"], []]);
    const labelled = hpa("tagged", { namespace: "lab" }).replace(
      "metadata:",
      "metadata:\n  labels: { team: red }",
    );
    const { out: names } = await watched(
      ["get", "-w", "-n", "lab", "-l", "team=red", "-o", "name"],
      [
        apply(labelled),
        apply(hpa("tagged", { namespace: "lab" })),
        (service) => service.delete({ name: "tagged" }),
      ],
    );
    expect(names).toBe("us-1/lab/tagged\nus-1/lab/tagged\n");
  });

  it("goes on where a name was deleted and comes again, as another autoscaler", async () => {
    const stored = await inside(["apply", "-f", "-", "--cluster", "us-1", "--data", folder.data], {
      stdin: hpa("again", { namespace: "lab" }),
    });
    expect(stored).toMatchObject({ code: 0 });
    const { code, out } = await watched(
      ["get", "again", "-w", "--output-watch-events", "--no-headers"],
      [
        (service) => service.delete({ name: "again" }),
        async () => {},
        apply(hpa("again", { namespace: "lab" })),
      ],
    );
    expect([code, out.match(/^[A-Z]+/gm)]).toEqual([0, ["ADDED", "DELETED", "ADDED"]]);
  });

  it("says what happened with --output-watch-events, and leaves out the first list with --watch-only", async () => {
    const { out } = await watched(
      ["get", "--watch-only", "-n", "lab", "-o", "json", "--output-watch-events"],
      [
        (service) => service.pause({ name: "again" }),
        (service) => service.delete({ name: "again" }),
      ],
    );
    const told = out
      .split(/(?<=^\})\n/m)
      .filter((row) => row !== "")
      .map((row) => JSON.parse(row));
    expect(told.map(({ type, object }) => [type, object.kind, object.metadata.name])).toEqual([
      ["MODIFIED", "HorizontalPodAutoscaler", "again"],
      ["DELETED", "HorizontalPodAutoscaler", "again"],
    ]);
    expect((await inside(["get", "--output-watch-events", "--data", folder.data])).err).toBe(
      "error: Cannot use --output-watch-events without --watch: a list has no events\n",
    );
  });

  it("prints names and documents in the same way", async () => {
    expect(
      (
        await watched(
          ["get", "-w", "-n", "shop", "-o", "name"],
          [apply(hpa("more", { namespace: "shop" }))],
        )
      ).out,
    ).toBe("eu-1/shop/api\neu-1/shop/late\neu-1/shop/web\nus-1/shop/more\n");
    const { out } = await watched(
      ["get", "-w", "--cluster", "us-1", "-n", "shop", "-o", "json"],
      [(service) => service.pause({ name: "more" })],
    );
    expect(out.match(/"state": "\w+"/g)).toEqual(['"state": "waiting"', '"state": "paused"']);
  });

  it("is refused where it has no order", async () => {
    expect(
      await inside(["get", "-w", "--sort-by", ".metadata.name", "--data", folder.data]),
    ).toEqual({
      code: 1,
      out: "",
      err: 'error: Cannot use --watch and --sort-by ".metadata.name" together: rows are printed as they change\n',
    });
  });
});

const eventAt = (id: string, atMs: number) => ({
  ...{
    id,
    at: new Date(atMs).toISOString(),
    cluster: "eu-1",
    namespace: "shop",
    name: "web",
    from: 2,
    to: 3,
    reason: "ScaleUp",
    message: "m",
  },
  ...{ target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, outcome: "applied" },
});

describe("tidemark events -w", () => {
  it("prints the events there are, and each new one once, also one that is stored minutes after its decision", async () => {
    const [old, first, late, last] = [
      eventAt("old", NOON - 3_600_000),
      eventAt("1", NOON - 5_000),
      eventAt("late", NOON - 200_000),
      eventAt("2", NOON),
    ];
    const lists = [[old, first], [first], [late, first], [late, first, last]];
    const asked: unknown[] = [];
    const stop = new AbortController();
    const stdout = new PassThrough();
    const printed = text(stdout);
    async function* events(query: object) {
      asked.push(query);
      if (asked.length === lists.length) stop.abort();
      yield* lists[asked.length - 1] ?? [];
    }
    const code = await main(["events", "-n", "shop", "-w", "-o", "jsonl"], {
      ...{
        stdin: Readable.from([""]),
        stdout,
        stderr: new PassThrough(),
        colours: false,
        by: "ada",
        watchEveryMs: 1,
      },
      open: async () => ({
        place: "folder here",
        service: { events } as unknown as Service,
        nowMs: NOON,
        clock: () => NOON,
        close: async () => {},
      }),
      interruptible: (work) => work(stop.signal),
    });
    stdout.end();
    expect([code, (await printed).match(/"id":"\w+"/g)]).toEqual([
      0,
      ['"id":"old"', '"id":"1"', '"id":"late"', '"id":"2"'],
    ]);
    expect(asked.slice(0, 2)).toEqual([
      { namespace: "shop" },
      { namespace: "shop", sinceMs: NOON - 600_000 },
    ]);
  });

  it("prints those of the folder once", async () => {
    const { out } = await watched(
      ["events", "-n", "shop", "-w", "--since", "1h", "--no-headers"],
      [async () => {}, async () => {}],
    );
    expect(out.match(/ScaleUp/g)).toHaveLength(2);
  });

  it.each([
    [["--until", "1m"], 'Cannot use --watch and --until "1m" together: the list goes on'],
    [
      ["-o", "json"],
      'Cannot use --watch with --output "json": the list has no end; give table, wide, jsonl, csv or cloudevents',
    ],
  ])("is refused with %j", async (more, words) => {
    expect(await inside(["events", "--all", "-w", ...more, "--data", folder.data])).toEqual({
      code: 1,
      out: "",
      err: `error: ${words}\n`,
    });
  });
});

describe("tidemark get -w -o json of a fleet", () => {
  it("reads documents again only of clusters whose rows have changed", async () => {
    const engine = await startMemory();
    const workloads = { web: 3, jobs: 2 };
    const worlds = await Promise.all(
      Array.from({ length: 3 }, () =>
        newWorld(engine.client, engine.tables, workloads, {
          manifestOf: (name) => JSON.stringify(MANIFESTS[name]),
        }),
      ),
    );
    const syncAll = async (): Promise<void> => {
      for (const world of worlds) {
        const rules = demandRules(world.cluster);
        await world.sync(
          world.worker({
            rules: {
              ...rules,
              specOf: (manifest) => rules.specOf(JSON.parse(manifest).metadata.name),
            },
          }),
        );
      }
    };
    await syncAll();
    const [first] = worlds as [World, ...World[]];
    const { tables } = first;
    const service = openService({
      tables,
      insert: insertByStatement(tables),
      clock: () => first.nowMs,
      by: "ada",
      newUid: randomUUID,
    });
    const session = await openHere({ kind: "folder", dir: folder.data, from: "--data" }, "ada");
    const stop = new AbortController();
    const asked: (string | undefined)[][] = [];
    const counted: Service = {
      ...service,
      async *rows(...query) {
        asked.push([]);
        if (asked.length === 3) await service.pause({ name: "web", cluster: first.record.name });
        if (asked.length === 4) stop.abort();
        yield* service.rows(...query);
      },
      async *autoscalers(filter, after) {
        asked.at(-1)?.push(filter.cluster ?? "all");
        yield* service.autoscalers(filter, after);
      },
    };
    const stdout = new PassThrough();
    const printed = text(stdout);
    await main(["get", "-w", "-o", "json"], {
      ...{
        stdin: Readable.from([""]),
        stdout,
        stderr: new PassThrough(),
        colours: false,
        by: "ada",
        watchEveryMs: 1,
      },
      open: async () => ({ ...session, service: counted }),
      interruptible: (work) => work(stop.signal),
    });
    stdout.end();
    // The list, and the one that was paused.
    expect((await printed).match(/^\}/gm)).toHaveLength(2);
    expect(asked.slice(0, 3)).toEqual([
      [expect.anything(), expect.anything(), expect.anything()],
      [],
      [first.record.name],
    ]);
    await engine.close();
  });
});

const manifest = (name: string): object => ({
  ...{
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace: "shop" },
  },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
    minReplicas: 1,
    maxReplicas: 100,
  },
});
const MANIFESTS: Readonly<Record<string, object>> = {
  web: manifest("web"),
  jobs: manifest("jobs"),
};
