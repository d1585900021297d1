import { stringify } from "yaml";

export type DocumentFormat = "json" | "yaml";

/** One value as a whole document, with a line end. Members that are undefined are left out in both formats. */
export const documentText = (value: unknown, format: DocumentFormat): string =>
  format === "json"
    ? `${JSON.stringify(value, null, 2)}\n`
    : stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0, aliasDuplicateObjects: false });
