import { styleText } from "node:util";

export type Style = "good" | "warn" | "bad" | "quiet" | "strong";

const FORMATS = { good: "green", warn: "yellow", bad: "red", quiet: "dim", strong: "bold" } as const;

/** Colours a text for people; where the output is no terminal, or NO_COLOR is set, it gives the text back as it is. */
export type Paint = (style: Style, text: string) => string;

export const painter =
  (colours: boolean): Paint =>
  (style, text) =>
    colours ? styleText(FORMATS[style], text, { validateStream: false }) : text;
