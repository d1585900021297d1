/** What a LevelDB consists of. */
export interface Manifest {
  /** Number of the oldest log that is still needed. The logs hold the newest writes. */
  readonly logNumber: number;
  /** Sizes of the table files, by number. */
  readonly tables: ReadonlyMap<number, number>;
}

/** Tags of LevelDB's version edits (its db/version_edit.cc). */
const TAG = { comparator: 1, logNumber: 2, nextFile: 3, lastSequence: 4, compactPointer: 5, deletedFile: 6, newFile: 7, prevLogNumber: 9 } as const;

/** Reads the records of a manifest; undefined where they are damaged. */
export const readManifest = (records: readonly Buffer[] | undefined): Manifest | undefined => {
  if (!records) return undefined;
  const state: State = { logNumber: 0, tables: new Map() };
  return records.length > 0 && records.every((record) => applyEdit(state, cursorOn(record))) ? state : undefined;
};

interface State {
  logNumber: number;
  readonly tables: Map<number, number>;
}

interface Cursor {
  readonly atEnd: () => boolean;
  readonly number: () => number;
  readonly skipText: () => void;
}

/** Bytes beyond the end of the record read as zero. A length that leads there ends the record. */
const cursorOn = (record: Buffer): Cursor => {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = record[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  return {
    atEnd: () => at >= record.length,
    number,
    skipText: () => {
      const length = number();
      at += length;
    },
  };
};

/** False for an unknown tag. */
const applyEdit = (state: State, cursor: Cursor): boolean => {
  while (!cursor.atEnd()) if (!applyField(state, cursor, cursor.number())) return false;
  return true;
};

const applyField = (state: State, cursor: Cursor, tag: number): boolean => {
  switch (tag) {
    case TAG.comparator:
      cursor.skipText();
      return true;
    case TAG.logNumber:
      state.logNumber = cursor.number();
      return true;
    case TAG.nextFile:
    case TAG.lastSequence:
    case TAG.prevLogNumber:
      cursor.number();
      return true;
    case TAG.compactPointer:
      cursor.number();
      cursor.skipText();
      return true;
    case TAG.deletedFile:
      cursor.number();
      state.tables.delete(cursor.number());
      return true;
    case TAG.newFile:
      addTable(state, cursor);
      return true;
    default:
      return false;
  }
};

const addTable = ({ tables }: State, cursor: Cursor): void => {
  cursor.number();
  const number = cursor.number();
  tables.set(number, cursor.number());
  cursor.skipText();
  cursor.skipText();
};
