import { printedJson } from "../output/documents.ts";
import { csvLine } from "../output/text-table.ts";
import { HTML } from "./html.ts";
import { AUDIT_FIELDS, type AuditFormat, type AuditKind } from "./record.ts";

const CSV: AuditFormat = {
  textOf: (record) => csvLine(AUDIT_FIELDS.map((field) => record[field])).written(),
  withHash: (text, hash) => `${text},${hash}`,
  read: (line) => {
    const [, text = "", kind = "", hash = ""] = /^(([a-z]+),.*),([0-9a-f]{64})$/.exec(line) ?? [];
    return text === "" ? undefined : { text, kind: kind as AuditKind, hash };
  },
  frame: (last) => (last === undefined ? [`${AUDIT_FIELDS.join(",")},hash`] : []),
};

const JSON_BEGIN = ["{", '"records": ['];
const JSON_END = ["]", "}"];

/** The last record of a list has no comma after it. */
const comma = (text: string): string => (text.startsWith('{"kind":"end"') ? "" : ",");

const JSON_LINES: AuditFormat = {
  textOf: (record) =>
    printedJson(
      Object.fromEntries(
        AUDIT_FIELDS.flatMap((field) =>
          record[field] === undefined ? [] : [[field, record[field]]],
        ),
      ),
    ),
  withHash: (text, hash) => `${text.slice(0, -1)},"hash":"${hash}"}${comma(text)}`,
  read: (line) => {
    const [, begin = "", kind = "", hash = "", after = ""] =
      /^(\{"kind":"([a-z]+)".*),"hash":"([0-9a-f]{64})"\}(,?)$/.exec(line) ?? [];
    return begin === "" || comma(begin) !== after
      ? undefined
      : { text: `${begin}}`, kind: kind as AuditKind, hash };
  },
  frame: (last, next) => (last === undefined ? JSON_BEGIN : next === undefined ? JSON_END : []),
};

export type AuditFormatName = "csv" | "json" | "html";

export const AUDIT_FORMATS: Readonly<Record<AuditFormatName, AuditFormat>> = {
  csv: CSV,
  json: JSON_LINES,
  html: HTML,
};

/** The format of a file by its first line. */
export const formatOfLine = (first: string): AuditFormat | undefined =>
  Object.values(AUDIT_FORMATS).find((format) => format.frame(undefined, "audit")[0] === first);
