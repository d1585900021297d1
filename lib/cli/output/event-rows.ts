import type { Printed, Word } from "../../report/printed.ts";
import type { EventView } from "../../service/views/autoscaler-view.ts";
import { ageText } from "./age-text.ts";
import { csvLine } from "./csv.ts";
import type { Paint, Style } from "./paint.ts";

export const EVENT_HEADERS = ["AGE", "CLUSTER", "NAMESPACE", "NAME", "REFERENCE", "FROM", "TO", "REASON", "OUTCOME", "MESSAGE"] as const;

const OUTCOME_STYLES: Readonly<Record<EventView["outcome"], Style>> = { applied: "good", refused: "bad", unknown: "warn" };

export const eventRow = (event: EventView, nowMs: number, paint: Paint): readonly Word[] => [
  ageText(nowMs - Date.parse(event.at)),
  event.cluster,
  event.namespace,
  event.name,
  `${event.target.kind}/${event.target.name}`,
  String(event.from),
  String(event.to),
  event.reason,
  paint(OUTCOME_STYLES[event.outcome], event.outcome),
  event.detail === undefined ? event.message : `${event.message}; ${event.detail}`,
];

export const CSV_HEADER = csvLine([
  "id",
  "at",
  "settledAt",
  "cluster",
  "namespace",
  "name",
  "targetKind",
  "targetName",
  "from",
  "to",
  "reason",
  "outcome",
  "specGeneration",
  "message",
  "detail",
]);

export const eventCsv = (event: EventView): Printed =>
  csvLine([
    event.id,
    event.at,
    event.settledAt,
    event.cluster,
    event.namespace,
    event.name,
    event.target.kind,
    event.target.name,
    event.from,
    event.to,
    event.reason,
    event.outcome,
    event.specGeneration,
    event.message,
    event.detail,
  ]);
