import { isJsonPath, type JsonPathFormat } from "../jsonpath/format.ts";
import { documentText } from "./document-text.ts";
import { listOf } from "./kubernetes-list.ts";

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

const JSON_HEAD = '{\n"apiVersion": "v1",\n"kind": "List",\n"items": [';
const YAML_HEAD = "apiVersion: v1\nkind: List\nitems:";

/** Formats a list as one document per line, or as one `List`. */
export const listWriter = (format: "jsonl" | "json" | "yaml" | JsonPathFormat): Writer<unknown> => {
  if (isJsonPath(format)) return templateWriter(format);
  switch (format) {
    case "jsonl":
      return { batch: (batch) => lines(batch.map((item) => JSON.stringify(item))), end: () => "" };
    case "json": {
      const before = separator(`${JSON_HEAD}\n`, ",\n");
      return {
        batch: (batch) => batch.map((item) => `${before()}${JSON.stringify(item)}`).join(""),
        end: () => (before() === ",\n" ? "\n]\n}\n" : `${JSON_HEAD}]\n}\n`),
      };
    }
    case "yaml": {
      const head = separator(`${YAML_HEAD}\n`, "");
      return {
        batch: (batch) => head() + documentText(batch, "yaml"),
        end: () => (head() === "" ? "" : `${YAML_HEAD} []\n`),
      };
    }
  }
};

/** A template can print any part of the list first, so the whole list is kept. */
const templateWriter = (format: JsonPathFormat): Writer<unknown> => {
  const items: unknown[] = [];
  return {
    batch: (batch) => {
      items.push(...batch);
      return "";
    },
    end: () => documentText(listOf(items), format),
  };
};
