import { metricText, podsText } from "../../stack/report/metric-reading.ts";
import { type Printed, text } from "../../stack/report/printed.ts";
import { LANES, laneOfReason } from "../../stack/report/reasons/lanes.ts";
import { boundsInForce } from "../../answers/service/views/holds-view.ts";
import { tableRowOf } from "../../answers/service/views/row-view.ts";
import type { Description, OriginView } from "../../answers/views/autoscaler.ts";
import type { FrozenView, OverrideView, PauseView } from "../../answers/views/holds.ts";
import { ageText, untilText } from "../../stack/report/duration-text.ts";
import { type SheetRow, sheet, aligned, Table } from "./text-table.ts";
import { countText, currentText, referenceText, stateText } from "./autoscaler-rows.ts";
import { setText } from "../../answers/words/bounds-words.ts";
import { boundsLines } from "./bounds-lines.ts";
import { yamlText } from "./documents.ts";
import { OWN_EVENT_HEADERS, ownEventRow } from "./event-rows.ts";
import { withoutHoldText } from "../../answers/words/decision-words.ts";
import { windowLines } from "../../answers/words/window-words.ts";
import type { Paint } from "../io.ts";

const NONE = "<none>";

/**
 * Describes one autoscaler in the layout of `kubectl describe hpa`, then with its windows, last
 * decision and data age.
 */
export const describeSheet = (view: Description, nowMs: number, paint: Paint): Printed =>
  sheet([
    ...identity(view, nowMs, paint),
    ...metricLines(view, nowMs),
    ...podsRows(view),
    {
      heading: "Conditions",
      lines: view.conditions.length === 0 ? [NONE] : conditionLines(view, nowMs, paint),
    },
    {
      heading: "Events",
      lines:
        view.events.length === 0
          ? [NONE]
          : new Table(OWN_EVENT_HEADERS).lines(
              view.events.map((event) => ownEventRow(event, nowMs, paint)),
            ),
    },
  ]);

export const pausedText = ({ at, by, until }: PauseView): string =>
  `since ${at} by ${by}${until === undefined ? "" : `, until ${until}`}`;

export const frozenText = ({ at, by, reason }: FrozenView): string =>
  `since ${at} by ${by}: ${reason}`;

const ago = (time: string, nowMs: number): string =>
  `${time} (${ageText(nowMs - Date.parse(time))} ago)`;

const originText = ({ apiVersion, kind, generation, goneAt }: OriginView): string =>
  `${kind} of ${apiVersion} in the cluster, generation ${generation}${goneAt === undefined ? "" : `, gone since ${goneAt}`}`;

/**
 * What limits a count beside its state: `ScalingLimited` below it speaks of rates and bounds alone,
 * as the condition of an HPA does.
 */
const limitedText = (view: Description, paint: Paint): Printed => {
  const state = stateText(tableRowOf(view), paint);
  const lane = view.state === "limited" ? laneOfReason(view.decision?.reason ?? "") : undefined;
  const words = LANES.find((one) => one.lane === lane)?.words;
  return words === undefined ? state : text`${state} by ${words}`;
};

const identity = (view: Description, nowMs: number, paint: Paint): readonly SheetRow[] => [
  ["Name", view.name],
  ["Namespace", view.namespace],
  ["Cluster", view.cluster],
  ["UID", view.uid],
  ["Generation", String(view.generation)],
  ...(view.origin ? [["Object", originText(view.origin)] as const] : []),
  ["Created", ago(view.createdAt, nowMs)],
  ["Updated", `${ago(view.updatedAt, nowMs)} by ${view.updatedBy}`],
  ["Dialect", view.dialect],
  ...(view.owner === undefined ? [] : [["Owner", view.owner] as const]),
  ["Reference", referenceText(view)],
  ["State", limitedText(view, paint)],
  ...(view.problem === undefined ? [] : [["Problem", view.problem] as const]),
  ["Paused", view.paused ? pausedText(view.paused) : "no"],
  ...(view.clusterPaused ? [["Cluster paused", pausedText(view.clusterPaused)] as const] : []),
  ...(view.frozen ? [["Fleet frozen", frozenText(view.frozen)] as const] : []),
];

const replicas = (view: Description, nowMs: number): string => {
  if (view.lastKnown) return `cannot be read; last known: ${currentText(view, nowMs)}`;
  if (view.currentReplicas === undefined) return view.decision ? "cannot be read" : "not known yet";
  return `${view.currentReplicas} current / ${view.desiredReplicas ?? view.currentReplicas} desired`;
};

const metricLines = (view: Description, nowMs: number): readonly SheetRow[] => [
  {
    heading: "Metrics (current / target)",
    lines:
      view.metrics.length === 0
        ? [NONE]
        : aligned(
            view.metrics.map((metric) => [
              `${metric.name}:`,
              metricText(metric).replace("/", " / "),
            ]),
          ),
  },
  ["Min replicas", boundText(boundsInForce(view).min, view.minReplicas)],
  ["Max replicas", boundText(boundsInForce(view).max, view.maxReplicas)],
  ...(view.bounds ? [{ heading: "Bounds", lines: boundsLines(view.bounds, nowMs) }] : []),
  ...aheadRows(view, nowMs),
  ...(view.behavior === undefined
    ? []
    : [
        {
          heading: "Behavior",
          lines: yamlText(view.behavior, { lineWidth: 80 }).trimEnd().split("\n"),
        },
      ]),
  [`${view.target?.kind ?? "Target"} replicas`, replicas(view, nowMs)],
  ["Last scale", view.lastScaleAt === undefined ? "never" : ago(view.lastScaleAt, nowMs)],
  ["Last decision", decision(view, nowMs)],
  ...(view.decision?.withoutHold
    ? [["Without hold", withoutHoldText(view.decision.withoutHold, view.decision.from)] as const]
    : []),
  [
    "Data as of",
    view.syncedAt === undefined ? "no sync has completed yet" : ago(view.syncedAt, nowMs),
  ],
  { heading: "Windows", lines: windowLines(view.windows, nowMs) },
];

/** The bound in force, and what the manifest says where that is another one. */
const boundText = (inForce: number | undefined, byManifest: number | undefined): string =>
  inForce === byManifest
    ? countText(inForce)
    : `${countText(inForce)} (${countText(byManifest)} by the manifest)`;

/** Overrides that have not begun. */
const aheadRows = ({ overrides = [] }: Description, nowMs: number): readonly SheetRow[] => {
  const ahead = overrides.filter(({ state }) => state === "ahead");
  if (ahead.length === 0) return [];
  const rowOf = ({ id, from, until, by, reason, ...set }: OverrideView): readonly string[] => [
    id,
    setText(set),
    `from ${from} (${untilText(Date.parse(from), nowMs)})${until === undefined ? "" : ` until ${until}`}`,
    `by ${by}: ${reason}`,
  ];
  return [{ heading: "Overrides ahead", lines: aligned(ahead.map(rowOf)) }];
};

const decision = ({ decision: last }: Description, nowMs: number): string => {
  if (!last) return "none yet";
  const count =
    last.kind === "scale"
      ? `scale ${last.from} -> ${last.to}`
      : `hold${last.from === undefined ? "" : ` at ${last.from}`}`;
  const refused = last.refused === undefined ? "" : `; the scale was refused: ${last.refused}`;
  return `${count}: ${last.reason}: ${last.message}${refused} (${ageText(nowMs - Date.parse(last.at))} ago)`;
};

/** Which pods made each value, and what is unusual about them. */
const podsRows = ({ metrics, podsCounted = [] }: Description): readonly SheetRow[] => {
  const behind = metrics.flatMap((metric) => {
    const words = metric.kind === "measured" ? podsText(metric) : undefined;
    return words === undefined ? [] : [[`${metric.name}:`, words]];
  });
  if (behind.length + podsCounted.length === 0) return [];
  const remarks = podsCounted.map(({ reason, message }) => [`${reason}:`, message]);
  return [{ heading: "Pods", lines: aligned([...behind, ...remarks]) }];
};

const conditionLines = (
  { conditions }: Description,
  nowMs: number,
  paint: Paint,
): readonly Printed[] =>
  new Table(["Type", "Status", "Since", "Reason", "Message"]).lines(
    conditions.map(({ type, status, since, reason, message }) => [
      type,
      paint(status === "False" && type !== "ScalingLimited" ? "warn" : "quiet", status),
      ageText(nowMs - Date.parse(since)),
      reason,
      message,
    ]),
  );
