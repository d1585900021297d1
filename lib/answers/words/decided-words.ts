import type { DecidedView } from "../views/cluster.ts";

/** "97.2 % of due syncs in 24 h, 100 % in 1 h, 100 % in 15 min". */
export const decidedText = (decided: DecidedView | undefined): string => {
  const { last24Hours, lastHour, last15Minutes } = decided ?? {};
  if (last24Hours === undefined) return "no sync was due";
  const shorter = [
    ["1 h", lastHour],
    ["15 min", last15Minutes],
  ].flatMap(([time, percent]) => (percent === undefined ? [] : [`, ${percent} % in ${time}`]));
  return `${last24Hours} % of due syncs in 24 h${shorter.join("")}`;
};

/** What a column of a table shows of it: the day. */
export const decidedShort = (decided: DecidedView | undefined): string =>
  decided?.last24Hours === undefined ? "-" : `${decided.last24Hours}%`;
