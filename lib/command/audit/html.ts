import { line, type Printed } from "../../stack/report/printed.ts";
import { markupText } from "../../stack/report/timeline/svg.ts";
import type { AuditFormat, AuditKind, AuditRecord } from "../../answers/audit/record.ts";

/* One file without a script, an image or an address: it can be kept, printed and sent as it is. */

type Field = keyof AuditRecord;

interface Section {
  readonly title: string;
  readonly columns: readonly (readonly [title: string, field: Field])[];
}

const RECORDS: Section = {
  title: "Scales, edits and holes, oldest first",
  columns: [
    ["Kind", "kind"],
    ["Time", "at"],
    ["Until", "until"],
    ["Cluster", "cluster"],
    ["Namespace", "namespace"],
    ["Name", "name"],
    ["What", "what"],
    ["By", "by"],
    ["Grant", "grant"],
    ["From", "from"],
    ["To", "to"],
    ["Reason", "reason"],
    ["Outcome", "outcome"],
    ["Generation", "generation"],
    ["Edit of it", "edit"],
    ["Edited by", "editedBy"],
    ["Edited at", "editedAt"],
    ["Hole", "hole"],
    ["Message", "message"],
    ["ID", "id"],
  ],
};

const SECTIONS: Readonly<Record<AuditKind, Section>> = {
  audit: {
    title: "Period",
    columns: [
      ["From", "at"],
      ["Until", "until"],
      ["Cluster", "cluster"],
      ["Namespace", "namespace"],
      ["Form", "what"],
      ["Read", "message"],
    ],
  },
  total: {
    title: "Totals",
    columns: [
      ["Number", "count"],
      ["What", "what"],
      ["By", "by"],
    ],
  },
  scale: RECORDS,
  edit: RECORDS,
  gap: RECORDS,
  end: { title: "End", columns: [["Lines before this one", "count"]] },
};

const STYLE =
  "body{font:14px system-ui,sans-serif;margin:2em}table{border-collapse:collapse;margin-bottom:2em}th,td{border:1px solid #bbb;padding:.2em .5em;text-align:left;vertical-align:top}tr.hole{background:#fde9d9}.hash{font:10px monospace;color:#666;word-break:break-all;min-width:16em}";

const HEAD = [
  "<!doctype html>",
  '<html lang="en">',
  '<meta charset="utf-8">',
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
  "<title>Audit of Tidemark</title>",
  `<style>${STYLE}</style>`,
  "<h1>Audit of Tidemark</h1>",
  "<p>Each line has the SHA-256 of the hash above it and of itself. <code>tidemark audit --verify FILE</code> checks them.</p>",
];

const open = ({ title, columns }: Section): readonly string[] => [
  `<h2>${title}</h2>`,
  "<table>",
  `<tr>${columns.map(([name]) => `<th>${name}</th>`).join("")}<th>Hash</th></tr>`,
];

const CLOSE = ["</table>"];

const cell = (word: string | number | Printed = ""): string =>
  `<td>${markupText(line(word).written())}</td>`;

export const HTML: AuditFormat = {
  textOf: (record) => {
    const marks = record.hole === undefined ? "" : " hole";
    const cells = SECTIONS[record.kind].columns.map(([, field]) => cell(record[field]));
    return `<tr class="${record.kind}${marks}">${cells.join("")}`;
  },
  withHash: (text, hash) => `${text}<td class="hash">${hash}</td></tr>`,
  read: (row) => {
    const [, text = "", kind = "", hash = ""] =
      /^(<tr class="([a-z]+)(?: hole)?">.*)<td class="hash">([0-9a-f]{64})<\/td><\/tr>$/.exec(
        row,
      ) ?? [];
    return text === "" || !Object.hasOwn(SECTIONS, kind)
      ? undefined
      : { text, kind: kind as AuditKind, hash };
  },
  frame: (last, next) => {
    const [before, after] = [last && SECTIONS[last], next && SECTIONS[next]];
    if (before !== undefined && before === after) return [];
    return [...(before ? CLOSE : HEAD), ...(after ? open(after) : ["</html>"])];
  },
};
