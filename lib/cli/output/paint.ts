import { line, type Printed, styled, type Word } from "../../report/printed.ts";

export type Style = "good" | "warn" | "bad" | "quiet" | "strong";

const FORMATS = { good: "green", warn: "yellow", bad: "red", quiet: "dim", strong: "bold" } as const;

/** Colours a text. Without a terminal, or with NO_COLOR, the text stays as it is. */
export type Paint = (style: Style, text: Word) => Printed;

export const painter =
  (colours: boolean): Paint =>
  (style, text) =>
    colours ? styled(FORMATS[style], text) : line(text);
