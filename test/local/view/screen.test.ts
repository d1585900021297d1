import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { screen } from "../../../lib/embedded/view/live.ts";

const ESCAPE = "\u001b";
const TOKEN = new RegExp(`${ESCAPE}\\[\\??\\d*[A-Za-z]|\\r|\\n|[^${ESCAPE}\\r\\n]+`, "g");
const COMMAND = new RegExp(`^${ESCAPE}\\[\\??(\\d*)([A-Za-z])$`);

/**
 * As much of a terminal as the screen uses: text, line ends, the cursor up and down, and what is
 * erased.
 */
class Terminal {
  columns = 80;
  rows = 24;
  written = "";
  lines: string[] = ["greeting", ""];
  #row = 1;
  #column = 0;

  write(text: string): boolean {
    this.written = text;
    for (const [token] of text.matchAll(TOKEN)) this.#take(token);
    return true;
  }

  #take(token: string): void {
    const [, count = "", verb = ""] = COMMAND.exec(token) ?? [];
    if (token === "\r") this.#column = 0;
    else if (token === "\n") this.#row++;
    else if (verb === "A") this.#row -= Number(count);
    else if (verb === "B") this.#row += Number(count);
    else if (verb === "K") this.#put("", true);
    else if (verb === "J") this.#erase(count);
    else if (verb === "H") [this.#row, this.#column] = [0, 0];
    else if (verb === "") this.#put(token, false);
  }

  #put(text: string, ends: boolean): void {
    while (this.lines.length <= this.#row) this.lines.push("");
    const line = this.lines[this.#row] ?? "";
    const rest = ends ? "" : line.slice(this.#column + text.length);
    this.lines[this.#row] = line.slice(0, this.#column).padEnd(this.#column) + text + rest;
    this.#column += text.length;
  }

  #erase(what: string): void {
    if (what === "2") this.lines = [];
    else
      this.lines = [
        ...this.lines.slice(0, this.#row),
        (this.lines[this.#row] ?? "").slice(0, this.#column),
      ];
  }
}

const shownBy = ({ lines }: Terminal): readonly string[] =>
  lines.slice(0, lines.at(-1) === "" ? -1 : undefined);

describe("screen()", () => {
  it("always shows the last picture below what was there, whatever came before it", () => {
    const line = fc.stringMatching(/^[a-z]{0,8}$/);
    fc.assert(
      fc.property(
        fc.array(fc.array(line, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 }),
        (pictures) => {
          const terminal = new Terminal();
          const { draw } = screen(terminal);
          for (const picture of pictures) {
            draw(picture);
            const expected = ["greeting", ...picture];
            expect(terminal.lines.slice(0, expected.length)).toEqual(expected);
            expect(terminal.lines.slice(expected.length).join("")).toBe("");
          }
        },
      ),
    );
  });

  it("writes the line that changed and no other, and nothing where none did", () => {
    const terminal = new Terminal();
    const { draw } = screen(terminal);
    draw(["title", "row", "foot"]);
    draw(["title", "another", "foot"]);
    expect(terminal.written).toContain("another");
    expect(terminal.written).not.toMatch(/title|foot/);
    terminal.written = "";
    draw(["title", "another", "foot"]);
    expect(terminal.written).toBe("");
  });

  it("begins anew in a terminal that has another size", () => {
    const terminal = new Terminal();
    const { draw } = screen(terminal);
    draw(["title", "foot"]);
    terminal.columns = 60;
    draw(["title", "foot"]);
    expect(shownBy(terminal)).toEqual(["title", "foot"]);
  });
});
