import { documentText } from "./document-text.ts";

/** Formats a list batch by batch, so that a list of any length needs constant memory. */
export interface Writer<Item> {
  batch(items: readonly Item[]): string;
  end(): string;
}

export const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

/** Returns `first` on the first call and `next` on every other one. */
export const separator = (first: string, next: string): (() => string) => {
  let before = first;
  return () => {
    const taken = before;
    before = next;
    return taken;
  };
};

/** Formats a list as one document, or as one document per line. */
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
