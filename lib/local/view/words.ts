import { printable } from "../../model/foreign-text.ts";
import { withLocalTimes } from "../../report/instant-text.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import type { EventView, MetricView } from "../../views/event.ts";

export const metricText = (metric: MetricView): string => {
  const [short = metric.name] = metric.name.split(" ");
  if (metric.kind === "measured") return `${short} ${metric.value}${metric.average === undefined ? "" : ` (${metric.average})`} of ${metric.target}`;
  return metric.kind === "failed" ? `${short} missing` : `${short} not measured yet, target ${metric.target}`;
};

/** "9 (5 min ago)": what was read last, and since when it cannot be read. */
export const lastKnownText = ({ replicas, at }: NonNullable<AutoscalerView["lastKnown"]>, nowMs: number): string =>
  at === undefined ? `${replicas}?` : `${replicas} (${durationText(Math.max(0, nowMs - Date.parse(at)))} ago)`;

/** The last decision in words: what was done, and why. */
export const decisionText = ({ decision, problem, state }: AutoscalerView): string => {
  if (problem !== undefined) return problem;
  if (!decision) return state === "paused" || state === "frozen" ? state : "waiting for its first sync";
  const done = decision.kind === "scale" ? `${decision.from} → ${decision.to}` : "holds";
  const { from, withoutHold } = decision;
  const without = withoutHold?.to === undefined ? "" : `; without that ${from} → ${withoutHold.to}`;
  const refused = decision.refused === undefined ? "" : `; refused: ${decision.refused}`;
  return withLocalTimes(`${done}: ${decision.reason}, ${decision.message}${without}${refused}`);
};

/** "shop/daily 2 → 4 applied: ScaleUpLimit, …" */
export const eventText = ({ namespace, name, from, to, outcome, reason, message, detail }: EventView): string =>
  withLocalTimes(`${namespace}/${name} ${from} → ${to} ${outcome}: ${reason}, ${message}${detail === undefined ? "" : ` (${detail})`}`);

export const speedText = (reached: number): string => `${reached >= 10 ? Math.round(reached) : reached.toFixed(1)}x`;

/** "2 h 05 min", "40 min", "15 s". */
export const durationText = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
};

/** Breaks a text at blanks into lines of at most this many characters. The second line and all that follow are indented. Unprintable characters are escaped first, because they count as what they become. After `linesMax` lines the rest is cut off with an ellipsis. */
export const wrapped = (text: string, columns: number, linesMax: number, indent = ""): readonly string[] => {
  const lines: string[] = [];
  let rest = printable(text);
  while (rest !== "" && lines.length < linesMax) {
    const before = lines.length === 0 ? "" : indent;
    const room = Math.max(1, columns - before.length);
    if (rest.length <= room || lines.length === linesMax - 1) {
      lines.push(before + cut(rest, room));
      break;
    }
    const at = rest.lastIndexOf(" ", room);
    const end = at > 0 ? at : room;
    lines.push(before + rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return lines;
};

/** Cuts a text to one line of at most this many characters. */
export const cut = (text: string, columns: number): string => {
  const shown = printable(text);
  return shown.length <= columns ? shown : `${shown.slice(0, Math.max(0, columns - 1))}…`;
};
