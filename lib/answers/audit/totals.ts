import { present } from "../../rules/model/json.ts";
import type { AuditRecord } from "./record.ts";

/** Editors with a line of their own; the others are counted together. */
const EDITORS_MAX = 100;

/** What is counted of a scale. */
const SCALES: Readonly<Record<string, string>> = {
  applied: "scales that were made",
  refused: "scales that the cluster refused",
  unknown: "scales without an answer",
  outside: "changes of a count that Tidemark did not make",
};

/** Counts records, for the top of an audit. */
export const totals = () => {
  const counts = new Map<string, number>();
  const editors = new Map<string, number>();
  const count = (of: Map<string, number>, what: string): void =>
    void of.set(what, (of.get(what) ?? 0) + 1);
  return {
    add: ({ kind, outcome = "", by = "", hole }: AuditRecord): void => {
      if (hole !== undefined) count(counts, "holes");
      if (kind === "scale") count(counts, SCALES[outcome] ?? outcome);
      if (kind !== "edit") return;
      count(counts, outcome === "not made" ? "edits that were not made" : "edits");
      count(editors, editors.has(by) || editors.size < EDITORS_MAX ? by : "others");
    },
    /** A line for each number that the form has, also for a number of 0. */
    records: (): readonly AuditRecord[] => [
      ...[...Object.values(SCALES), "edits", "edits that were not made", "holes"].map(
        (what): AuditRecord => ({ kind: "total", what, count: counts.get(what) ?? 0 }),
      ),
      ...[...editors].map(
        ([by, times]): AuditRecord =>
          present({ kind: "total", what: "edits of one editor", by, count: times }),
      ),
    ],
  };
};
