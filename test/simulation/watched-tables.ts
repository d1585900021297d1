import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { CLUSTER_SK_PREFIX, FLEET_PK, planKey } from "../../lib/stack/store/table/keys.ts";
import { memoryTables } from "../contracts/memory-engine.ts";
import type { Invocation } from "./invocation.ts";
import { TABLE_NAMES } from "./tables.ts";
import { type Item, watchHead } from "./watch/head.ts";
import { watchHistory } from "./watch/history.ts";
import type { Ledger } from "./watch/ledger.ts";
import { watchWrite } from "./watch/model-steps.ts";
import { watchPlanned } from "./watch/planned.ts";
import { watchRecord } from "./watch/object-records.ts";
import { watchPageRead, watchReset } from "./watch/resets.ts";
import { recordOf } from "./watch/stops.ts";

/** Who sends a request: a process, and the sync that runs in it. */
interface Sender {
  readonly by: Invocation | undefined;
  readonly process: string;
}

export interface WatchedTables {
  /** Everything that is stored, by table. */
  readonly contents: () => ReadonlyMap<string, readonly Item[]>;
  /** Puts items in, past every request and every watch: copies of other tables. */
  readonly fill: (contents: ReadonlyMap<string, readonly Item[]>) => void;
  /** Called after every write that took effect, with how it is undone past every request. */
  readonly onWrite: Set<(undo: () => void) => void>;
  readonly execute: (command: unknown, sender: Sender) => object;
  readonly read: (pk: string, sk: string) => Item | undefined;
  /** Past every request: for damage. */
  readonly stored: {
    readonly items: () => Iterable<Item>;
    readonly replace: (before: Item, after: Item) => void;
  };
}

/** Tables of which every write that takes effect is looked at, together with who sent it. */
export const watchedTables = (
  ledger: Ledger,
  onHistory: (item: Item) => void = () => {},
): WatchedTables => {
  let writer: Sender = { by: undefined, process: "" };
  const onWrite = new Set<(undo: () => void) => void>();
  const memory = memoryTables((table, before, after) => {
    for (const written of onWrite) written(() => putBack(table, after ?? before, before));
    if (table !== TABLE_NAMES.historyTable) return watchState(before, after);
    watchHistory(ledger, before, after, readItem);
    if (after && !before) onHistory(after);
  });
  const putBack = (table: string, at: Item | undefined, before: Item | undefined): void => {
    const { pk, sk } = keyOf(at);
    const inside = memory.table(table).partitions.get(pk);
    if (before) inside?.set(sk, before);
    else inside?.delete(sk);
  };
  const watchState = (before: Item | undefined, after: Item | undefined): void => {
    const { pk, sk } = keyOf(after);
    if (pk.startsWith(AUTOSCALERS)) {
      ledger.edits.written(writer.process, before, after);
      watchOverrides(ledger, writer.process, before, after);
      watchRecord(ledger, writer, before, after);
    } else if (after) watchOther(pk, sk, before, after);
  };
  const watchOther = (pk: string, sk: string, before: Item | undefined, after: Item): void => {
    if (pk === planKey.pk && sk === planKey.sk) watchPlanned(ledger, before, after, clusterRecords);
    else if (pk === FLEET_PK) fleetWritten(ledger, writer.process, sk, after);
    else if (sk === "head") watchHead(ledger, { before, after, by: writer.by, read: readItem });
    else if (sk.startsWith(PAGES) && !writer.by) watchReset(ledger, after);
  };
  const clusterRecords = (): readonly Item[] =>
    [...(memory.table(TABLE_NAMES.stateTable).partitions.get(FLEET_PK)?.values() ?? [])].filter(
      (item) => keyOf(item).sk.startsWith(CLUSTER_SK_PREFIX),
    );
  const readItem = (pk: string, sk: string) =>
    memory.table(TABLE_NAMES.stateTable).partitions.get(pk)?.get(sk);
  return {
    contents: () =>
      new Map(
        Object.values(TABLE_NAMES).map((name) => [
          name,
          [...memory.table(name).partitions.values()].flatMap((inside) => [...inside.values()]),
        ]),
      ),
    fill: (contents) => {
      for (const [name, items] of contents) {
        const { partitions } = memory.table(name);
        for (const item of items) {
          const { pk, sk } = keyOf(item);
          const inside = partitions.get(pk) ?? new Map<string, Item>();
          partitions.set(pk, inside);
          inside.set(sk, item);
        }
      }
    },
    onWrite,
    read: readItem,
    stored: {
      items: () =>
        [...memory.table(TABLE_NAMES.stateTable).partitions.values()].flatMap((inside) => [
          ...inside.values(),
        ]),
      replace: (before, after) => {
        const { pk, sk } = keyOf(before);
        const inside = memory.table(TABLE_NAMES.stateTable).partitions.get(pk);
        if (inside?.get(sk) === before) inside.set(sk, after);
      },
    },
    execute: (command, sender) => {
      writer = sender;
      if (sender.by && command instanceof GetItemCommand) pageRead(ledger, sender.by, command);
      return sender.by
        ? watchWrite(ledger, command, { by: sender.by, read: readItem }, () =>
            memory.execute(command),
          )
        : memory.execute(command);
    },
  };
};

const pageRead = (
  ledger: Ledger,
  by: Invocation,
  { input: { Key = {} } }: GetItemCommand,
): void => {
  const { pk, sk } = keyOf(Key);
  if (sk.startsWith(PAGES)) watchPageRead(ledger, by, pk, sk);
};

const fleetWritten = (ledger: Ledger, process: string, sk: string, after: Item): void => {
  const record = recordOf(sk);
  if (record !== undefined)
    watchDropped(ledger, process, ledger.stops.recordWritten(record, after));
  if (!sk.startsWith(CLUSTER_SK_PREFIX)) return;
  const name = sk.slice(CLUSTER_SK_PREFIX.length);
  ledger.clusterWrites.set(name, ledger.nowMs());
  ledger.edits.clusterWritten(name, after);
};

/**
 * What people set stays until it ends, or a person clears it: no other edit, by whatever clock,
 * takes it away.
 */
const watchDropped = (ledger: Ledger, process: string, dropped: readonly string[]): void => {
  if (dropped.length > 0 && !ledger.edits.isClearing(process))
    ledger.violate(
      "what people set holds until it ends, or a person clears it",
      `${process} dropped the overrides ${dropped.join(", ")}, and cleared none`,
    );
};

/**
 * Only `override clear`, and an `override extend` to an end that passes before it is stored, take
 * an override of an autoscaler away before its end.
 */
const watchOverrides = (
  ledger: Ledger,
  process: string,
  before: Item | undefined,
  after: Item | undefined,
): void => {
  watchDropped(ledger, process, ledger.stops.autoscalerWritten(process, before, after));
};

const PAGES = "page#";
const AUTOSCALERS = "autoscalers#";
const keyOf = (item: Item | undefined): { readonly pk: string; readonly sk: string } => ({
  pk: item?.["pk"]?.S ?? "",
  sk: item?.["sk"]?.S ?? "",
});
