/** One row of a description: a label and a text, or a heading and lines. */
export type SheetRow = readonly [label: string, text: string] | { readonly heading: string; readonly lines: readonly string[] };

const INDENT = "  ";
const GAP = 2;

/** Formats a description as `kubectl describe` does: labels in one column, sections indented below their heading. It ends with a line end. */
export const sheet = (lines: readonly SheetRow[]): string => {
  const width = Math.max(0, ...lines.map((line) => ("heading" in line ? 0 : line[0].length + 1))) + GAP;
  const shown = lines.flatMap((line) =>
    "heading" in line ? [`${line.heading}:`, ...line.lines.map((text) => `${INDENT}${text}`.trimEnd())] : [`${line[0]}:`.padEnd(width) + line[1]],
  );
  return `${shown.join("\n")}\n`;
};
