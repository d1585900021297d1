import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inside } from "../cli/inside.ts";
import { refusal, start } from "./folder/starting.ts";

/** Both react within two periods: the sync of each comes every 15 s. */
const SECONDS_MAX = 30;

describe("npm start -- --beside-hpa", () => {
  let folder = "";
  let data = "";
  let printed = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-beside-"));
    data = join(folder, "data");
    printed = await start("--beside-hpa", "--for", "20m", "--speed", "100000", "--data", data);
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const tidemark = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await inside([...args, "--data", data]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return out;
  };

  it("scales the workloads by the stand-in alone: Tidemark is in its shadow and makes no event", async () => {
    expect(printed).toContain("scale events        0\n");
    const { items } = JSON.parse(await tidemark("get", "-o", "json"));
    expect(items.map(({ status }: { readonly status: { readonly state: string } }) => status.state)).toEqual(["shadow", "shadow", "shadow"]);
  });

  it("decides as Tidemark does, each at its own instants, and tidemark shadow shows it", async () => {
    const compared = JSON.parse(await tidemark("shadow", "crowd", "--since", "1h", "-o", "json"));
    expect(compared.agreed / compared.syncs).toBeGreaterThan(0.8);
    expect(compared.agreedWithinPeriod).toBeGreaterThanOrEqual(compared.agreed);
    expect(new Set(compared.stretches.map(({ current }: { readonly current: number }) => current)).size).toBeGreaterThan(1);
    const settled = compared.reactions.filter(({ to }: { readonly to?: number }) => to !== undefined);
    expect(settled.length).toBeGreaterThan(0);
    for (const { ownSeconds, rivalSeconds } of settled) expect(Math.max(ownSeconds ?? 0, rivalSeconds ?? 0)).toBeLessThanOrEqual(SECONDS_MAX);
    expect(await tidemark("shadow", "crowd", "--since", "1h")).toContain("Beside:             HorizontalPodAutoscaler/crowd\n");
    const [header, first] = (await tidemark("shadow", "crowd", "--since", "1h", "-o", "csv")).split("\n");
    expect(header).toBe("cluster,namespace,name,at,until,syncs,current,own,rival,difference,reason,message,rivalReason,rivalMessage");
    expect(first).toMatch(/^local,shop,crowd,/);
  });

  it("is refused with a cluster of your own, which has its own controllers", async () => {
    expect(await refusal("--beside-hpa", "--kubeconfig", "config")).toContain("Cannot use --beside-hpa with --kubeconfig");
  });
});
