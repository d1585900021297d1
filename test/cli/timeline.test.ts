import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Folder, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());
const run = (...args: readonly string[]) => inside([...args, "--data", folder.data]);

describe("tidemark timeline", () => {
  it("draws the counts of an autoscaler, and lists its scales and edits below", async () => {
    const { code, out, err } = await run("timeline", "shop/web", "--since", "70m");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^eu-1\/shop\/web {2}2026-03-01T10:50:00Z to 2026-03-01T12:00:00Z\n/);
    for (const part of ["held by", "marks", "Scales and edits:", "-> 9", "apply", "by ada"])
      expect(out).toContain(part);
  });

  it.each([80, 100, 200])(
    "draws exactly %d characters wide in a terminal of that width",
    async (columns) => {
      const { out } = await inside(
        ["timeline", "shop/web", "--since", "70m", "--data", folder.data],
        { columns },
      );
      const [, ...drawing] = out.slice(0, out.indexOf("\n\n")).split("\n");
      expect(drawing.length).toBeGreaterThan(10);
      expect(Math.max(...drawing.map((each) => [...each].length))).toBe(columns);
    },
  );

  it("gives the same as a picture, a document and a table", async () => {
    const json = JSON.parse((await run("timeline", "shop/web", "-o", "json")).out);
    expect(json).toMatchObject({
      cluster: "eu-1",
      namespace: "shop",
      name: "web",
      stepSeconds: 15,
    });
    expect(json.events.at(-1)).toMatchObject({ to: 9 });
    expect((await run("timeline", "shop/web", "-o", "svg")).out).toMatch(/^<svg /);
    const csv = (await run("timeline", "shop/web", "-o", "csv")).out.trimEnd().split("\n");
    expect(csv[0]).toMatch(
      /^at,current,wanted,desired,ready,counted,min,max,generation,load,held,reason,cpu,cpu target,cpu ratio$/,
    );
    expect(csv).toHaveLength(1 + json.points.length);
  });

  it("refuses --at with --since, and a future time", async () => {
    expect((await run("timeline", "shop/web", "--at", "1h", "--since", "2h")).err).toContain(
      "Cannot use --at together with --since or --until",
    );
    expect((await run("timeline", "shop/web", "--at", "2027-01-01")).err).toContain(
      "that is a future time",
    );
  });
});

describe("tidemark history", () => {
  it("prints one line a step, with the numbers of each metric", async () => {
    const { code, out } = await run(
      "history",
      "shop/web",
      "--since",
      "1h",
      "--step",
      "5m",
      "-o",
      "json",
    );
    expect(code).toBe(0);
    const view = JSON.parse(out);
    expect(view.stepSeconds).toBe(300);
    expect(view.points.at(-1)).toMatchObject({
      current: 9,
      reason: "ScaleDownStabilized",
      held: "stabilization",
      metrics: [{ name: "cpu", ratio: expect.any(Number) }],
    });
  });

  it("says with --why which pods made each value, and where its count turns", async () => {
    const args = ["history", "shop/web", "--since", "1h", "--step", "5m"];
    const plain = JSON.parse((await run(...args, "-o", "json")).out).points.at(-1).metrics[0];
    expect(plain).not.toHaveProperty("pods");
    const { points } = JSON.parse((await run(...args, "--why", "-o", "json")).out);
    expect(points.at(-1).metrics[0]).toMatchObject({
      pods: { matched: 9, owned: 9, counted: 9, oldestSeconds: 21 },
      turns: { value: "40.6%", above: { value: "54%", asks: "same" } },
    });
    const [header = "", ...rows] = (await run(...args, "--why")).out.trimEnd().split("\n");
    const cells = rows.at(-1)?.split(",");
    expect(
      ["cpu matched", "cpu owned", "cpu counted", "cpu turns from"].map(
        (column) => cells?.[header.split(",").indexOf(column)],
      ),
    ).toEqual(["9", "9", "9", "54%"]);
  });
});
