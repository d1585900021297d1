import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFolder } from "../../../lib/embedded/folder/data-folder.ts";
import { holdFolder } from "../../../lib/embedded/folder/folder-lock.ts";
import { type FolderLayout, folderLayout } from "../../../lib/embedded/layout.ts";
import {
  type FolderNames,
  type NameFilter,
  quickNames,
} from "../../../lib/embedded/folder/names.ts";
import { startTables } from "../../../lib/embedded/tables/embedded-tables.ts";
import { type Folder, shopFolder } from "../../cli/folder.ts";
import { inside } from "../../cli/inside.ts";

let folder: Folder;
let layout: FolderLayout;
beforeEach(async () => {
  folder = await shopFolder();
  layout = folderLayout(folder.data);
});
afterEach(() => folder.remove());

const MOST = { most: 1_000 };
const SHOP = [
  "eu-1/infra/web",
  "eu-1/shop/api",
  "eu-1/shop/late",
  "eu-1/shop/web",
  "us-1/batch/jobs",
];
const paths = ({ autoscalers }: FolderNames) =>
  autoscalers.map(({ cluster, namespace, name }) => `${cluster}/${namespace}/${name}`).toSorted();
const command = async (...args: readonly string[]): Promise<void> => {
  const { code, err } = await inside([...args, "--data", folder.data]);
  expect([args, code, err]).toEqual([args, 0, ""]);
};
const known = async (filter: NameFilter = MOST): Promise<FolderNames> => {
  const names = await quickNames(layout, filter);
  if (!names) throw new Error("no names are known");
  return names;
};

/** The tables as a run serves them, in this process. */
const whileRunning = async (work: () => Promise<void>): Promise<void> => {
  const held = await holdFolder(layout, "run", 0);
  const tables = await startTables(layout.tables);
  try {
    held.publish({ tablesEndpoint: tables.endpoint });
    await work();
  } finally {
    await tables.close();
    held.release();
  }
};

describe("the names of a data folder at rest", () => {
  it("are unknown where no process has closed it in good order, and known after the first command", async () => {
    expect(await quickNames(layout, MOST)).toBeUndefined();
    await command("get");
    const names = await known();
    expect(paths(names)).toEqual(SHOP);
    expect([names.clusters, names.partitions, names.calendars]).toEqual([
      ["eu-1", "us-1"],
      ["eu-1/default", "us-1/default"],
      [],
    ]);
  });

  it("follow each edit, and what only reads leaves them as they are", async () => {
    await command("delete", "shop/web", "--cluster", "eu-1");
    expect(paths(await known())).toEqual(SHOP.filter((path) => path !== "eu-1/shop/web"));
    await command("calendar", "put", "holidays", "-f", folder.write("dates.txt", "2026-12-25\n"));
    expect((await known()).calendars).toEqual(["holidays"]);
    await command("get");
    expect((await known()).calendars).toEqual(["holidays"]);
  });

  it("are of the cluster and namespace that are asked for, at most as many as wanted", async () => {
    await command("get");
    expect(paths(await known({ ...MOST, cluster: "us-1" }))).toEqual(["us-1/batch/jobs"]);
    expect(paths(await known({ ...MOST, namespace: "shop" }))).toEqual([
      "eu-1/shop/api",
      "eu-1/shop/late",
      "eu-1/shop/web",
    ]);
    expect(paths(await known({ most: 2 }))).toHaveLength(2);
  });

  it("are unknown while another process has its tables open, and where its clock is gone", async () => {
    await command("get");
    const opened = await openFolder(folder.data);
    expect(await quickNames(layout, MOST)).toBeUndefined();
    await opened.close();
    expect(paths(await known())).toEqual(SHOP);
    rmSync(layout.clock);
    expect(await quickNames(layout, MOST)).toBeUndefined();
  });

  it("are unknown where every user may write to it, or its seal is damaged", async () => {
    await command("get");
    chmodSync(layout.dir, 0o777);
    expect(await quickNames(layout, MOST)).toBeUndefined();
    chmodSync(layout.dir, 0o700);
    writeFileSync(layout.seal, readFileSync(layout.seal, "utf8").slice(0, -1));
    expect(await quickNames(layout, MOST)).toBeUndefined();
  });

  it("have ids of overrides until they expire", async () => {
    await command(
      "override",
      "set",
      "shop/api",
      "--min",
      "3",
      "--until",
      "2h",
      "--reason",
      "a test",
    );
    expect((await known()).overrides).toMatchObject([{ id: expect.stringMatching(/^a-/) }]);
    const clock = JSON.parse(readFileSync(layout.clock, "utf8"));
    writeFileSync(layout.clock, JSON.stringify({ ...clock, nowMs: clock.nowMs + 7_200_001 }));
    expect((await known()).overrides).toEqual([]);
  });
});

describe("the names of a data folder whose run is alive", () => {
  it("are asked of its tables, so that an edit of a moment ago is in them", async () => {
    await command("get");
    await whileRunning(async () => {
      rmSync(layout.seal);
      expect(paths(await known())).toEqual(SHOP);
      await command("delete", "shop/web", "--cluster", "eu-1");
      expect(paths(await known())).toEqual(SHOP.filter((path) => path !== "eu-1/shop/web"));
      expect(paths(await known({ ...MOST, cluster: "eu-1", namespace: "infra" }))).toEqual([
        "eu-1/infra/web",
      ]);
      expect(paths(await known({ most: 1 }))).toHaveLength(1);
      await command(
        "override",
        "set",
        "shop/api",
        "--min",
        "3",
        "--until",
        "2h",
        "--reason",
        "a test",
      );
      expect((await known()).overrides).toMatchObject([{ id: expect.stringMatching(/^a-/) }]);
    });
  });

  it("are unknown where its tables have no address yet, or are not on this machine", async () => {
    const held = await holdFolder(layout, "run", 0);
    expect(await quickNames(layout, MOST)).toBeUndefined();
    held.publish({ tablesEndpoint: "http://192.0.2.1:1/" });
    expect(await quickNames(layout, MOST)).toBeUndefined();
    held.release();
  });
});
