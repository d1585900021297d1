import { writePage } from "./first-hour-story.ts";

/**
 * `npm run docs -- replay`: plays docs/replay.md, and writes what its commands print into the page,
 * and their picture into docs/images. A test plays it again and compares both.
 */
writePage("replay.md");
