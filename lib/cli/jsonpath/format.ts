import { type Part, parseTemplate } from "./template.ts";

const PREFIX = "jsonpath=";

/** The value of `-o jsonpath=TEMPLATE`. */
export type JsonPathFormat = `${typeof PREFIX}${string}`;

export const isJsonPath = (format: string): format is JsonPathFormat => format.startsWith(PREFIX);

/** Throws a usage error for a template that cannot be read. */
export const templateOf = (format: JsonPathFormat): readonly Part[] => parseTemplate(format.slice(PREFIX.length));
