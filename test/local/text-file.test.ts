import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { textOfFile } from "../../lib/embedded/host/text-file.ts";

const MOST_BYTES = 100_000;
let dir = "";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-text-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const file = (content: string | Uint8Array): string => {
  const path = join(dir, "a.yaml");
  writeFileSync(path, content);
  return path;
};

describe("textOfFile()", () => {
  it("reads UTF-8, with or without its mark", () =>
    expect([
      textOfFile(file("größe: 1\n"), MOST_BYTES),
      textOfFile(file("\ufeffa: 1\n"), MOST_BYTES),
    ]).toEqual(["größe: 1\n", "a: 1\n"]));

  it.each([
    ["Latin-1", Buffer.from("a: 1\nb: größe\n", "latin1"), 2],
    ["UTF-16", Buffer.from("\ufeffa: 1\n", "utf16le"), 1],
    ["a text that is cut in the middle of a letter", Buffer.from("a: ö").subarray(0, 4), 1],
  ])("refuses %s with its line: the letters would be replaced silently", (_, bytes, line) => {
    const path = file(bytes);
    expect(() => textOfFile(path, MOST_BYTES)).toThrow(
      `Cannot read "${path}": line ${line} is not UTF-8; save the file as UTF-8`,
    );
  });

  it("reads a file at the limit, and refuses a larger one without reading it to its end", () => {
    expect(textOfFile(file("x".repeat(MOST_BYTES)), MOST_BYTES)).toHaveLength(MOST_BYTES);
    const path = file("");
    // Sparse: it takes no room on the disk.
    truncateSync(path, 1_100_000_000);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => textOfFile(path, MOST_BYTES)).toThrow(
      `Cannot read "${path}": it has more than ${MOST_BYTES} bytes; cut it into several files`,
    );
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  });

  it("refuses a device without an end", () =>
    expect(() => textOfFile("/dev/zero", MOST_BYTES)).toThrow(
      'Cannot read "/dev/zero": it has more than',
    ));

  it.each([
    ["there is no such file", () => join(dir, "none.yaml")],
    ["it is a folder", () => dir],
  ])("says that %s", (why, path) =>
    expect(() => textOfFile(path(), MOST_BYTES)).toThrow(`Cannot read "${path()}": ${why}`),
  );
});
