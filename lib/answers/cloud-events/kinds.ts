import * as z from "zod";
import { changeReader } from "../../stack/store/history/changes.ts";
import type { HistoryItem } from "../../stack/store/history/item.ts";
import type { Key } from "../../stack/store/table/keys.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import type { AutoscalerRef } from "../../rules/model/ids.ts";
import { jsonIn, nonEmpty } from "../../rules/model/json.ts";
import { STORM_OVER } from "../../rules/model/notices.ts";
import { comesAfter } from "../../stack/store/history/day-events.ts";
import { getAutoscalers } from "../../stack/store/records/autoscalers.ts";
import { rowNames } from "../service/views/row-view.ts";
import type { ViewOf } from "../views/view-of.ts";
import { changeCloudEvent, changeKind } from "./change.ts";
import type { EventBesides, EventKind } from "./event-kind.ts";
import { noticeCloudEvent, noticeKind, stormCloudEvent } from "./notice.ts";
import { scaleCloudEvent, scaleKind } from "./scale.ts";

/** Every kind of event that leaves Tidemark. */
export const EVENT_KINDS: readonly EventKind<CloudEvent>[] = [scaleKind, changeKind, noticeKind];

/** What `tidemark schema event` prints. */
export const cloudEvent = z.discriminatedUnion("kind", [
  scaleCloudEvent,
  changeCloudEvent,
  noticeCloudEvent,
  stormCloudEvent,
]);
export type CloudEvent = ViewOf<typeof cloudEvent>;

/** The kind of a stored item; undefined for what is no event, or the second copy of one. */
export const eventKindOf = ({ pk, sk }: Key): EventKind<CloudEvent> | undefined =>
  EVENT_KINDS.find(({ keys }) =>
    keys.some((key) => pk.startsWith(key.pk) && sk.startsWith(key.sk)),
  );

/**
 * Reads the events of stored items. The events of one reader share what they refer to. Throws
 * `store.unreadable` for an item that cannot be read.
 */
export const eventReader = (
  tables: Tables,
): ((item: HistoryItem) => Promise<CloudEvent | undefined>) => {
  const beside = besides(tables);
  return async (item) => eventKindOf(item)?.read(item, beside);
};

/** What events need of the tables, each thing asked for once. */
export const besides = (tables: Tables): EventBesides => {
  const changes = changeReader(tables);
  const known = new Map<string, Promise<Readonly<Record<string, string>> | undefined>>();
  return {
    change: async (stored) => {
      for await (const change of changes([stored])) return change;
      throw new TidemarkError("store.unreadable", `Cannot read the change "${stored.item.sk}"`, {
        key: stored.item.sk,
      });
    },
    labels: (ref) => {
      const path = `${ref.cluster}/${ref.namespace}/${ref.name}`;
      const reading = known.get(path) ?? labelsOf(tables, ref);
      known.set(path, reading);
      return reading;
    },
    inStorm: comesAfter(tables, STORM_OVER),
  };
};

/** An autoscaler that cannot be read has none to match on: its event is sent all the same. */
const labelsOf = async (
  tables: Tables,
  ref: AutoscalerRef,
): Promise<Readonly<Record<string, string>> | undefined> => {
  const [item] = await getAutoscalers(tables, [ref]);
  return item?.kind === "read"
    ? nonEmpty(rowNames(jsonIn(item.record.manifest)).labels)
    : undefined;
};
