import type { Held } from "../store/head/head-write.ts";
import { intentBodies } from "../store/head/intents.ts";
import { release } from "../store/head/release.ts";
import type { Loaded } from "./load.ts";
import type { SyncMessage } from "./message.ts";
import type { SyncPorts } from "./ports.ts";
import type { Settled } from "./settle.ts";
import type { StoredPages } from "./store-pages.ts";

/** Closes the sync in one update, and only then remembers what it knows: a memory that no release vouches for is never used. */
export const releasePartition = async (
  ports: SyncPorts,
  held: Held,
  now: { readonly message: SyncMessage; readonly loaded: Loaded; readonly settled: Settled; readonly stored: StoredPages },
): Promise<void> => {
  const { message, loaded, settled, stored } = now;
  await release(ports.tables, held, {
    dueMs: message.dueMs,
    nowMs: loaded.nowMs,
    evaluatedMs: loaded.nowMs,
    pageGeneration: stored.generation,
    pages: stored.pages.map(({ epoch }) => epoch),
    intents: intentBodies({ intents: settled.open, uncounted: settled.uncounted, unreadable: loaded.head.unreadable }),
  });
  ports.cache.set(message, { specs: loaded.specs, pages: stored.pages, pageGeneration: stored.generation });
};
