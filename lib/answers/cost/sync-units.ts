import * as UNITS from "./units.ts";

/** What a partition is like, for the units of its syncs. */
interface SyncLoad {
  readonly autoscalers: number;
  /** The chance that one autoscaler changes what it remembers in one sync. */
  readonly changing: number;
  readonly periodSeconds: number;
  /** Environments of the function that sync the partition in turn. */
  readonly environments: number;
}

/** The units of a mean sync of one partition. */
interface UnitsOfSync {
  readonly readUnits: number;
  /** Of the state table: the head, and the pages of windows that changed. */
  readonly stateWriteUnits: number;
  readonly summaryWriteUnits: number;
  readonly journalWriteUnits: number;
  /** As the journal is stored, with what DynamoDB adds to an item. */
  readonly journalBytes: number;
}

/**
 * The line through measured points at one place. The last segment goes on beyond the points; before
 * the first point its own value counts.
 */
export const between = (
  points: readonly (readonly [at: number, value: number])[],
  at: number,
): number => {
  const after = points.findIndex(([x]) => x >= at);
  const end = after === -1 ? points.length - 1 : Math.max(1, after);
  const [fromAt = 0, fromValue = 0] = points[end - 1] ?? [];
  const [toAt = 1, toValue = 0] = points[end] ?? [];
  return fromValue + ((toValue - fromValue) * Math.max(0, at - fromAt)) / (toAt - fromAt);
};

const ofSize = (autoscalers: number, value: (units: UNITS.SyncUnits) => number): number =>
  between(
    UNITS.SYNC_UNITS.map((units) => [units.autoscalers, value(units)]),
    autoscalers,
  );

/** CPU of a mean sync, in ms. */
export const cpuMsOf = (autoscalers: number): number => ofSize(autoscalers, ({ cpuMs }) => cpuMs);

const MINUTE_SECONDS = 60;

/** Pages of so many autoscalers each, and how many of them hold one that changed in a sync. */
const pagesOf = (autoscalers: number, perPage: number, changing: number) => {
  const pages = Math.max(1, Math.ceil(autoscalers / perPage));
  const inPage = autoscalers / pages;
  return { pages, inPage, changed: pages * (1 - (1 - changing) ** inPage) };
};

/**
 * The units of a mean sync. A page of windows is written in a sync in which one of its autoscalers
 * changes.
 */
export const unitsFor = (load: SyncLoad): UnitsOfSync => {
  const { autoscalers, changing, periodSeconds, environments } = load;
  const windows = pagesOf(autoscalers, UNITS.WINDOWS_PAGE.autoscalers, changing);
  const reloads = Math.min(1, (environments * periodSeconds) / UNITS.RELOAD_SECONDS);
  // A page that another environment has written is read again.
  const pageReads = windows.changed * (1 - 1 / environments);
  return {
    readUnits:
      UNITS.STOP_READ_UNITS +
      reloads * ofSize(autoscalers, ({ reloadReadUnits }) => reloadReadUnits) +
      pageReads,
    stateWriteUnits: UNITS.HEAD_WRITE_UNITS + windows.changed * UNITS.WINDOWS_PAGE.writeUnits,
    summaryWriteUnits: summaryUnits(load),
    ...journalUnits(load),
  };
};

/**
 * The first sync of a minute writes the summary of the partition. Within it changes go into the
 * head, and the summary is written again where they have no room there.
 */
const summaryUnits = ({
  autoscalers,
  changing,
  periodSeconds,
}: Omit<SyncLoad, "environments">): number => {
  const opening = Math.min(1, periodSeconds / MINUTE_SECONDS);
  const room = Math.max(UNITS.SUMMARY_ROOM.autoscalers, autoscalers * UNITS.SUMMARY_ROOM.share);
  const again = Math.min(
    1 - opening,
    Math.max(0, ((1 - opening) * autoscalers * changing) / room - opening),
  );
  return (opening + again) * between(UNITS.SUMMARY_UNITS, autoscalers);
};

/**
 * The first sync of a minute writes all autoscalers, and with a period above a minute every sync
 * does. The others write the autoscalers that changed. All are differences from a page that each
 * environment inserts whole once an hour.
 */
const journalUnits = ({
  autoscalers,
  changing,
  periodSeconds,
  environments,
}: SyncLoad): Pick<UnitsOfSync, "journalWriteUnits" | "journalBytes"> => {
  const { pages, inPage, changed } = pagesOf(autoscalers, UNITS.JOURNAL_PAGE_AUTOSCALERS, changing);
  const ofPage = (value: (units: (typeof UNITS.JOURNAL_UNITS)[number]) => number): number =>
    between(
      UNITS.JOURNAL_UNITS.map((units) => [units.autoscalers, value(units)]),
      inPage,
    );
  const [difference, whole, allChanged] = [
    ofPage((units) => units.difference),
    ofPage((units) => units.whole),
    ofPage((units) => units.changed),
  ];
  const opening = Math.min(1, periodSeconds / MINUTE_SECONDS);
  const wholePages =
    pages * Math.min(opening, (environments * periodSeconds) / UNITS.JOURNAL_WHOLE_SECONDS);
  const openingPages = pages * opening - wholePages;
  const changedPages = (1 - opening) * changed;
  const { item, difference: differs, whole: inWhole } = UNITS.JOURNAL_BYTES;
  return {
    // A page of changes takes one unit, or as much as a page of all where all change. Its bytes say
    // which autoscalers it holds, too: some five times the bytes of one more.
    journalWriteUnits:
      wholePages * whole +
      openingPages * difference +
      changedPages * (1 + changing * (allChanged - 1)),
    journalBytes:
      wholePages * (item + inWhole * inPage) +
      openingPages * (item + differs * inPage) +
      changedPages * (item + differs * (changing * inPage + 5)),
  };
};

/** The write units of a day of a partition for what is made of its journal. */
export const projectedUnitsADay = (autoscalers: number, changing: number): number => {
  const { aDay, pagesAnItem, pagesLeast, pagesOfJournal } = UNITS.QUARTER_ITEMS;
  const pages = Math.ceil(autoscalers / UNITS.WINDOWS_PAGE.autoscalers);
  const rest = pages % pagesOfJournal;
  const items =
    Math.floor(pages / pagesOfJournal) * (pagesOfJournal / pagesAnItem) +
    (rest < pagesLeast ? 0 : Math.ceil(rest / pagesAnItem));
  const quarter = Math.min(2, between(UNITS.PROJECTED_UNITS.quarter, changing));
  return (
    autoscalers * between(UNITS.PROJECTED_UNITS.samplesADay, changing) + items * aDay * quarter
  );
};
