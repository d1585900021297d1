import { documentText } from "./document.ts";

/** Prints a list batch by batch, so that one of any length needs constant memory. */
export interface Writer<Item> {
  batch(items: readonly Item[]): string;
  end(): string;
}

export const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

/** What stands before the first item and before every other one. */
export const separator = (first: string, next: string): (() => string) => {
  let before = first;
  return () => {
    const taken = before;
    before = next;
    return taken;
  };
};

/** A list as one document, or as a document on each line. */
export const listWriter = (format: "jsonl" | "json" | "yaml"): Writer<unknown> => {
  switch (format) {
    case "jsonl":
      return { batch: (batch) => lines(batch.map((item) => JSON.stringify(item))), end: () => "" };
    case "json": {
      const before = separator("[\n", ",\n");
      return {
        batch: (batch) => batch.map((item) => `${before()}${JSON.stringify(item)}`).join(""),
        end: () => (before() === "[\n" ? "[]\n" : "\n]\n"),
      };
    }
    case "yaml": {
      const nothing = separator("[]\n", "");
      return {
        batch: (batch) => {
          nothing();
          return documentText(batch, "yaml");
        },
        end: nothing,
      };
    }
  }
};
