import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kubeApi } from "../../../lib/embedded/cluster/api.ts";
import { workloadModel } from "../../../lib/embedded/cluster/definition.ts";
import { CustomObjects } from "../../../lib/embedded/cluster/objects/custom-objects.ts";
import { ClusterEvents } from "../../../lib/embedded/cluster/objects/events.ts";
import { type AcceptedWrite, Simulation } from "../../../lib/embedded/cluster/simulation.ts";
import { openWriteJournal } from "../../../lib/embedded/cluster/write-journal.ts";
import { START_MS, workload } from "./running-cluster.ts";

const HEADER = { format: 1, seed: 1, startMs: START_MS, definitions: "d" } as const;
const write = (replicas: number): AcceptedWrite => ({
  atMs: START_MS + replicas,
  namespace: "shop",
  name: "web",
  replicas,
});

let dataDir = "";
let path = "";
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "tidemark-journal-"));
  path = join(dataDir, "writes.jsonl");
});
afterEach(() => rm(dataDir, { recursive: true }));

describe("openWriteJournal()", () => {
  it("keeps header and writes in the order of their arrival, however many come at once", async () => {
    const journal = openWriteJournal(path, HEADER);
    const writes = Array.from({ length: 50 }, (_, index) => write(index));
    await Promise.all(writes.map((each) => journal.append(each)));
    await journal.close();
    const again = openWriteJournal(path, { ...HEADER, seed: 2 });
    expect(again.header).toEqual(HEADER);
    expect(again.writes).toEqual(writes);
    await again.close();
  });

  it("has a write in its file when the append settles", async () => {
    const journal = openWriteJournal(path, HEADER);
    await journal.append(write(3));
    expect((await readFile(path, "utf8")).endsWith(`${JSON.stringify(write(3))}\n`)).toBe(true);
    await journal.close();
  });

  it("fails every append after one that failed", async () => {
    const journal = openWriteJournal(path, HEADER);
    await journal.close();
    await expect(journal.append(write(3))).rejects.toThrow("is closed");
    await expect(journal.append(write(4))).rejects.toThrow("is closed");
    await expect(journal.settled()).rejects.toThrow("is closed");
  });
});

describe("a PUT of a scale", () => {
  const put = (keep: Parameters<typeof kubeApi>[2], replicas: number) => {
    const model = workloadModel(workload(), { seed: 1, startMs: START_MS });
    const api = kubeApi(
      new Simulation([model], START_MS, () => START_MS),
      {
        noise: 0,
        uid: "uid",
        hasKeda: false,
        store: { objects: new CustomObjects(1), save: () => {} },
        events: new ClusterEvents(1),
      },
      keep,
    );
    const body = JSON.stringify({ spec: { replicas } });
    return api({
      method: "PUT",
      path: "/apis/apps/v1/namespaces/shop/deployments/web/scale",
      query: new URLSearchParams(),
      contentType: "application/json",
      accept: "application/json",
      body,
    });
  };

  it.each([
    ["that changes the count", 5],
    ["that confirms the count", 2],
  ])("%s is answered only when what it says is durable", async (_, replicas) => {
    const durable = Promise.withResolvers<void>();
    let answered = false;
    const answer = put(
      { append: () => durable.promise, settled: () => durable.promise },
      replicas,
    ).then((scale) => {
      answered = true;
      return scale;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    durable.resolve();
    expect(await answer).toMatchObject({ spec: { replicas } });
  });

  it("fails when it cannot be made durable", async () => {
    const full = new Error("ENOSPC: no space left on device, write");
    const keep = { append: () => Promise.reject(full), settled: () => Promise.resolve() };
    await expect(put(keep, 5)).rejects.toBe(full);
  });
});
