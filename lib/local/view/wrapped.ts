import { printable } from "../../model/printable.ts";

/** Breaks a text at blanks into lines of at most this many characters. The second line and all that follow are indented. Unprintable characters are escaped first, because they count as what they become. After `linesMax` lines the rest is cut off with an ellipsis. */
export const wrapped = (text: string, columns: number, linesMax: number, indent = ""): readonly string[] => {
  const lines: string[] = [];
  let rest = printable(text);
  while (rest !== "" && lines.length < linesMax) {
    const before = lines.length === 0 ? "" : indent;
    const room = Math.max(1, columns - before.length);
    if (rest.length <= room || lines.length === linesMax - 1) {
      lines.push(before + cut(rest, room));
      break;
    }
    const at = rest.lastIndexOf(" ", room);
    const end = at > 0 ? at : room;
    lines.push(before + rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return lines;
};

/** Cuts a text to one line of at most this many characters. */
export const cut = (text: string, columns: number): string => {
  const shown = printable(text);
  return shown.length <= columns ? shown : `${shown.slice(0, Math.max(0, columns - 1))}…`;
};
