import { block, joined, lines, type Printed, text } from "../../report/printed.ts";
import { isTemplate, type TemplateFormat } from "../jsonpath/format.ts";
import { documentText, jsonText } from "./document-text.ts";
import { listOf } from "./kubernetes-object.ts";

/** Formats a list batch by batch, so that a list of any length needs constant memory. */
export interface Writer<Item> {
  batch(items: readonly Item[]): Printed;
  end(): Printed;
}

/** Returns `first` on the first call and `next` on every other one. */
export const separator = <Text>(first: Text, next: Text): (() => Text) => {
  let before = first;
  return () => {
    const taken = before;
    before = next;
    return taken;
  };
};

/** Nothing to print. */
export const EMPTY: Printed = text``;

const JSON_HEAD = '{\n"apiVersion": "v1",\n"kind": "List",\n"items": [';
const YAML_HEAD = "apiVersion: v1\nkind: List\nitems:";

/** Formats a list as one document per line, or as one `List`. */
export const listWriter = (format: "jsonl" | "json" | "yaml" | TemplateFormat, hasHeaders = true): Writer<unknown> => {
  if (isTemplate(format)) return templateWriter(format, hasHeaders);
  switch (format) {
    case "jsonl":
      return { batch: (batch) => lines(batch.map((item) => jsonText(item))), end: () => EMPTY };
    case "json": {
      const before = separator(`${JSON_HEAD}\n`, ",\n");
      return {
        batch: (batch) => block(batch.map((item) => `${before()}${jsonText(item)}`).join("")),
        end: () => block(before() === ",\n" ? "\n]\n}\n" : `${JSON_HEAD}]\n}\n`),
      };
    }
    case "yaml": {
      const head = separator(`${YAML_HEAD}\n`, "");
      return {
        batch: (batch) => joined([block(head()), documentText(batch, "yaml")], ""),
        end: () => block(head() === "" ? "" : `${YAML_HEAD} []\n`),
      };
    }
  }
};

/** A template can print any part of the list first, so the whole list is kept. */
const templateWriter = (format: TemplateFormat, hasHeaders: boolean): Writer<unknown> => {
  const items: unknown[] = [];
  return {
    batch: (batch) => {
      items.push(...batch);
      return EMPTY;
    },
    end: () => documentText(listOf(items), format, hasHeaders),
  };
};

/** Groups items into batches of at most `size`, so that a list of any length is printed in constant memory. */
export async function* batches<Item>(items: AsyncIterable<Item> | Iterable<Item>, size: number): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
