import { line, type Word } from "../../report/printed.ts";

/** A picture that is drawn over itself, below what the terminal shows already. */
export interface Screen {
  readonly draw: (lines: readonly Word[]) => void;
}

type Stream = Pick<NodeJS.WriteStream, "write" | "columns" | "rows">;

const ESCAPE = "\u001b[";
const up = (lines: number): string => (lines > 0 ? `${ESCAPE}${lines}A` : "");
const down = (lines: number): string => (lines > 0 ? `${ESCAPE}${lines}B` : "");
const CLEAR_LINE_END = `${ESCAPE}K`;
const CLEAR_BELOW = `${ESCAPE}J`;
const CLEAR_ALL = `${ESCAPE}2J${ESCAPE}H`;
/** Terminals that know these show the whole change at once; others ignore them. */
const BEGIN = `${ESCAPE}?2026h`;
const END = `${ESCAPE}?2026l`;

/** Writes the lines that changed and no others, so that a slow connection carries little and nothing flickers. The cursor rests below the picture. */
export const screen = (stream: Stream): Screen => {
  let before: readonly string[] = [];
  let size = sizeOf(stream);
  return {
    draw: (picture) => {
      const lines = picture.map((each) => line(each).written());
      const resized = size !== sizeOf(stream);
      size = sizeOf(stream);
      const text = resized ? CLEAR_ALL + whole(lines) : lines.length === before.length ? changes(before, lines) : again(before, lines);
      before = lines;
      if (text !== "") stream.write(`${BEGIN}${text}${END}`);
    },
  };
};

/** A resized terminal has moved its lines, so the whole picture is drawn again. */
const sizeOf = ({ columns, rows }: Stream): string => `${columns}x${rows}`;

const whole = (lines: readonly string[]): string => lines.map((each) => `${each}${CLEAR_LINE_END}\r\n`).join("");

const again = (before: readonly string[], lines: readonly string[]): string => `\r${up(before.length)}${CLEAR_BELOW}${whole(lines)}`;

const changes = (before: readonly string[], lines: readonly string[]): string =>
  lines
    .map((each, at) => {
      const height = lines.length - at;
      return each === before[at] ? "" : `\r${up(height)}${each}${CLEAR_LINE_END}\r${down(height)}`;
    })
    .join("");
