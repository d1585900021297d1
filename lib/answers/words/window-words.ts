import { ageText, untilText } from "../../stack/report/duration-text.ts";
import type { DirectionView, RateView, WindowsView } from "../views/windows.ts";

/** Number of runs of recommendations that are listed; older ones are counted. */
const SHOWN_RUNS = 5;

const NAMES = { scaleUp: "Scale up", scaleDown: "Scale down" } as const;

/**
 * Formats the windows: the recommendations, what stabilization holds and until when, and which
 * scale events count for which rate.
 */
export const windowLines = (windows: WindowsView, nowMs: number): readonly string[] =>
  windows.problem === undefined
    ? known(windows, nowMs)
    : [`${windows.problem}; see tidemark partition describe`];

const known = (windows: WindowsView, nowMs: number): readonly string[] => {
  const {
    recommendations: runs,
    stabilization,
    rates,
    forbidden = [],
    timers = [],
    flap,
    pausedUntil,
  } = windows;
  const end = (until: string): string => `${until} (${untilText(Date.parse(until), nowMs)})`;
  return [
    // Rules without stabilization keep no recommendations.
    ...(runs.length > 0 || stabilization.length > 0 ? recommendations(windows, nowMs) : []),
    ...forbidden.map(
      ({ direction, windowSeconds, until }) =>
        `${NAMES[direction]} forbidden window ${ageText(windowSeconds * 1000)}: ${until === undefined ? "open" : `closed until ${end(until)}`}`,
    ),
    ...timers.map((timer) => timerLine(timer, nowMs)),
    ...(flap ? [flapLine(flap, end)] : []),
    ...stabilization.map(({ direction, windowSeconds, held }) => {
      const state = held ? `held at ${held.replicas} until ${end(held.until)}` : "holds nothing";
      return `${NAMES[direction]} stabilization ${ageText(windowSeconds * 1000)}: ${state}`;
    }),
    ...rates.flatMap((rate) => rateLines(rate, nowMs)),
    ...(pausedUntil === undefined ? [] : [`Paused by the manifest until ${end(pausedUntil)}`]),
    ...(windows.notStored === undefined ? [] : [`Not stored any more: ${windows.notStored}`]),
  ];
};

const timerLine = (
  { name, seconds, since, until }: NonNullable<WindowsView["timers"]>[number],
  nowMs: number,
): string => {
  if (since === undefined || until === undefined)
    return `${name} ${ageText(seconds * 1000)}: not begun`;
  const [sinceMs, untilMs] = [Date.parse(since), Date.parse(until)];
  const end =
    untilMs <= nowMs
      ? "which is long enough"
      : `which is long enough at ${until} (${untilText(untilMs, nowMs)})`;
  return `${name} ${ageText(seconds * 1000)}: active since ${since} (${ageText(nowMs - sinceMs)} ago), ${end}`;
};

const flapLine = (
  { reversals, periodSeconds, made, until }: NonNullable<WindowsView["flap"]>,
  end: (until: string) => string,
): string => {
  const state = until === undefined ? "a scale down fits" : `no scale down until ${end(until)}`;
  return `Flap budget ${reversals} in ${ageText(periodSeconds * 1000)}: ${made} reversal${made === 1 ? "" : "s"} made, ${state}`;
};

const rateLines = (
  { direction, type, value, periodSeconds, events, ...counted }: WindowsView["rates"][number],
  nowMs: number,
): readonly string[] => [
  `${NAMES[direction]} rate ${amountText(direction, type, value)} in ${ageText(periodSeconds * 1000)}: ${countedText(direction, counted)}`,
  ...events.map(
    ({ change, at, leaves }) =>
      `  ${change > 0 ? "+" : ""}${change} ${ageText(nowMs - Date.parse(at))} ago, leaves ${untilText(Date.parse(leaves), nowMs)}`,
  ),
];

/** A rate that counts only its own direction shows only that one. */
const countedText = (
  direction: DirectionView,
  { added, removed, countedChanges }: Pick<RateView, "added" | "removed" | "countedChanges">,
): string => {
  if (countedChanges === undefined) return `${added} added, ${removed} removed`;
  return direction === "scaleUp" ? `${added} added` : `${removed} removed`;
};

const amountText = (direction: DirectionView, type: RateView["type"], value: number): string => {
  switch (type) {
    case "Pods":
      return `${value} pods`;
    case "Percent":
      return `${value} percent`;
    case "Factor":
      return direction === "scaleUp" ? `times ${value}` : `divided by ${value}`;
  }
};

const recommendations = (
  { recommendations: runs }: WindowsView,
  nowMs: number,
): readonly string[] => {
  if (runs.length === 0) return ["Recommendations: none"];
  const shown = runs.slice(-SHOWN_RUNS).map(({ replicas, first, last }) => {
    const [from, to] = [ageText(nowMs - Date.parse(first)), ageText(nowMs - Date.parse(last))];
    return `${replicas} (${from === to ? `${to} ago` : `${from} to ${to} ago`})`;
  });
  const older = runs.length > SHOWN_RUNS ? `${runs.length - SHOWN_RUNS} older, ` : "";
  return [`Recommendations: ${older}${shown.join(", ")}`];
};
