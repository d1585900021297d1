import type { WindowsView } from "../../service/windows-view.ts";
import { ageText, untilText } from "./age.ts";

/** Runs of recommendations that are listed; older ones are counted. */
const SHOWN_RUNS = 5;

const NAMES = { scaleUp: "Scale up", scaleDown: "Scale down" } as const;

/** The windows in words: what was recommended, what stabilization holds and until when, which scale events use up which rate. */
export const windowLines = (windows: WindowsView, nowMs: number): readonly string[] =>
  windows.problem === undefined ? known(windows, nowMs) : [`${windows.problem}; see tidemark partition describe`];

const known = (windows: WindowsView, nowMs: number): readonly string[] => [
  ...(windows.forbidden ? forbidden(windows.forbidden, nowMs) : recommendations(windows, nowMs)),
  ...windows.stabilization.map(({ direction, windowSeconds, held }) => {
    const state = held ? `held at ${held.replicas} until ${held.until} (${untilText(Date.parse(held.until), nowMs)})` : "holds nothing";
    return `${NAMES[direction]} stabilization ${ageText(windowSeconds * 1000)}: ${state}`;
  }),
  ...windows.rates.flatMap(({ direction, type, value, periodSeconds, added, removed, events }) => [
    `${NAMES[direction]} rate ${type === "Percent" ? `${value} percent` : `${value} pods`} in ${ageText(periodSeconds * 1000)}: ${added} added, ${removed} removed`,
    ...events.map(
      ({ change, at, leaves }) =>
        `  ${change > 0 ? "+" : ""}${change} ${ageText(nowMs - Date.parse(at))} ago, leaves ${untilText(Date.parse(leaves), nowMs)}`,
    ),
  ]),
];

/** Dialects that close a direction after any scale keep no recommendations. */
const forbidden = (all: NonNullable<WindowsView["forbidden"]>, nowMs: number): readonly string[] =>
  all.map(({ direction, windowSeconds, until }) => {
    const state = until === undefined ? "open" : `closed until ${until} (${untilText(Date.parse(until), nowMs)})`;
    return `${NAMES[direction]} forbidden window ${ageText(windowSeconds * 1000)}: ${state}`;
  });

const recommendations = ({ recommendations: runs }: WindowsView, nowMs: number): readonly string[] => {
  if (runs.length === 0) return ["Recommendations: none"];
  const shown = runs.slice(-SHOWN_RUNS).map(({ replicas, first, last }) => {
    const [from, to] = [ageText(nowMs - Date.parse(first)), ageText(nowMs - Date.parse(last))];
    return `${replicas} (${from === to ? `${to} ago` : `${from} to ${to} ago`})`;
  });
  const older = runs.length > SHOWN_RUNS ? `${runs.length - SHOWN_RUNS} older, ` : "";
  return [`Recommendations: ${older}${shown.join(", ")}`];
};
