import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rotatingFile } from "../../lib/embedded/run/log-file.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-log-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const written = async (file: Writable, lines: readonly string[]): Promise<void> => {
  for (const line of lines) file.write(`${line}\n`);
  await new Promise<void>((resolve, reject) =>
    file.end((error?: Error | null) => (error ? reject(error) : resolve())),
  );
};

const text = (name: string): string => readFileSync(join(dir, name), "utf8");

describe("rotatingFile()", () => {
  it("begins a new file while it is written, keeps the previous one, and never divides or loses a line of the two", async () => {
    const lines = Array.from({ length: 40 }, (_, at) => `line ${String(at).padStart(2, "0")}`);
    await written(rotatingFile(join(dir, "log.jsonl"), 80), lines);
    expect(readdirSync(dir).toSorted()).toEqual(["log.jsonl", "log.jsonl.1"]);
    expect(text("log.jsonl.1") + text("log.jsonl")).toBe(lines.slice(-20).join("\n").concat("\n"));
    expect(Math.max(text("log.jsonl").length, text("log.jsonl.1").length)).toBeLessThanOrEqual(80);
  });

  it("goes on in a file that is there, and begins a new one where that is full", async () => {
    await written(rotatingFile(join(dir, "log.jsonl"), 30), ["before"]);
    await written(rotatingFile(join(dir, "log.jsonl"), 30), ["after", "a line that does not fit"]);
    expect([text("log.jsonl.1"), text("log.jsonl")]).toEqual([
      "before\nafter\n",
      "a line that does not fit\n",
    ]);
  });
});
