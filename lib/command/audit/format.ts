import { csvLine } from "../output/text-table.ts";
import { HTML } from "./html.ts";
import { JSON_LINES } from "../../answers/audit/json-lines.ts";
import { AUDIT_FIELDS, type AuditFormat, type AuditKind } from "../../answers/audit/record.ts";

const CSV: AuditFormat = {
  textOf: (record) => csvLine(AUDIT_FIELDS.map((field) => record[field])).written(),
  withHash: (text, hash) => `${text},${hash}`,
  read: (line) => {
    const [, text = "", kind = "", hash = ""] = /^(([a-z]+),.*),([0-9a-f]{64})$/.exec(line) ?? [];
    return text === "" ? undefined : { text, kind: kind as AuditKind, hash };
  },
  frame: (last) => (last === undefined ? [`${AUDIT_FIELDS.join(",")},hash`] : []),
};

export type AuditFormatName = "csv" | "json" | "html";

export const AUDIT_FORMATS: Readonly<Record<AuditFormatName, AuditFormat>> = {
  csv: CSV,
  json: JSON_LINES,
  html: HTML,
};
