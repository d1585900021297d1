import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { playedPage } from "./first-hour-story.ts";

/**
 * `npm run docs -- first-hour`: plays docs/first-hour.md, and writes what its commands print into
 * the page, and their pictures into docs/images. A test plays it again and compares both.
 */
const DOCS = join(import.meta.dirname, "..");
const PAGE = join(DOCS, "first-hour.md");
const { page, pictures } = playedPage(readFileSync(PAGE, "utf8"));
writeFileSync(PAGE, page);
for (const [name, svg] of Object.entries(pictures)) writeFileSync(join(DOCS, "images", name), svg);
process.stdout.write(
  `docs/first-hour.md is written, and ${Object.keys(pictures).join(" and ")} in docs/images\n`,
);
