import * as z from "zod";
import { changeReader } from "../../stack/store/history/changes.ts";
import type { HistoryItem } from "../../stack/store/history/item.ts";
import type { Key } from "../../stack/store/table/keys.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import type { ViewOf } from "../views/view-of.ts";
import { changeCloudEvent, changeKind } from "./change.ts";
import type { EventKind } from "./event-kind.ts";
import { scaleCloudEvent, scaleKind } from "./scale.ts";

/** Every kind of event that leaves Tidemark. */
export const EVENT_KINDS: readonly EventKind<CloudEvent>[] = [scaleKind, changeKind];

/** What `tidemark schema event` prints. */
export const cloudEvent = z.discriminatedUnion("kind", [scaleCloudEvent, changeCloudEvent]);
export type CloudEvent = ViewOf<typeof cloudEvent>;

/** The kind of a stored item; undefined for what is no event, or the second copy of one. */
export const eventKindOf = ({ pk, sk }: Key): EventKind<CloudEvent> | undefined =>
  EVENT_KINDS.find(({ keys }) =>
    keys.some((key) => pk.startsWith(key.pk) && sk.startsWith(key.sk)),
  );

/**
 * Reads the events of stored items. The edits of one reader share what they refer to. Throws
 * `store.unreadable` for an item that cannot be read.
 */
export const eventReader = (
  tables: Tables,
): ((item: HistoryItem) => Promise<CloudEvent | undefined>) => {
  const changes = changeReader(tables);
  return async (item) =>
    eventKindOf(item)?.read(item, async (stored) => {
      for await (const change of changes([stored])) return change;
      throw new TidemarkError("store.unreadable", `Cannot read the change "${item.sk}"`, {
        key: item.sk,
      });
    });
};
