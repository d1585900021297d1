import { createRequire } from "node:module";
import type { CreateNodeOptions, DocumentOptions, SchemaOptions, ToStringOptions } from "yaml";
import { isPrintable, printableJson } from "../../rules/model/foreign-text.ts";
import { block, type Printed, joined, lines, text } from "../../stack/report/printed.ts";
import { type TemplateFormat, templateText, isTemplate } from "../jsonpath/format.ts";
import { isObject, present } from "../../rules/model/json.ts";
import { rowNames } from "../../answers/service/views/row-view.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import type { Printer } from "../io.ts";

export type DocumentFormat = "json" | "yaml" | TemplateFormat;

/**
 * Formats one value as a document with a line end, or as the template says. Undefined members are
 * left out in all formats. JSON and YAML keep every character, the unprintable ones as escapes of
 * their own. A template prints what shells read, so that it keeps line ends and tabs and escapes
 * the others. `hasHeaders`: of custom columns.
 */
export const documentText = (
  value: unknown,
  format: DocumentFormat,
  hasHeaders = true,
): Printed => {
  if (format === "json") return block(`${printedJson(value, 2)}\n`);
  const plain: unknown = JSON.parse(JSON.stringify(value));
  if (format === "yaml") return block(yamlText(plain, { aliasDuplicateObjects: false }));
  return block(templateText(format, plain, hasHeaders));
};

/** Several documents of one file. */
export const yamlOf = (documents: readonly unknown[]): Printed =>
  joined(
    documents.map((document) => documentText(document, "yaml")),
    text`---\n`,
  );

export const printedJson = (value: unknown, indent?: number): string =>
  printableJson(JSON.stringify(value, null, indent));

/** Loaded by the first YAML that is printed, because its 70 files are for nothing elsewhere. */
const yaml = (): typeof import("yaml") => createRequire(import.meta.url)("yaml");

/**
 * Texts that a reader of YAML 1.1, such as the one in kubectl, takes for a number, a date or a
 * boolean: "20:00" for 1200, "2026-12-24", "on".
 */
const NO_TEXT_IN_YAML_1_1 = /^(?:\d+(?::[0-5]?\d)+|\d{4}-\d{2}-\d{2}|y|n|yes|no|on|off)$/i;

/**
 * YAML in which each text is quoted that YAML 1.1 reads as something else, or that has an
 * unprintable character, which is then an escape.
 */
export const yamlText = (
  value: unknown,
  options: DocumentOptions & SchemaOptions & CreateNodeOptions & ToStringOptions = {},
): string => {
  const { Document, visit } = yaml();
  const document = new Document(value, options);
  visit(document, {
    Scalar: (_key, node) => {
      const { value: scalar } = node;
      if (
        typeof scalar === "string" &&
        (NO_TEXT_IN_YAML_1_1.test(scalar) || !isPrintable(scalar.replaceAll("\n", "")))
      )
        node.type = "QUOTE_DOUBLE";
    },
  });
  return printableJson(document.toString({ lineWidth: 0, ...options }));
};

/**
 * What Tidemark adds to a manifest. `apply` passes over it, so that what `get` and `describe` print
 * can be applied again.
 */
interface Added {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly generation: number;
    readonly creationTimestamp: string;
  };
  /** The other fields of the view. */
  readonly status: object;
}

export const kindOf = ({ manifest }: Pick<AutoscalerView, "manifest">): string =>
  rowNames(manifest).kind;

export const documentLabels = ({
  manifest,
}: Pick<AutoscalerView, "manifest">): Readonly<Record<string, string>> => rowNames(manifest).labels;

/**
 * An autoscaler in the form of `kubectl get -o yaml`: the manifest as it was applied, with
 * metadata, and the status of its own API beside ours, so that a jsonpath for kubectl finds its
 * fields.
 */
export const kubernetesObject = ({
  manifest,
  name,
  namespace,
  uid,
  generation,
  createdAt,
  ...view
}: AutoscalerView): Added => {
  const status = { ...view, ...ownStatus(view) };
  const { apiVersion, kind, metadata, ...rest } = manifest as {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly metadata?: object;
  };
  return {
    ...{ apiVersion, kind },
    metadata: { ...metadata, name, namespace, uid, generation, creationTimestamp: createdAt },
    ...rest,
    status,
  };
};

type OwnFields = Pick<AutoscalerView, "lastScaleAt" | "currentMetrics" | "conditions">;

/** Fields of the status of autoscaling/v1 and v2 that have another name here, or none. */
const ownStatus = ({ lastScaleAt, currentMetrics, conditions }: OwnFields): object => ({
  ...present({
    lastScaleTime: lastScaleAt,
    currentCPUUtilizationPercentage: cpuUtilization(currentMetrics),
  }),
  conditions: conditions.map((condition) => ({
    ...condition,
    lastTransitionTime: condition.since,
  })),
});

const cpuUtilization = (metrics: AutoscalerView["currentMetrics"] = []): number | undefined => {
  for (const { type, resource } of metrics) {
    if (
      type !== "Resource" ||
      !isObject(resource) ||
      resource["name"] !== "cpu" ||
      !isObject(resource["current"])
    )
      continue;
    const { averageUtilization } = resource["current"];
    if (typeof averageUtilization === "number") return averageUtilization;
  }
  return undefined;
};

export const kubernetesList = (views: readonly AutoscalerView[]) =>
  listDocument(views.map(kubernetesObject));

/** A list, as Kubernetes prints one. */
export const listDocument = <Item>(items: readonly Item[]) => ({
  apiVersion: "v1",
  kind: "List",
  items,
});

/** Formats a list batch by batch, so that a list of any length needs constant memory. */
export interface Writer<Item> {
  readonly batch: (items: readonly Item[]) => Printed;
  /** What closes the list. */
  readonly end?: () => Printed;
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
export const listWriter = (
  format: "jsonl" | "json" | "yaml" | TemplateFormat,
  hasHeaders = true,
): Writer<unknown> => {
  if (isTemplate(format)) return templateWriter(format, hasHeaders);
  switch (format) {
    case "jsonl":
      return { batch: (batch) => lines(batch.map((item) => printedJson(item))) };
    case "json": {
      const before = separator(`${JSON_HEAD}\n`, ",\n");
      return {
        batch: (batch) => block(batch.map((item) => `${before()}${printedJson(item)}`).join("")),
        end: () => block(before() === ",\n" ? "\n]\n}\n" : `${JSON_HEAD}]\n}\n`),
      };
    }
    case "yaml": {
      const head = separator(`${YAML_HEAD}\n`, "");
      return {
        batch: (batch) => joined([block(head()), documentText(batch, "yaml")]),
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
    end: () => documentText(listDocument(items), format, hasHeaders),
  };
};

/** Rows that are formatted and written together. */
const BATCH = 200;

/** Prints a list batch by batch, as far as it is read. True where there was nothing to print. */
export const printList = async <Item>(
  { print }: Pick<Printer, "print">,
  items: AsyncIterable<Item> | Iterable<Item>,
  write: Writer<Item>,
): Promise<boolean> => {
  let isEmpty = true;
  for await (const batch of batches(items)) {
    isEmpty = false;
    if (!(await print(write.batch(batch)))) return false;
  }
  if (write.end) await print(write.end());
  return isEmpty;
};

/** Groups items into batches, so that a list of any length is printed in constant memory. */
export async function* batches<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
