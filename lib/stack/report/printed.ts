import { stripVTControlCharacters, styleText } from "node:util";
import { printable } from "../../rules/model/foreign-text.ts";

/**
 * A text that was made by this program, a number, or a text of another origin, which is escaped
 * when it is printed.
 */
export type Word = string | number | Printed;

/**
 * A text that a terminal may get. What prints takes only this type, and only this file makes one:
 * each text of another origin (a manifest, a cluster, a stack, a file) is escaped on its way in, so
 * that none of them can move the cursor, change the colours, forge a line or hide a part of it.
 */
export class Printed {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /**
   * What the stream gets. The class has no `toString`, because a string made of it would be a
   * foreign text again.
   */
  written(): string {
    return this.#text;
  }

  /** Characters that are seen: colours have no width. */
  get length(): number {
    return stripVTControlCharacters(this.#text).length;
  }

  trimEnd(): Printed {
    return new Printed(this.#text.trimEnd());
  }

  /** The literal parts of a template are ours, and everything between them is escaped. */
  static template(literals: TemplateStringsArray, ...words: readonly Word[]): Printed {
    return new Printed(
      literals
        .map(
          (literal, index) => literal + (index < words.length ? escaped(words[index] ?? "") : ""),
        )
        .join(""),
    );
  }

  /** Several lines: everything but line ends and tabs is escaped. */
  static block(text: string): Printed {
    return new Printed(text.replace(/[^\n\t]+/g, printable));
  }

  static styled(style: Parameters<typeof styleText>[0], word: Word): Printed {
    return new Printed(styleText(style, escaped(word), { validateStream: false }));
  }

  static joined(words: readonly Word[], between: string | Printed = ""): Printed {
    return new Printed(words.map(escaped).join(escaped(between)));
  }
}

const escaped = (word: Word): string =>
  word instanceof Printed ? word.written() : printable(String(word));

/** `` text`${name} is at ${count}` ``: our own words, with foreign ones between them. */
export const text = Printed.template;

/** One line or a part of one, each unprintable character of it escaped. */
export const line = (word: Word): Printed => (word instanceof Printed ? word : text`${word}`);

/** A text of several lines, such as a document or a help. */
export const block = Printed.block;

/** Colours a word as `styleText` of Node does. */
export const styled = Printed.styled;

export const joined = Printed.joined;

/** Each with a line end. */
export const lines = (all: readonly Word[]): Printed => joined(all.map((each) => text`${each}\n`));

/**
 * The lines of an error, each with `error: ` before it, so that no text of another origin looks
 * like another kind of line.
 */
export const errorLines = (message: string): Printed =>
  lines(message.split("\n").map((each) => text`error: ${each}`));

/**
 * Rewrites a message of commander in our grammar: one line, a capital, double quotes, no final
 * period.
 */
export const usageMessage = (message: string): string => {
  const [first = "", hint = ""] = message.replace(/^error: /, "").split("\n");
  const near = /\(Did you mean (?:one of )?(.+)\?\)/.exec(hint)?.[1];
  const words = `${first.charAt(0).toUpperCase()}${first.slice(1)}`
    .replaceAll("'", '"')
    .replace(/\.$/, "");
  return near === undefined ? words : `${words}, did you mean "${near.replaceAll(", ", '", "')}"?`;
};
