import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

/** Rooms whose comments and messages are plain sentences. The list only grows. */
const PLAIN_ROOMS = [
  "functions",
  "lib/api",
  "lib/cli",
  "lib/cluster",
  "lib/local",
  "lib/manifest",
  "lib/model",
  "lib/policy",
  "lib/remote",
  "lib/report",
  "lib/service",
  "lib/store",
  "lib/sync",
];

/** A comment names the sync, caller, editor or request, never an unknown person. */
const RIDDLES = /\b(nobody|somebody|whoever|anybody)\b/i;

const lines = PLAIN_ROOMS.flatMap((room) => filesBelow(room)).flatMap((path) =>
  readFileSync(join(ROOT, path), "utf8")
    .split("\n")
    .map((text, at) => ({ place: `${path}:${at + 1}`, text })),
);

describe("the words of the code", () => {
  it("were seen in every room of the list", () => {
    for (const room of PLAIN_ROOMS) expect(lines.filter(({ place }) => place.startsWith(`${room}/`)).length).toBeGreaterThan(100);
  });

  it("name the sync, the caller or the editor, and no unknown person", () => {
    expect(lines.filter(({ text }) => RIDDLES.test(text)).map(({ place, text }) => `${place}: ${text.trim()}`)).toEqual([]);
  });
});
