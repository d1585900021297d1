import { adoptPages } from "../../store/head/moving.ts";
import { deleteLeftovers, MOST_DELETED } from "../../store/pages/pages.ts";
import { deleteDerived } from "../../store/summary/summary-items.ts";
import type { ServiceContext } from "../context.ts";
import type { LeasedPartition } from "./leases.ts";

/*
 *  claim ── head names no pages of generation + 1 ── pages deleted ── give back
 *                                  └─ died ✗          no head names the pages that are left, and the next sync or removal deletes them
 */

/**
 * Leaves a partition without windows, for a cluster that is removed or just added, or a partition that was divided away. The head stays, so that its epochs never come again: they refuse
 * the late writes of earlier syncs. Throws `store.lease-lost`.
 */
export const emptyPages = async ({ tables }: ServiceContext, leased: LeasedPartition): Promise<void> => {
  const { head, lease } = leased;
  const generation = head.pages.length > 0 ? head.pageGeneration + 1 : head.pageGeneration;
  // With a head that names no pages there may still be some that an earlier call did not come to delete.
  if (head.pages.length > 0) leased.lease = await adoptPages(tables, lease, { generation, pages: [], nowMs: head.nowMs });
  leased.head = { ...head, pageGeneration: generation, pages: [] };
  await deleteDerived(tables, lease.partition);
  while ((await deleteLeftovers(tables, { partition: lease.partition, generation, count: 0 }, lease.epoch)) === MOST_DELETED);
};
