import { stringify } from "yaml";

export type DocumentFormat = "json" | "yaml";

/** Formats one value as a document with a line end. Undefined members are left out in both formats. */
export const documentText = (value: unknown, format: DocumentFormat): string =>
  format === "json"
    ? `${JSON.stringify(value, null, 2)}\n`
    : stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0, aliasDuplicateObjects: false });
