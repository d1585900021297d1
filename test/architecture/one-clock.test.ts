import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

/*
 * A time that is stored is compared with the clock of the tables. A write that is sent beside
 * `repeatWrite` (lib/stack/store/table/repeat.ts), and a clock that is read beside the one of the
 * tables, would go round the comparison.
 */

const files = ["lib", "functions"].flatMap((folder) =>
  filesBelow(folder).map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") })),
);

const WRITE = /new (?:Put|Update|Delete|Batch(?:Write|Execute)|Execute|Transact)\w*Command\(/g;
const SENDER = /\b(repeat|repeatWrite|wasExecuted|sendWrite)\(/g;

/** Each write that a file sends, with the function that sends it. */
const writesIn = ({ path, text }: (typeof files)[number]): readonly string[] =>
  [...text.matchAll(WRITE)].map(({ index }) => {
    const senders = [...text.slice(0, index).matchAll(SENDER)];
    return `${path} ${senders.at(-1)?.[1] ?? "nothing"}`;
  });

describe("every write of the tables", () => {
  it("is sent under a clock that was compared, or has no time", () => {
    const sent = files
      .filter(({ path }) => !path.startsWith("lib/embedded/"))
      .flatMap(writesIn)
      .filter((write) => !/ (?:repeatWrite|wasExecuted)$/.test(write));
    expect(sent).toEqual([
      // `timeless` or not: a lease is given back under any clock.
      "lib/stack/store/head/head.ts sendWrite",
      // An edit that is stored must be seen by the next sync.
      "lib/stack/store/records/autoscalers.ts repeat",
    ]);
    expect(files.flatMap(writesIn).length).toBeGreaterThan(10);
  });

  it("of the embedded run that is sent beside the store is the expiry of DynamoDB, which it plays", () => {
    expect(files.filter(({ path }) => path.startsWith("lib/embedded/")).flatMap(writesIn)).toEqual([
      "lib/embedded/tables/expiry.ts nothing",
    ]);
  });
});

describe("the clock of the machine", () => {
  /** Where it may be read: not one of these hands a time to a write. */
  const MAY_READ: readonly (readonly [RegExp, string])[] = [
    [/^lib\/embedded\//, "the machine that a run lives on"],
    [/^lib\/stack\/store\/table\/real-tables\.ts$/, "the clock that is compared"],
    [/^lib\/stack\/aws\/bounded-requests\.ts$/, "the comparison"],
    [/^lib\/stack\/cluster\//, "the age of tokens and connections"],
    [/^lib\/(?:lambda|answers\/remote)\//, "signatures, ages of credentials, and what is shown"],
    [/^functions\//, "the age of tokens"],
    [/^lib\/command\//, "the age of tokens, and what a person sees"],
  ];

  it("is read only where no write has its time", () => {
    const readers = files
      .filter(({ text }) => /\bDate\.now\b|new Date\(\)/.test(text))
      .map(({ path }) => path);
    expect(readers.filter((path) => !MAY_READ.some(([of]) => of.test(path)))).toEqual([]);
    expect(readers).toContain("lib/stack/store/table/real-tables.ts");
  });
});
