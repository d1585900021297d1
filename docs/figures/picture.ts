import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Resvg } from "@resvg/resvg-js";
import { playedRun } from "./played-scales.ts";
import { runFigure, SHOWN_MINUTES } from "./run-figure.ts";

/**
 * `npm run docs -- picture`: plays three virtual hours of the demonstration, reads the scales that
 * were stored, and draws them over the recorded load into docs/images, beside the timeline of one
 * workload. The same code gives the same run.json, run.svg and timeline.svg, and a test compares
 * them; the text of run.png depends on the fonts of the machine.
 */
const IMAGES = join(import.meta.dirname, "../images");

const { scales, timeline } = await playedRun(SHOWN_MINUTES);
const svg = await runFigure(scales);
mkdirSync(IMAGES, { recursive: true });
writeFileSync(join(IMAGES, "run.json"), `${JSON.stringify(scales, undefined, 1)}\n`);
writeFileSync(join(IMAGES, "run.svg"), svg);
writeFileSync(join(IMAGES, "timeline.svg"), timeline);
writeFileSync(
  join(IMAGES, "run.png"),
  new Resvg(svg, { background: "white", fitTo: { mode: "zoom", value: 2 } }).render().asPng(),
);
process.stdout.write(
  `${Object.values(scales).flat().length} scales in docs/images/run.svg, run.png and run.json, and the timeline of one workload in timeline.svg\n`,
);
