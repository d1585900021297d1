import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFolder } from "../../lib/embedded/folder/data-folder.ts";
import { holdFolder, livingRun, processIdentity } from "../../lib/embedded/folder/folder-lock.ts";
import { writeIdentity, writeMark } from "../../lib/embedded/folder/identity.ts";
import { type FolderLayout, folderLayout, TABLE_NAMES } from "../../lib/embedded/layout.ts";
import { flowingNowMs, saveClock } from "../../lib/embedded/engine/clock.ts";
import { ensureTables, startTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/embedded/tables/tables-client.ts";
import { tableDefinitions } from "../../lib/stack/store/table/tables.ts";

let layout: FolderLayout;
beforeEach(() => {
  layout = folderLayout(mkdtempSync(join(tmpdir(), "tidemark-folder-")));
});
afterEach(() => rmSync(layout.dir, { recursive: true, force: true }));

const writeLock = (holder: Record<string, unknown>) => {
  mkdirSync(layout.locks, { recursive: true });
  writeFileSync(
    join(layout.locks, `${holder["pid"]}-${randomUUID()}.json`),
    JSON.stringify({ role: "run", startedAt: "2026-01-05T08:00:00.000Z", ...holder }),
  );
};

const makeTables = async () => {
  const tables = await startTables(layout.tables);
  const client = tablesClient(tables.endpoint);
  await ensureTables(client, tableDefinitions(TABLE_NAMES));
  client.destroy();
  await tables.close();
};

/** A process that lives until it is killed. */
const livingProcess = async () => {
  const child = spawn(process.execPath, ["-e", "console.log(1); setInterval(() => {}, 1e6)"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  return {
    pid,
    kill: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
};

describe("the identity of a process where there is no /proc, as on macOS", () => {
  const { platform, env } = process;
  const zone = env["TZ"];
  beforeEach(() => Object.defineProperty(process, "platform", { value: "darwin" }));
  afterEach(() => {
    Object.defineProperty(process, "platform", { value: platform });
    env["TZ"] = zone;
  });

  it("is the same in every time zone, so that a run is alive for a command with --utc too, and is none of a dead process", async () => {
    const other = await livingProcess();
    const identities = ["Asia/Tokyo", "America/New_York", "UTC"].map((one) => {
      env["TZ"] = one;
      return processIdentity(other.pid);
    });
    expect(identities[0]).toMatch(/^[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}$/);
    expect(new Set(identities).size).toBe(1);
    await other.kill();
    expect(processIdentity(other.pid)).toBeUndefined();
  });
});

describe("holdFolder()", () => {
  it("refuses a folder that a living run has", async () => {
    const other = await livingProcess();
    writeLock({ pid: other.pid, identity: processIdentity(other.pid) });
    await expect(holdFolder(layout, "run", 0)).rejects.toMatchObject({
      code: "local.folder-in-use",
      message: `Cannot use "${layout.dir}": a run with pid ${other.pid} has it since 2026-01-05T08:00:00.000Z`,
    });
    await other.kill();
    (await holdFolder(layout, "run", 0)).release();
  });

  it("refuses a command at once where a run is alive, which lasts for hours", async () => {
    const other = await livingProcess();
    writeLock({ pid: other.pid, identity: processIdentity(other.pid) });
    const first = await Promise.race([
      holdFolder(layout, "command", 20_000).catch(({ code }) => code),
      wait(3_000, "it waits"),
    ]);
    expect(first).toBe("local.folder-in-use");
    await other.kill();
  });

  it("does not mind the file of a run whose pid belongs to another process now", async () => {
    const other = await livingProcess();
    writeLock({ pid: other.pid, identity: "an earlier boot/1" });
    const held = await holdFolder(layout, "run", 0);
    expect(livingRun(layout)?.pid).toBe(process.pid);
    expect(readdirSync(layout.locks)).toHaveLength(1);
    held.release();
    await other.kill();
  });

  it("refuses a second holder in the same process", async () => {
    const held = await holdFolder(layout, "run", 0);
    await expect(holdFolder(layout, "run", 0)).rejects.toMatchObject({
      code: "local.folder-in-use",
    });
    held.release();
  });

  it("waits for a command that is about to let go", async () => {
    const held = await holdFolder(layout, "command", 0);
    setTimeout(() => held.release(), 120);
    (await holdFolder(layout, "run", 5000)).release();
    expect(readdirSync(layout.locks)).toEqual([]);
  });

  it("never admits two of many that come at once", async () => {
    let inside = 0;
    const visit = async () => {
      const held = await holdFolder(layout, "command", 20_000);
      inside++;
      expect(inside).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
      held.release();
    };
    await Promise.all(Array.from({ length: 6 }, visit));
  });
});

describe("openFolder()", () => {
  it("says that nothing is there before the first run", async () => {
    await expect(openFolder(layout.dir)).rejects.toMatchObject({
      code: "local.no-data",
      message: `No data in "${layout.dir}": start a run first`,
    });
  });

  it("serves the tables itself after the run has ended, at the time where it stopped", async () => {
    await makeTables();
    saveClock(layout, { kind: "virtual", nowMs: 1000, wallMs: 5, speed: 60, untilMs: 9000 });
    writeMark(layout);
    await expect(openFolder(layout.dir)).rejects.toMatchObject({ code: "local.no-data" });
    writeIdentity(layout, { kind: "simulated", seed: 1, startMs: 0, deployments: [] });
    const folder = await openFolder(layout.dir);
    const client = tablesClient(folder.endpoint);
    expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual(
      Object.values(TABLE_NAMES).toSorted(),
    );
    expect(folder.clock()).toBe(1000);
    expect(folder.run).toBeUndefined();
    client.destroy();
    await folder.close();
    expect(readdirSync(layout.locks)).toEqual([]);
  });

  it("refuses a folder whose about.json has no format, as no release wrote it", async () => {
    await makeTables();
    saveClock(layout, { kind: "virtual", nowMs: 1000, wallMs: 5, speed: 60, untilMs: 9000 });
    writeIdentity(layout, { kind: "simulated", seed: 1, startMs: 0, deployments: [] });
    writeFileSync(
      layout.identity,
      JSON.stringify({ kind: "simulated", seed: 1, startMs: 0, deployments: [] }),
    );
    await expect(openFolder(layout.dir)).rejects.toThrow("about.json");
  });

  it("uses the tables and the flowing clock of a living run", async () => {
    const held = await holdFolder(layout, "run", 0);
    writeMark(layout);
    const tables = await startTables(layout.tables);
    saveClock(layout, {
      kind: "virtual",
      nowMs: 1000,
      wallMs: Date.now() - 3_600_000,
      speed: 1,
      untilMs: 9000,
    });
    setTimeout(() => held.publish({ tablesEndpoint: tables.endpoint }), 80);
    const folder = await openFolder(layout.dir);
    expect(folder).toMatchObject({ endpoint: tables.endpoint, run: { pid: process.pid } });
    expect(folder.clock()).toBe(9000);
    await folder.close();
    await tables.close();
    held.release();
  });
});

describe("flowingNowMs()", () => {
  const clock = { kind: "virtual" as const, nowMs: 1000, wallMs: 100, speed: 60, untilMs: 2000 };
  it.each([
    ["at the moment of writing", 100, 1000],
    ["between two instants", 110, 1600],
    ["just at the next thing", 117, 2000],
    ["past it, because the run is late", 900, 2000],
    ["when the wall clock was set back", 50, 1000],
  ])("tells the time %s", (_, wallMs, expected) =>
    expect(flowingNowMs(clock, wallMs)).toBe(expected),
  );
});
