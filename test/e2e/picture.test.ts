import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type PlayedScales, playedRun } from "../../docs/figures/played-scales.ts";
import { runFigure, SHOWN_MINUTES } from "../../docs/figures/run-figure.ts";

const committed = (name: string): string =>
  readFileSync(new URL(`../../docs/images/${name}`, import.meta.url), "utf8");
const scales: PlayedScales = JSON.parse(committed("run.json"));

/**
 * The whole picture takes too long for every test run. In these minutes the loads rise, fall, jump
 * and go missing, and windows and rates decide in both directions. A change of the code that shows
 * only later is not found here.
 */
const PLAYED_MINUTES = 110;

const before = (minutes: number): PlayedScales =>
  Object.fromEntries(
    Object.entries(scales).map(([name, list]) => [
      name,
      list.filter(({ afterMs }) => afterMs < minutes * 60_000),
    ]),
  );

describe("the pictures of README.md and docs/output.md", { timeout: 120_000 }, () => {
  it("are drawn from the scales of run.json, to the byte", async () => {
    const same = (await runFigure(scales)) === committed("run.svg");
    expect(
      same,
      "docs/images/run.svg is not what the code draws of docs/images/run.json: run `npm run docs -- picture`",
    ).toBe(true);
  });

  it("show the scales that the code makes now, and the timeline that `tidemark timeline -o svg` draws of them", async () => {
    const expected = before(PLAYED_MINUTES);
    expect(Object.keys(expected).sort()).toEqual(["crowd", "daily", "steps"]);
    expect(PLAYED_MINUTES).toBeLessThan(SHOWN_MINUTES);
    const message =
      "docs/images/run.json has other scales than a run of the code now: run `npm run docs -- picture`";
    const { scales: made, timeline } = await playedRun(PLAYED_MINUTES);
    expect(made, message).toEqual(expected);
    expect(
      timeline === committed("timeline.svg"),
      "docs/images/timeline.svg is another one now: run `npm run docs -- picture`",
    ).toBe(true);
  });
});
