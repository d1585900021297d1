import { HEAD_WRITE_UNITS, PAGE_AUTOSCALERS, PAGE_UNITS, STOP_READ_UNITS, SYNC_UNITS } from "./units.ts";

/** The units of a mean sync of one partition. */
export interface UnitsOfSync {
  readonly cpuMs: number;
  readonly readUnits: number;
  /** Of the state table: the head, and the pages of windows that changed. */
  readonly stateWriteUnits: number;
  readonly journalWriteUnits: number;
}

/** The line through measured points at one place. The last segment goes on beyond the points; before the first point its own value counts. */
export const between = (points: readonly (readonly [at: number, value: number])[], at: number): number => {
  const after = points.findIndex(([x]) => x >= at);
  const end = after === -1 ? points.length - 1 : Math.max(1, after);
  const [fromAt = 0, fromValue = 0] = points[end - 1] ?? [];
  const [toAt = 1, toValue = 0] = points[end] ?? [];
  return fromValue + ((toValue - fromValue) * Math.max(0, at - fromAt)) / (toAt - fromAt);
};

/**
 * `changing` is the chance that one autoscaler changes what it remembers in one sync; a page is written when one of its autoscalers does. Once a minute a sync reads the manifests again and writes the whole
 * journal; with a period above a minute every sync does.
 */
export const unitsFor = (autoscalers: number, changing: number, periodSeconds: number): UnitsOfSync => {
  const pages = Math.max(1, Math.ceil(autoscalers / PAGE_AUTOSCALERS));
  const inPage = autoscalers / pages;
  const ofPage = (value: (units: (typeof PAGE_UNITS)[number]) => number): number =>
    between(
      PAGE_UNITS.map((units) => [units.autoscalers, value(units)]),
      inPage,
    );
  const ofSize = (value: (units: (typeof SYNC_UNITS)[number]) => number): number =>
    between(
      SYNC_UNITS.map((units) => [units.autoscalers, value(units)]),
      autoscalers,
    );
  const [windowsUnits, journalUnits] = [ofPage(({ windows }) => windows), ofPage(({ journal }) => journal)];
  const changed = pages * (1 - (1 - changing) ** inPage);
  const whole = Math.min(1, periodSeconds / 60);
  return {
    cpuMs: ofSize(({ cpuMs }) => cpuMs),
    readUnits: STOP_READ_UNITS + whole * ofSize(({ reloadReadUnits }) => reloadReadUnits),
    stateWriteUnits: HEAD_WRITE_UNITS + changed * windowsUnits,
    // A changed page tells of the autoscalers that changed: one unit, or what all of them take.
    journalWriteUnits: whole * pages * journalUnits + (1 - whole) * changed * (1 + changing * (journalUnits - 1)),
  };
};
