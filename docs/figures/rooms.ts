import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parsedFiles } from "../../test/architecture/source.ts";
import { DRAWN, type Plan, planOf, roomsPicture } from "./rooms-picture.ts";

/**
 * `npm run docs -- rooms`: draws the rooms of lib and the parts of the larger ones into docs/images,
 * and prints every arrow, also those that the drawings leave out.
 */
const IMAGES = join(import.meta.dirname, "../images");

const listed = ({ title, boxes, arrows }: Plan): string =>
  [
    `${title}: ${boxes.length} parts, ${arrows.length} arrows, ${arrows.filter(({ upward }) => upward).length} upward`,
    ...boxes.map(({ name }) => {
      const own = arrows.filter(({ from }) => from === name);
      return `  ${name.padEnd(26)}${own.map(({ to, count, upward }) => `${upward ? "UP " : ""}${to} ${count}`).join(", ")}`;
    }),
  ].join("\n");

const files = parsedFiles(["lib", "functions"]);
for (const [name, room] of Object.entries(DRAWN)) {
  const plan = planOf(files, room);
  writeFileSync(join(IMAGES, `${name}.svg`), roomsPicture(plan));
  process.stdout.write(`${listed(plan)}\n\n`);
}
