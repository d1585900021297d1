import type { PartitionRef } from "../../../lib/rules/model/ids.ts";
import { claim } from "../../../lib/stack/store/head/claim.ts";
import { intentBodies } from "../../../lib/stack/store/head/intent-codec.ts";
import { giveBack } from "../../../lib/stack/store/head/release.ts";
import { storeIntents } from "../../../lib/stack/store/head/store-intents.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";
import type { UncountedScale } from "../../../lib/rules/model/scale-records.ts";

/**
 * Leaves a scale in a head as a sync does that died after its event and before its page: it is
 * settled, and in no windows yet.
 */
export const leaveUncounted = async (
  tables: Tables,
  partition: PartitionRef,
  scale: UncountedScale,
): Promise<void> => {
  const nowMs = tables.clock();
  const claimed = await claim(tables, {
    partition,
    dueMs: Number.MAX_SAFE_INTEGER,
    clockMs: nowMs,
    leaseUntilMs: nowMs + 60_000,
  });
  if (claimed.kind !== "claimed") throw new Error(`the partition was not claimed: ${claimed.kind}`);
  const { epoch, writeNumber } = claimed.head;
  const bodies = intentBodies({ intents: [], uncounted: [scale], unreadable: [] });
  await giveBack(
    tables,
    await storeIntents(tables, { partition, epoch, writeNumber }, bodies, nowMs),
  );
};
