import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { AutoscalerRef, AutoscalerUid, PartitionName } from "../../rules/model/ids.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import { present } from "../../rules/model/json.ts";
import { MINUTE_MS, SECOND_MS } from "../../rules/model/time-text.ts";
import type { ProjectionState } from "../report/sync-report.ts";
import { ttlOf } from "../store/history/events.ts";
import {
  type HistoryItem,
  type InsertHistory,
  historyItemOf,
  LAST,
  unexpiredBetween,
} from "../store/history/item.ts";
import { readAll } from "../store/table/read-many.ts";
import type { Tables } from "../store/table/tables.ts";

/**
 * What readers ask for again and again, made once from the facts of a time: one file each, one line
 * in projections.ts. Everything that is not its content is here: when a time is due, which times
 * are done, what came late, catching up, and never to stop a sync.
 */
export interface Projection {
  readonly name: string;
  readonly slots: Slots;
  /** So long after the end of a slot every fact of it is stored. */
  readonly settledMs: number;
  /** Another projection that this one is made from. It can be made as far as that one is. */
  readonly follows?: string;
  /** Facts that are older may expire while they are read, and are not waited for. */
  readonly reachMs: number;
  /** The marks stay longer than the facts. */
  readonly markDays: number;
  /** Where the facts are that the partition of a turn projects. */
  readonly places: (turn: CatchUpTurn) => Promise<readonly FactPlace[]>;
}

/** The times that are made at once, one after the other without a gap. */
export interface Slots {
  readonly beginOf: (ms: number) => number;
  /** The beginning of the next slot. */
  readonly endOf: (fromMs: number) => number;
  /** The characters of an RFC 3339 time that name a slot: 10 name a day. */
  readonly characters: number;
}

export interface Slot {
  readonly fromMs: number;
  readonly endMs: number;
}

/** Facts that are projected together, with marks of their own. */
export interface FactPlace {
  /**
   * Partition key of the marks. Absent where there are none: then `firstMs` says what is missing,
   * and an environment remembers what it has made since.
   */
  readonly pk?: string;
  /** Where there is no mark yet: since when there may be facts. */
  readonly firstMs?: () => Promise<number>;
  /** The first instant from one on with a fact. Absent where a time without facts is stored too. */
  readonly nextMs?: (fromMs: number) => Promise<number | undefined>;
  /** What a slot consists of, each made in one step. Absent where a slot is one step. */
  readonly partsOf?: (slot: Slot) => Promise<readonly string[]>;
  /** The items of a part, and what its mark says. A fact that cannot be read is passed over. */
  readonly fold: (slot: Slot, part: string) => Promise<Folded>;
}

export interface Folded {
  readonly items: readonly HistoryItem[];
  readonly mark?: HistoryItem["body"];
}

/** An autoscaler whose manifest takes the advice of forecasts. */
export interface AdvisedAutoscaler extends AutoscalerRef {
  readonly uid: AutoscalerUid;
  readonly spec: AutoscalerSpec;
}

/** One sync of a partition that has time left. */
export interface CatchUpTurn {
  readonly tables: Tables;
  readonly insert: InsertHistory;
  readonly cluster: Pick<ClusterRecord, "name" | "partitions">;
  readonly partition: PartitionName;
  readonly nowMs: number;
  /** `nowMs` of the sync before, 0 where there is none. */
  readonly beforeMs: number;
  /** No part begins later. */
  readonly untilMs: number;
  /** What an environment knows to be done, under the cache that it lives as long as. */
  readonly memory: object;
  /** The autoscalers of the partition whose manifest takes the advice of forecasts. */
  readonly advised?: () => readonly AdvisedAutoscaler[];
  /** How many windows pages the partition has. */
  readonly windowsPages?: number;
}

/** A turn that began takes no further part after so long: other syncs wait for the environment. */
const TURN_MS = 2_000;
/** The same where the clock stands still during a sync. */
const PARTS_MAX = 40;
/** An environment that does not know what is done looks so often: it costs a request. */
const LOOK_EVERY_MS = 10 * MINUTE_MS;

/** True for the first sync of each stretch of this length. */
export const opens = (everyMs: number, nowMs: number, beforeMs: number): boolean =>
  Math.floor(nowMs / everyMs) > Math.floor(beforeMs / everyMs);

/**
 * Makes what is due of each projection, once a minute at most and the oldest first. It comes after
 * the release, and decides nothing: a sync that dies here leaves the rest to the next one, which
 * inserts the same items. Says which of them are behind, and why. Never throws.
 */
export const project = async (
  turn: CatchUpTurn,
  projections: readonly Projection[],
): Promise<readonly ProjectionState[]> => {
  if (!opens(MINUTE_MS, turn.nowMs, turn.beforeMs)) return [];
  const made = new Map<string, number>();
  const states: ProjectionState[] = [];
  for (const projection of projections) {
    const { done, failure = done?.failure } = await attempted(() =>
      projected(projection, turn, made),
    );
    if (done) made.set(projection.name, done.untilMs);
    const behindSeconds = Math.floor((done?.behindMs ?? 0) / SECOND_MS);
    if (failure !== undefined || behindSeconds > 0)
      states.push({ name: projection.name, behindSeconds, ...present({ failure }) });
  }
  return states;
};

export interface Attempt<Result> {
  readonly done?: Result;
  readonly failure?: string;
}

/** What only readers need fails with a sentence for the line of the sync, and ends nothing. */
export const attempted = async <Result>(work: () => Promise<Result>): Promise<Attempt<Result>> => {
  try {
    return { done: await work() };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
};

interface Made {
  /** Everything before it is made. */
  readonly untilMs: number;
  /** How long the oldest slot that could be made waits. */
  readonly behindMs: number;
  readonly failure?: string | undefined;
}

/** A place that fails keeps no other place from its turn. */
const projected = async (
  projection: Projection,
  turn: CatchUpTurn,
  made: ReadonlyMap<string, number>,
): Promise<Made> => {
  const { slots, settledMs, follows } = projection;
  const endMs = follows === undefined ? turn.nowMs - settledMs : (made.get(follows) ?? 0);
  const memory = memoryOf(turn.memory);
  const key = nameOf(projection, turn);
  const known = memory.get(key);
  const isIdle =
    known === undefined
      ? !opens(LOOK_EVERY_MS, turn.nowMs, turn.beforeMs)
      : slots.endOf(known) > endMs;
  if (isIdle) return { untilMs: known ?? 0, behindMs: 0 };
  const beganMs = turn.tables.clock();
  const budget: Budget = { parts: PARTS_MAX, untilMs: Math.min(turn.untilMs, beganMs + TURN_MS) };
  const all: Made[] = [];
  for (const place of await projection.places(turn))
    all.push(await placeProjected(projection, place, { turn, endMs, budget }));
  const untilMs = Math.min(slots.beginOf(endMs), ...all.map((one) => one.untilMs));
  memory.set(key, untilMs);
  return {
    untilMs,
    behindMs: Math.max(0, ...all.map(({ behindMs }) => behindMs)),
    failure: all.find(({ failure }) => failure !== undefined)?.failure,
  };
};

/** Up to where each projection of a partition is made, as an environment knows it. */
const memories = new WeakMap<object, Map<string, number>>();

const memoryOf = (owner: object): Map<string, number> => {
  const known = memories.get(owner) ?? new Map<string, number>();
  memories.set(owner, known);
  return known;
};

interface Budget {
  parts: number;
  readonly untilMs: number;
}

interface Step {
  readonly turn: CatchUpTurn;
  readonly endMs: number;
  readonly budget: Budget;
}

/*
 *  slots    ├─ marked ─┤├─ marked ─┤├─ part 0 ✓, part 1 ✗ (died) ─┤├─ due ─┤├─ not settled
 *  next turn                         part 1 again: item (there), item ✓, mark ✓
 *
 * The oldest slot is made first, so the newest mark says what is done.
 */
const placeProjected = async (
  projection: Projection,
  place: FactPlace,
  { turn, endMs, budget }: Step,
): Promise<Made> => {
  const { slots, reachMs } = projection;
  const reach = slots.beginOf(Math.max(0, turn.nowMs - reachMs));
  const resumed = await resume(turn, projection, place);
  let fromMs = resumed?.fromMs ?? (await place.firstMs?.()) ?? reach;
  for (;;) {
    const slot = await nextSlot(slots, place, { fromMs: Math.max(fromMs, reach), endMs });
    if (slot.endMs > endMs) return { untilMs: slot.fromMs, behindMs: 0 };
    const marked = new Set(resumed?.fromMs === slot.fromMs ? resumed.parts : []);
    const { done: isWhole, failure } = await attempted(() =>
      slotProjected(projection, place, { turn, slot, marked, budget }),
    );
    if (!isWhole) {
      remember(turn, projection, place, { fromMs: slot.fromMs, parts: marked });
      return { untilMs: slot.fromMs, behindMs: endMs - slot.endMs, failure };
    }
    fromMs = slot.endMs;
    remember(turn, projection, place, { fromMs, parts: NO_PARTS });
  }
};

/** The first slot from an instant on that has facts; one that is not due where none has. */
const nextSlot = async (
  { beginOf, endOf }: Slots,
  { nextMs }: FactPlace,
  { fromMs, endMs }: Slot,
): Promise<Slot> => {
  const begin = beginOf(fromMs);
  const asks = nextMs !== undefined && endOf(begin) <= endMs;
  const next = beginOf(asks ? ((await nextMs(begin)) ?? endMs) : begin);
  return { fromMs: next, endMs: endOf(next) };
};

const NO_PARTS: ReadonlySet<string> = new Set();

interface SlotStep {
  readonly turn: CatchUpTurn;
  readonly slot: Slot;
  /** The parts that are made; each further one is added. */
  readonly marked: Set<string>;
  readonly budget: Budget;
}

/** True where the whole slot is made. */
const slotProjected = async (
  projection: Projection,
  { pk, partsOf, fold }: FactPlace,
  { turn, slot, marked, budget }: SlotStep,
): Promise<boolean> => {
  const hasTime = (): boolean => budget.parts > 0 && turn.tables.clock() < budget.untilMs;
  if (!hasTime()) return false;
  const parts = partsOf ? await partsOf(slot) : [WHOLE];
  for (const part of parts.filter((one) => !marked.has(one))) {
    if (!hasTime()) return false;
    budget.parts -= 1;
    const { items, mark = JSON.stringify(parts) } = await fold(slot, part);
    if (items.length > 0) await turn.insert(items);
    if (pk !== undefined)
      await turn.insert([
        {
          pk,
          sk: markSk(projection, slot.fromMs, part),
          body: mark,
          ttlSeconds: ttlOf(slot.fromMs, projection.markDays),
        },
      ]);
    marked.add(part);
  }
  return true;
};

/** The part of a slot that is one. */
const WHOLE = "";

const TIME = "1970-01-01T00:00:00.000Z";

const markSk = ({ slots }: Projection, fromMs: number, part: string): string => {
  const slot = new Date(fromMs).toISOString().slice(0, slots.characters);
  return part === WHOLE ? slot : `${slot}#${part}`;
};

/** Marks of one slot that are read together: a partition of 5,000 autoscalers has 42 parts. */
const MARKS_AT_ONCE = 50;

interface Resumed {
  readonly fromMs: number;
  /** The parts of this slot that are made. */
  readonly parts: ReadonlySet<string>;
}

/** Where an environment goes on in a place without marks, by projection and partition. */
const unmarked = new WeakMap<object, Map<string, Resumed>>();

const nameOf = ({ name }: Projection, { cluster, partition }: CatchUpTurn): string =>
  `${name} ${cluster.name}/${partition}`;

const remember = (
  turn: CatchUpTurn,
  projection: Projection,
  { pk }: FactPlace,
  resumed: Resumed,
): void => {
  if (pk !== undefined) return;
  const known = unmarked.get(turn.memory) ?? new Map<string, Resumed>();
  unmarked.set(turn.memory, known.set(nameOf(projection, turn), resumed));
};

/** Where the marks of a place end: the next slot, or the newest one where parts of it are missing. */
const resume = async (
  turn: CatchUpTurn,
  projection: Projection,
  { pk, partsOf }: FactPlace,
): Promise<Resumed | undefined> => {
  const { tables } = turn;
  const { slots } = projection;
  if (pk === undefined) return unmarked.get(turn.memory)?.get(nameOf(projection, turn));
  const params = {
    ...unexpiredBetween(tables.historyTable, pk, ["0", LAST], 0),
    ScanIndexForward: false,
    Limit: partsOf ? MARKS_AT_ONCE : 1,
  };
  let newest: string | undefined;
  let wanted: readonly string[] = [];
  const parts = new Set<string>();
  for await (const { slot, part, body } of marksOf(tables, pk, params)) {
    newest ??= slot;
    if (slot !== newest) break;
    parts.add(part);
    if (partsOf) wanted = partsIn(body);
    if (isMade(wanted, parts)) break;
  }
  if (newest === undefined) return undefined;
  const fromMs = Date.parse(newest + TIME.slice(slots.characters));
  return isMade(wanted, parts)
    ? { fromMs: slots.endOf(fromMs), parts: NO_PARTS }
    : { fromMs, parts };
};

const isMade = (wanted: readonly string[], parts: ReadonlySet<string>): boolean =>
  wanted.every((one) => parts.has(one));

async function* marksOf(tables: Tables, pk: string, params: QueryCommandInput) {
  for await (const found of readAll(tables, `read what is projected of "${pk}"`, params)) {
    const { sk, body } = historyItemOf(found);
    const [slot = "", part = WHOLE] = sk.split("#");
    if (part !== LATE) yield { slot, part, body };
  }
}

/** The mark that a fact came late (keys.ts). It says nothing of what is made. */
const LATE = "late";

/** A mark that cannot be read counts as the only one of its slot. */
const partsIn = (body: HistoryItem["body"]): readonly string[] => {
  try {
    return JSON.parse(String(body)) as readonly string[];
  } catch {
    return [];
  }
};
