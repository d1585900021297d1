import { present } from "../../rules/model/json.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";
import { EVENT_DAYS_KEPT } from "../../stack/store/history/events.ts";
import { mapWithLimit } from "../../stack/store/table/wait-for-all.ts";
import type { Filter, Service } from "../service/service.ts";
import { gaps } from "./gaps.ts";
import {
  type AuditedRef,
  auditedRefOf,
  type Decider,
  decidersOf,
  type Period,
  type ReadRecord,
  withDecider,
} from "./read-records.ts";
import type { AuditRecord } from "./record.ts";
import { totals } from "./totals.ts";

/** The name of the form, in the first line: another form has another number. */
const FORM = "tidemark-audit/1";
const SIDE_BY_SIDE = 8;

/** What the first line of an audit says. */
export const topRecord = (
  { cluster, namespace }: Filter,
  { sinceMs, untilMs }: Period,
  { message, id }: Pick<AuditRecord, "message" | "id">,
): AuditRecord =>
  present({
    kind: "audit",
    at: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    cluster,
    namespace,
    what: FORM,
    message,
    id,
  });

/** What is not known of a period, in order of time. */
export const missingIn = async (
  service: Pick<Service, "rows" | "history">,
  { filter, period, nowMs }: { readonly filter: Filter; readonly period: Period; nowMs: number },
): Promise<readonly AuditRecord[]> => [
  ...expired(filter, period, nowMs),
  ...(await gaps(service, filter, period)),
];

/** Of a period that begins before the oldest event that is kept. */
const expired = (
  { cluster, namespace }: Filter,
  { sinceMs, untilMs }: Period,
  nowMs: number,
): readonly AuditRecord[] => {
  const keptMs = nowMs - EVENT_DAYS_KEPT * DAY_MS;
  if (sinceMs >= keptMs) return [];
  return [
    present({
      kind: "gap",
      at: new Date(sinceMs).toISOString(),
      until: new Date(Math.min(keptMs, untilMs)).toISOString(),
      cluster,
      namespace,
      what: "not kept",
      hole: `scales and edits are kept for ${EVENT_DAYS_KEPT} days`,
    }),
  ];
};

const pathOf = ({ cluster, namespace, name }: Partial<AuditedRef>): string =>
  `${cluster}/${namespace}/${name}`;

/** Which autoscalers records are about, and who made their specs. */
export const deciding = () => {
  const refs = new Map<string, AuditedRef>();
  return {
    note: ({ record, decidedBy }: ReadRecord): void => {
      const ref = auditedRefOf(record);
      if (ref && (decidedBy !== undefined || record.kind === "edit")) refs.set(pathOf(ref), ref);
    },
    deciders: async (service: Pick<Service, "changes">): Promise<Deciders> =>
      new Map(
        await mapWithLimit(
          [...refs.values()],
          SIDE_BY_SIDE,
          async (ref) => [pathOf(ref), await decidersOf(service, ref)] as const,
        ),
      ),
  };
};

type Deciders = ReadonlyMap<string, ReadonlyMap<string, Decider>>;

/** What was read of a period, and what it is completed with. */
export interface Audited {
  readonly top: AuditRecord;
  readonly kept: () => AsyncIterable<ReadRecord> | Iterable<ReadRecord>;
  readonly deciders: Deciders;
  readonly missing: readonly AuditRecord[];
}

/** The records of an audit in their order: its first line, its totals, and what they count. */
export async function* wholeAudit({ top, ...audited }: Audited): AsyncGenerator<AuditRecord> {
  const counted = totals();
  for await (const record of merged(audited)) counted.add(record);
  yield top;
  yield* counted.records();
  yield* merged(audited);
}

/** Scales and edits with what decided them, and the gaps between them, in order of time. */
async function* merged({
  kept,
  deciders,
  missing,
}: Omit<Audited, "top">): AsyncGenerator<AuditRecord> {
  const left = [...missing];
  for await (const one of kept()) {
    const atMs = Date.parse(one.record.at ?? "");
    while (left[0] && Date.parse(left[0].at ?? "") <= atMs) yield left.shift() ?? one.record;
    yield withDecider(one, deciders.get(pathOf(one.record)) ?? new Map());
  }
  yield* left;
}
