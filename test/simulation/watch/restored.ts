import { FLEET_PK } from "../../../lib/stack/store/table/keys.ts";
import { recordOf } from "./stops.ts";
import type { Effect, Workload } from "../cluster.ts";
import type { Invocation } from "../invocation.ts";
import type { Item } from "./head.ts";
import type { Invariant, KnownEffect, Ledger } from "./ledger.ts";
import { noteOutside } from "./outside.ts";

const HELD: Invariant =
  "restored and copied tables scale nothing before a person has adopted them and thaws";
const LOST: Invariant = "limits count what a restore took away";
const STACKS: Invariant = "a stack holds where the other one was the last to scale";

/** What the simulation knows of one stack, where two have copies of one table. */
export interface Stack {
  readonly name: "former" | "restored";
  readonly ledger: Ledger;
  /** The ledger of the stack with the other tables. */
  other: Stack | undefined;
  /** A person has begun to thaw it; undefined where it was never restored. */
  mayScale: boolean;
}

const copied = <Key, Value>(
  into: Map<Key, Value>,
  from: ReadonlyMap<Key, Value>,
  copy: (value: Value) => Value = (value) => value,
): void => {
  for (const [key, value] of from) into.set(key, copy(value));
};
const each = <One extends object>(list: readonly One[]): One[] => list.map((one) => ({ ...one }));

/**
 * What is known of copies of the tables at the instant at which they are made: the same, from then
 * on apart.
 */
export const copyLedger = (from: Ledger, into: Ledger, items: Iterable<Item>): void => {
  copied(into.intents, from.intents, (known) => ({ ...known, effects: each(known.effects) }));
  copied(into.effects, from.effects, each);
  copied(into.settledMs, from.settledMs);
  copied(into.totals, from.totals);
  copied(into.recommendations, from.recommendations, each);
  copied(into.leftMs, from.leftMs);
  copied(into.breaches, from.breaches, each);
  copied(into.clusterWrites, from.clusterWrites);
  copied(into.outside.changes, from.outside.changes, (counts) => [...counts]);
  copied(into.outside.intents, from.outside.intents, ({ stored, open }) => ({
    stored,
    open: new Set(open),
  }));
  copied(into.outside.events, from.outside.events, (one) => ({ ...one }));
  copied(into.outside.told, from.outside.told);
  copied(into.outside.counted, from.outside.counted, each);
  for (const change of from.objects.changes) into.objects.changes.add(change);
  for (const item of items) copyRecord(into, item);
};

const copyRecord = ({ stops, edits }: Ledger, item: Item): void => {
  const [pk, sk] = [item["pk"]?.S ?? "", item["sk"]?.S ?? ""];
  const record = pk === FLEET_PK ? recordOf(sk) : undefined;
  if (record !== undefined) stops.recordWritten(record, item);
  if (pk.startsWith("autoscalers#")) {
    edits.written("", undefined, item);
    stops.autoscalerWritten("", undefined, item);
  }
};

/**
 * A PUT is being sent: by a stack that may scale, and to a workload that the other stack has not
 * scaled lately.
 */
export const watchStack = (stack: Stack, by: Invocation, workload: Workload | undefined): void => {
  const words = `${by.name} of the ${stack.name} stack sends a PUT of "${workload?.target.name}"`;
  if (!stack.mayScale) stack.ledger.violate(HELD, words);
  const last = workload?.scaledBy;
  if (last === undefined || last.stack === stack.name || last.atMs > by.startMs) return;
  const agoMs = stack.ledger.nowMs() - last.atMs;
  if (agoMs < OTHER_STACK_MS)
    stack.ledger.violate(
      STACKS,
      `${words}, and the ${last.stack} one has scaled it ${agoMs} ms ago`,
    );
};

/** As the client of production has it in five minutes: shorter, so that a seed sees it end. */
export const OTHER_STACK_MS = 30_000;

/** A PUT took effect: for the other stack it is a change by others. */
export const watchStackEffect = (
  stack: Stack,
  manager: string,
  { workload, from, to }: Effect,
): void => {
  workload.scaledBy = { stack: stack.name, manager, atMs: stack.ledger.nowMs() };
  if (stack.other && from !== to) noteOutside(stack.other.ledger, workload, to);
};

/**
 * The tables of a stack were adopted: every scale that was made until then counts on, also those
 * that no item of them tells of.
 */
export const noteAdopted = (stack: Stack): void => {
  const { ledger, other } = stack;
  const adoptedMs = ledger.nowMs();
  ledger.lost = (uid) =>
    (other?.ledger.effects.get(uid) ?? []).filter(({ atMs }) => atMs <= adoptedMs);
  ledger.adoptedMs = adoptedMs;
};

/**
 * The ledger as limits must have it after a restore: what was made before the adoption, by
 * whichever stack, and what was made since.
 */
export const withLost = (ledger: Ledger, { uid }: KnownEffect): Ledger => {
  const since = (ledger.effects.get(uid) ?? []).filter(
    ({ atMs }) => atMs > (ledger.adoptedMs ?? 0),
  );
  return {
    ...ledger,
    effects: new Map([[uid, [...(ledger.lost?.(uid) ?? []), ...since]]]),
    violate: (_, message) => ledger.violate(LOST, message),
  };
};
