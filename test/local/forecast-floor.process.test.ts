import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDataFolder } from "../../lib/command/session.ts";
import { openFolder } from "../../lib/embedded/folder/data-folder.ts";
import { TABLE_NAMES } from "../../lib/embedded/layout.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { DAY_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import type { Sample } from "../../lib/rules/model/scale-records.ts";
import { SIX_HOURS_MS } from "../../lib/stack/projections/journal-slots.ts";
import { BIN_MS, sampleItem } from "../../lib/stack/projections/samples.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";

const ROOT = join(import.meta.dirname, "../..");
const NOON_MS = Date.UTC(2026, 0, 12, 12);
const DAYS = 6;
/** Pods that the load of each afternoon needs, and what the run itself needs. */
const AFTERNOON = 9;

let folder: string;
const data = (): string => join(folder, "data");
const tidemark = (...words: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, "bin/tidemark.js"), ...words, "--data", data(), "--utc"],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout;
};
const played = (length: string): string =>
  tidemark("start", "--for", length, "--speed", "1000000", "--trace", join(folder, "load.csv"));

/** Five minutes each of six days until noon: a load of nine pods after noon, of two before it. */
const insertDays = async (): Promise<void> => {
  const session = await openDataFolder(data(), "test");
  const { uid, cluster } = await session.service.get({ name: "web" });
  await session.close();
  const opened = await openFolder(data());
  const tables = {
    ...{ client: opened.client(), ...TABLE_NAMES, clock: () => performance.now() },
    ...{ wait: async () => {}, random: Math.random, token: randomUUID },
  };
  const insert = insertByStatement(tables);
  const of = {
    ...{ cluster: clusterName(cluster), uid: autoscalerUid(uid) },
    ...{ namespace: namespace("shop"), name: autoscalerName("web") },
  };
  for (let fromMs = NOON_MS - DAYS * DAY_MS; fromMs < NOON_MS; fromMs += SIX_HOURS_MS) {
    const samples = Array.from({ length: SIX_HOURS_MS / BIN_MS }, (_, bin): Sample => {
      const atMs = fromMs + bin * BIN_MS;
      const hour = (atMs % DAY_MS) / (60 * MINUTE_MS);
      const pods = hour >= 12 && hour < 16 ? AFTERNOON : 2;
      const metrics = [{ name: "cpu", value: "59%", target: "60%", ratio: 0.98 }];
      return { atMs, current: pods, ready: pods, min: 2, max: 30, metrics, reason: "WithinTarget" };
    });
    const slot = { fromMs, endMs: fromMs + SIX_HOURS_MS };
    const partition = { cluster: of.cluster, partition: WHOLE_CLUSTER };
    await insert([sampleItem({ partition, page: 0, slot }, of, samples)]);
  }
  await opened.close();
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-floor-"));
  const rows = Array.from({ length: 120 }, (_, at) => `${NOON_MS / 1_000 - 900 + at * 60},10`);
  writeFileSync(join(folder, "load.csv"), `timestamp,value\n${rows.join("\n")}\n`);
  tidemark(
    ...["start", "--for", "1m", "--speed", "1000000", "--capacity", "100"],
    ...["--trace", join(folder, "load.csv"), "--begin", new Date(NOON_MS - 600_000).toISOString()],
    ...["--manifest", join(ROOT, "examples/replay/forecast.yaml")],
  );
  await insertDays();
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe("a run whose manifest takes the advice of forecasts", () => {
  it("raises the minimum before the load of the afternoon, for the reason of the forecast", () => {
    const [, to = "0"] = /shop\/web 2 → (\d+) applied: ForecastMinimum/.exec(played("40m")) ?? [];
    expect(Number(to)).toBeGreaterThanOrEqual(AFTERNOON - 1);
    expect(Number(to)).toBeLessThanOrEqual(AFTERNOON + 2);
    // The journal has the mean of a pod beside the percentage, so that a replay loses no percent.
    const { points } = JSON.parse(tidemark("history", "web", "--step", "15s", "-o", "json"));
    expect(points.at(-1).metrics).toMatchObject([{ average: expect.stringMatching(/^\d+m?$/) }]);
    expect(tidemark("describe", "web")).toMatch(new RegExp(`minReplicas +${to} +by the forecast`));
  }, 120_000);
});
