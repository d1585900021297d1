import { printableJson } from "../../rules/model/foreign-text.ts";
import { AUDIT_FIELDS, type AuditFormat, type AuditKind } from "./record.ts";

const JSON_BEGIN = ["{", '"records": ['];
const JSON_END = ["]", "}"];

/** The last record of a list has no comma after it. */
const comma = (text: string): string => (text.startsWith('{"kind":"end"') ? "" : ",");

/** One object with `records`, one record a line. */
export const JSON_LINES: AuditFormat = {
  textOf: (record) =>
    printableJson(
      JSON.stringify(
        Object.fromEntries(
          AUDIT_FIELDS.flatMap((field) =>
            record[field] === undefined ? [] : [[field, record[field]]],
          ),
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
