import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type LineFormat,
  openJsonLines,
  readJsonLines,
} from "../../../lib/embedded/host/json-lines.ts";

const NUMBERS: LineFormat<number> = {
  read: (value) => {
    if (typeof value !== "number") throw new TypeError("no number");
    return value;
  },
  fault: (number, cause) => new Error(`line ${number}`, { cause }),
};

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-lines-"));
  path = join(folder, "numbers.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("openJsonLines()", () => {
  it("begins an absent file, and gives its lines back when it is opened again", async () => {
    const file = openJsonLines(path, NUMBERS);
    expect(file.lines).toEqual([]);
    file.append(1);
    file.append(2);
    await file.durable();
    file.close();
    const again = openJsonLines(path, NUMBERS);
    expect(again.lines).toEqual([1, 2]);
    again.close();
  });

  it("cuts off half a line at the end before it appends, so that no two lines become one", () => {
    writeFileSync(path, "1\n2\n3");
    const file = openJsonLines(path, NUMBERS);
    file.append(4);
    file.close();
    expect(readFileSync(path, "utf8")).toBe("1\n2\n4\n");
  });

  it("appends to the new file after a rewrite", () => {
    const file = openJsonLines(path, NUMBERS);
    file.append(1);
    file.rewrite([7, 8]);
    file.append(9);
    file.close();
    expect(readJsonLines(path, NUMBERS)).toEqual([7, 8, 9]);
  });

  it("refuses a line after it was closed, whatever file has its number by then", () => {
    const file = openJsonLines(path, NUMBERS);
    file.close();
    expect(() => file.append(1)).toThrow(`"${path}" is closed`);
  });

  it("says which line it cannot read, and changes nothing", () => {
    writeFileSync(path, '1\n"two"\n3');
    expect(() => openJsonLines(path, NUMBERS)).toThrow("line 2");
    expect(() => readJsonLines(path, NUMBERS)).toThrow("line 2");
    expect(readFileSync(path, "utf8")).toBe('1\n"two"\n3');
  });
});

describe("readJsonLines()", () => {
  it("has no lines where there is no file, and leaves half a line where it is", () => {
    expect(readJsonLines(path, NUMBERS)).toEqual([]);
    appendFileSync(path, "1\n2");
    expect(readJsonLines(path, NUMBERS)).toEqual([1]);
    expect(readFileSync(path, "utf8")).toBe("1\n2");
  });
});
