import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { uidOfIntent } from "../../../lib/rules/model/ids.ts";
import { decodeIntent, UNCOUNTED_VERSION } from "../../../lib/stack/store/head/intent-codec.ts";
import { workloadKey } from "../../../lib/stack/sync/load/open-intents.ts";
import { PURE_PART } from "../../../lib/stack/sync/pure-part.ts";
import type { Decided, Invocation } from "../invocation.ts";
import { keepLooks } from "../rivals.ts";
import { watchAhead } from "./clocks.ts";
import { watchCounted } from "./effects.ts";
import { type Ledger, listed } from "./ledger.ts";
import {
  keepOutside,
  noteIntentCleared,
  noteIntentStored,
  watchOutsideCounted,
} from "./outside.ts";
import { recordOfIntent, watchClearedIntent, watchNamedPages, watchPagesThere } from "./pages.ts";
import { watchLateReset } from "./resets.ts";
import type { Intent } from "../../../lib/rules/model/scale-records.ts";

export type Item = Readonly<Record<string, AttributeValue>>;
export type ReadItem = (pk: string, sk: string) => Item | undefined;

const number = (item: Item | undefined, name: string): number => Number(item?.[name]?.N ?? 0);
const bodies = (item: Item | undefined): Readonly<Record<string, AttributeValue>> =>
  item?.["intents"]?.M ?? {};

interface HeadWrite {
  readonly before: Item | undefined;
  readonly after: Item;
  readonly by: Invocation | undefined;
  readonly read: ReadItem;
}

/** Looks at every write of a head that took effect, of every sender. */
export const watchHead = (ledger: Ledger, write: HeadWrite): void => {
  const { before, after, by } = write;
  const partition = after["pk"]?.S ?? "";
  for (const name of [
    "epoch",
    "writeNumber",
    "nowMs",
    "evaluatedMs",
    "dueDoneMs",
    "releasedEpoch",
  ]) {
    if (number(after, name) < number(before, name))
      ledger.violate("time and epochs never run backwards", `${name} of ${partition} fell`);
  }
  for (const name of ["nowMs", "evaluatedMs"])
    watchAhead(ledger, number(after, name), `${name} of ${partition}`);
  const epoch = number(after, "epoch");
  if (epoch > number(before, "epoch")) {
    watchLateReset(ledger, after);
    claimed(ledger, partition, by, epoch);
  }
  watchAdded(ledger, write, partition);
  const isRelease = number(after, "releasedEpoch") !== number(before, "releasedEpoch");
  if (isRelease) listed(ledger.releases, partition).push(ledger.nowMs());
  if (isRelease) watchNamedPages(ledger, after, write.read);
  else watchPagesThere(ledger, after, write.read);
  watchCleared(ledger, write);
  if (isRelease && by) completed(ledger, by);
};

const watchCleared = (ledger: Ledger, { before, after, read }: HeadWrite): void => {
  for (const id of Object.keys(bodies(before))) {
    const known = bodies(after)[id] ? undefined : ledger.intents.get(id);
    if (!known) continue;
    known.open = false;
    noteIntentCleared(ledger, known.partition, known.intent);
    for (const one of known.carried) one.counts = true;
    known.forgotten = ledger.damaged.has(id) && !hasWorkload(known.intent, after, read);
    if (!known.forgotten) watchClearedIntent(ledger, known, after, read);
  }
};

/**
 * A reset tells of a damaged intent by the workload of its autoscaler: one that is gone, or
 * invalid, names none.
 */
const hasWorkload = (intent: Intent, head: Item, read: ReadItem): boolean => {
  const manifest = recordOfIntent(intent, head, read)?.["manifest"]?.S;
  return manifest !== undefined && PURE_PART.specOf(manifest).kind === "spec";
};

/**
 * No sync holds a partition while a person moves its namespaces, nor after a late copy of a claim
 * has taken it.
 */
const claimed = (
  ledger: Ledger,
  partition: string,
  by: Invocation | undefined,
  epoch: number,
): void => {
  ledger.holders.delete(partition);
  if (!by || by.loads) return;
  by.epoch = epoch;
  by.claimedAt = ledger.stops.tick();
  ledger.holders.set(partition, by);
};

/** What a completed sync recommended and saw counts from now on. */
const completed = (ledger: Ledger, by: Invocation): void => {
  keepLooks(ledger.rivals, by);
  keepOutside(ledger, by);
  for (const recommendations of ledger.pending.get(by)?.values() ?? [])
    for (const one of recommendations) one.counts = true;
  for (const breach of ledger.evaluated.get(by) ?? []) breach.counts = true;
  ledger.pending.delete(by);
  ledger.evaluated.delete(by);
};

/** A scale that is about to be made was decided on everything that had happened. */
const watchKnown = (ledger: Ledger, decided: Decided | undefined): void => {
  if (!decided) return;
  watchCounted(ledger, decided);
  watchOutsideCounted(ledger, decided);
};

const watchAdded = (
  ledger: Ledger,
  {
    before,
    after,
    by,
  }: {
    readonly before: Item | undefined;
    readonly after: Item;
    readonly by: Invocation | undefined;
  },
  partition: string,
): void => {
  watchUncounted(ledger, before, after);
  const added = Object.entries(bodies(after)).filter(([id]) => !bodies(before)[id]);
  if (added.length === 0) return;
  for (const [id, { B: body = new Uint8Array() }] of added) {
    const decoded = decodeIntent(body);
    if (decoded.kind === "unreadable")
      throw new TypeError(`intent "${id}" cannot be read: ${decoded.message}`);
    if (ledger.intents.has(id))
      ledger.violate(
        "every intent ends in exactly one event",
        `the intent "${id}" was stored twice`,
      );
    if (Number(id.slice(id.lastIndexOf(":") + 1)) !== number(after, "epoch")) {
      ledger.violate(
        "no PUT takes effect without an intent that every later holder counts",
        `"${id}" was stored under epoch ${number(after, "epoch")}`,
      );
    }
    const { intent } = decoded;
    const decided = by?.decided.get(intent.uid);
    // The intent carries its recommendation on, whatever becomes of its sync: it is in the windows
    // once the intent has ended.
    const carried = ((by && ledger.pending.get(by)?.get(intent.uid)) ?? []).filter(
      ({ replicas }) => replicas === intent.recommendation,
    );
    watchKnown(ledger, decided);
    noteIntentStored(ledger, partition, intent);
    ledger.intents.set(id, {
      intent,
      partition,
      decided,
      carried,
      effects: [],
      open: true,
      forgotten: false,
      event: undefined,
      dayEvents: 0,
    });
  }
  // A scale that only waits to be counted is over: its PUT was answered, and another autoscaler of
  // its workload need not wait for it.
  const open = Object.entries(bodies(after)).filter(
    ([, { B: body }]) => body?.[0] !== UNCOUNTED_VERSION,
  );
  watchOnePerWorkload(
    ledger,
    open.map(([id]) => id),
  );
};

/**
 * A scale only waits to be counted once its event is in history, and until then its autoscaler gets
 * no other intent: its windows do not count the scale yet.
 */
const watchUncounted = (ledger: Ledger, before: Item | undefined, after: Item): void => {
  for (const [id, { B: body }] of Object.entries(bodies(after))) {
    if (body?.[0] !== UNCOUNTED_VERSION) continue;
    const known = ledger.intents.get(id);
    if (known && !known.event)
      ledger.violate(
        "every intent ends in exactly one event",
        `"${id}" waits to be counted and has none`,
      );
    const next = Object.keys(bodies(after)).find(
      (other) => other !== id && !bodies(before)[other] && uidOfIntent(other) === uidOfIntent(id),
    );
    if (next)
      ledger.violate(
        "no PUT takes effect without an intent that every later holder counts",
        `"${next}" was stored while no page counts "${id}"`,
      );
  }
};

const watchOnePerWorkload = (ledger: Ledger, ids: readonly string[]): void => {
  const seen = new Map<string, Intent>();
  for (const id of ids) {
    const intent = ledger.intents.get(id)?.intent;
    if (!intent) continue;
    const key = workloadKey(intent.namespace, intent.target);
    const other = seen.get(key);
    if (other)
      ledger.violate(
        "at most one open intent per workload",
        `"${key}" has "${other.id}" and "${id}"`,
      );
    seen.set(key, intent);
  }
};
