import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  FOREIGN_CHARACTERS_MAX,
  foreignReason,
  foreignText,
} from "../../lib/rules/model/foreign-text.ts";
import { runs } from "../runs.ts";

describe("foreignText()", () => {
  it("shows what a terminal would obey", () => {
    expect(foreignText("a\nb\r\tc\u001b[2J\u0000\u202e\u2028\u2029d")).toBe(
      "a\\nb\\r\\tc\\u{1b}[2J\\u{0}\\u{202e}\\u{2028}\\u{2029}d",
    );
  });

  it("shows half of a surrogate pair, and leaves a whole one as it is", () => {
    expect(foreignText("\ud83d \u{1f600}")).toBe("\\u{d83d} \u{1f600}");
  });

  it("leaves out the blanks and line breaks around a text", () => {
    expect(foreignText(" \n no such pod \n")).toBe("no such pod");
  });

  it("leaves 256 characters as they are, and ends a longer text after 255 with an ellipsis", () => {
    const longest = `${"x".repeat(255)}y`;
    expect(foreignText(longest)).toBe(longest);
    expect(foreignText(`${longest}z`)).toBe(`${"x".repeat(255)}…`);
  });

  it("counts the characters that are shown: an escaped one is longer than the one that it stands for", () => {
    expect(foreignText("\u0000".repeat(100))).toBe(`${"\\u{0}".repeat(51)}…`);
  });

  it("cuts the text before it looks at it, so that a text of megabytes costs no more than a short one", () => {
    expect(foreignText(`a${" ".repeat(1_000)}b`)).toBe("a");
  });

  it("never gives more than 256 characters, and never one that is obeyed instead of shown", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
        const words = foreignText(text);
        expect(words.length).toBeLessThanOrEqual(FOREIGN_CHARACTERS_MAX);
        expect(words).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
      runs(100),
    );
  });
});

describe("foreignReason()", () => {
  it.each(["Forbidden", "a", "Http2Error", "A".repeat(64)])(
    "takes one word of letters and digits that begins with a letter: %s",
    (text) => {
      expect(foreignReason(text)).toBe(text);
    },
  );

  it.each([
    "",
    "2Late",
    "Not Found",
    "Not-Found",
    "Forbidden\u001b",
    "Forbidden\n",
    "\nForbidden",
    " Forbidden",
    "A".repeat(65),
  ])("takes any other text for no reason: %j", (text) =>
    expect(foreignReason(text)).toBeUndefined(),
  );
});
