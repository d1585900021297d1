import { writePage } from "./first-hour-story.ts";

/**
 * `npm run docs -- first-hour`: plays docs/first-hour.md, and writes what its commands print into
 * the page, and their pictures into docs/images. A test plays it again and compares both.
 */
writePage("first-hour.md");
