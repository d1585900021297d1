import type { PartitionRef } from "../../../rules/model/ids.ts";
import type { AutoscalerRecord, FleetRecord } from "../../../rules/model/records.ts";
import type { Windows } from "../../../rules/model/windows.ts";
import { type Head, readHeads } from "../../../stack/store/head/head.ts";
import { type DecodedPage, decodePage } from "../../../stack/store/pages/codec.ts";
import { readNamedPage } from "../../../stack/store/pages/pages.ts";
import { pageOf } from "../../../stack/store/pages/plan.ts";
import { windowsNow } from "../../../stack/sync/load/stored-windows.ts";
import type { QueryContext } from "../context.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import { newestEvaluations } from "../facts/at.ts";
import type { Evaluated, JournalStream } from "../facts/journals.ts";
import type { LocatedAutoscaler } from "../find-autoscaler.ts";

/** What a partition has stored about an autoscaler. */
export interface PartitionData {
  readonly head?: Head;
  windows(record: AutoscalerRecord): Promise<Windows | undefined>;
  /** Why its windows page cannot be read; `undefined` when it can be, or does not exist. */
  windowsProblem(record: AutoscalerRecord): Promise<string | undefined>;
  /** The newest evaluation at or before an instant. */
  evaluation(record: AutoscalerRecord, atMs: number): Promise<Evaluated | undefined>;
}

/**
 * Reads the head now, and each windows page and journal page once, at its first use. A list of
 * autoscalers so costs one read per page.
 */
export const partitionData = async (
  context: QueryContext,
  ref: PartitionRef,
  { periodMs, consistent = true }: { readonly periodMs: number; readonly consistent?: boolean },
): Promise<PartitionData> => {
  const [head] = await readHeads(context.tables, [ref], consistent);
  if (!head)
    return {
      windows: async () => undefined,
      windowsProblem: async () => undefined,
      evaluation: async () => undefined,
    };
  const pages = new Map<number, Promise<DecodedPage>>();
  const page = (index: number): Promise<DecodedPage> => {
    const known = pages.get(index) ?? readDecoded(context, ref, head, index);
    pages.set(index, known);
    return known;
  };
  return {
    head,
    windows: async ({ uid }) => {
      if (head.pages.length === 0) return undefined;
      const decoded = await page(pageOf(uid, head.pages.length));
      const stored = decoded.kind === "read" ? decoded.entries.get(uid) : undefined;
      return stored && windowsNow(stored, head.evaluatedMs);
    },
    windowsProblem: async ({ uid }) => {
      if (head.pages.length === 0) return undefined;
      const index = pageOf(uid, head.pages.length);
      const decoded = await page(index);
      return decoded.kind === "read"
        ? undefined
        : `windows page ${index} of partition "${ref.partition}" cannot be read: ${decoded.message}`;
    },
    evaluation: newestEvaluations(context, ref, { head, periodMs }),
  };
};

const readDecoded = async (
  context: QueryContext,
  partition: PartitionRef,
  head: Head,
  index: number,
): Promise<DecodedPage> => {
  const id = { partition, generation: head.pageGeneration, index };
  const item = await readNamedPage(context.tables, id, head.pages[index] ?? 0);
  return item
    ? decodePage(item.body)
    : { kind: "unreadable", message: "the head names it, but the item does not exist" };
};

/** Everything stored about one autoscaler. */
export interface AutoscalerSnapshot extends LocatedAutoscaler {
  readonly spec:
    | { readonly kind: "spec"; readonly spec: AutoscalerSpec }
    | { readonly kind: "problem"; readonly message: string };
  readonly fleet: FleetRecord;
  readonly windows?: Windows;
  /** Why the windows cannot be read. */
  readonly windowsProblem?: string;
  readonly evaluated?: Evaluated;
  /** The journal that has its newest evaluations; absent where no sync has made one. */
  readonly stream?: JournalStream;
  /** End of the partition's last completed sync. */
  readonly syncedMs?: number;
  /** How long that took; absent where it wrote no summary. */
  readonly sync?: { readonly partition: PartitionRef["partition"]; readonly tookMs: number };
  /** Since when pods count that should not, or are refused, as the head remembers it. */
  readonly podsSinceMs?: number;
  readonly nowMs: number;
}
