import { type AttributeValue, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { UNCOUNTED_VERSION } from "../../../lib/stack/store/head/intent-codec.ts";
import { promiseOf } from "../../protocol/promises.ts";
import * as model from "../../protocol/twin/steps.ts";
import type { Invocation } from "../invocation.ts";
import { writeOf } from "../planted/clauses.ts";
import type { Item, ReadItem } from "./head.ts";
import type { Invariant, KnownIntent, Ledger } from "./ledger.ts";

export const STEP: Invariant = "every step is one that the model of the protocol allows";

type Attributes = Readonly<Record<string, AttributeValue | undefined>>;
const numberOf = (item: Attributes | undefined, name: string): number =>
  Number(item?.[name]?.N ?? 0);
const entriesOf = (map: AttributeValue | undefined): model.Entries =>
  new Map(
    Object.entries(map?.M ?? {}).map(([id, { B: body }]) => [
      id,
      body?.[0] === UNCOUNTED_VERSION ? "uncounted" : "open",
    ]),
  );

const headOf = (item: Item | undefined): model.Head => ({
  epoch: numberOf(item, "epoch"),
  writes: numberOf(item, "writeNumber"),
  headNow: numberOf(item, "nowMs"),
  headGeneration: numberOf(item, "pageGeneration"),
  dueDone: numberOf(item, "dueDoneMs"),
  entries: entriesOf(item?.["intents"]),
});

const digits = (number: number): string => String(number).padStart(6, "0");

const beforeOf = (ledger: Ledger, partition: string, read: ReadItem): model.Before => ({
  head: headOf(read(partition, "head")),
  pageEpoch: (generation, index) => {
    const page = read(partition, `page#${digits(generation)}#${digits(index)}`);
    return page && numberOf(page, "epoch");
  },
  event: (id) => ledger.intents.get(id)?.event?.outcome,
  effects: (id) => ledger.intents.get(id)?.effects.length ?? 0,
  isDamaged: (id) => ledger.damaged.has(id),
});

const told = (ledger: Ledger, who: string, stepped: model.Stepped<unknown>): void => {
  if (stepped.kind === "broken")
    ledger.violate(STEP, `${who}: ${stepped.words} (${promiseOf(stepped.promise)})`);
};

interface Sent {
  readonly by: Invocation;
  readonly read: ReadItem;
}

/**
 * Executes a request of a sync to the state table, and holds what it did against the model. What
 * people write is not a step of this model.
 */
export const watchWrite = <Answer>(
  ledger: Ledger,
  command: unknown,
  sent: Sent,
  execute: () => Answer,
): Answer => {
  if (command instanceof PutItemCommand) return watchPage(ledger, command, sent, execute);
  return command instanceof UpdateItemCommand
    ? watchUpdate(ledger, command, sent, execute)
    : execute();
};

const watchPage = <Answer>(
  ledger: Ledger,
  command: PutItemCommand,
  { by, read }: Sent,
  execute: () => Answer,
): Answer => {
  if (writeOf(command) !== "write a page") return execute();
  const partition = command.input.Item?.["pk"]?.S ?? "";
  const request = pageRequest(command);
  const before = beforeOf(ledger, partition, read);
  const after = (): number | undefined => before.pageEpoch(request.generation, request.index);
  return compared(ledger, `a page of ${by.name} in ${partition}`, {
    stepped: model.storePage(before, request),
    execute,
    after,
  });
};

const watchUpdate = <Answer>(
  ledger: Ledger,
  command: UpdateItemCommand,
  { by, read }: Sent,
  execute: () => Answer,
): Answer => {
  const write = writeOf(command);
  const step = write && HEAD_STEPS[write];
  if (!step) return execute();
  const partition = command.input.Key?.["pk"]?.S ?? "";
  const stepped = step(
    beforeOf(ledger, partition, read),
    command.input.ExpressionAttributeValues ?? {},
  );
  const after = (): model.Head => headOf(read(partition, "head"));
  return compared(ledger, `${write} of ${by.name} in ${partition}`, {
    stepped,
    execute,
    after,
    mayRefuse: write === "claim",
  });
};

type Values = Attributes;
const holderOf = (values: Values) => ({
  epoch: numberOf(values, ":epoch"),
  writes: numberOf(values, ":seen"),
});

const HEAD_STEPS: Readonly<
  Record<string, (before: model.Before, values: Values) => model.Stepped<model.Head>>
> = {
  claim: (before, values) => model.claim(before, { due: numberOf(values, ":due") }),
  "store intents": (before, values) =>
    model.storeEntries(before, {
      ...holderOf(values),
      entries: entriesOf(values[":intents"]),
      now: numberOf(values, ":now"),
    }),
  "give back": (before, values) => {
    const { entries, headNow: now } = before.head;
    return model.storeEntries(before, { ...holderOf(values), entries, now });
  },
  release: (before, values) =>
    model.storeRelease(before, {
      ...holderOf(values),
      entries: entriesOf(values[":open"]),
      now: numberOf(values, ":now"),
      due: numberOf(values, ":due"),
      generation: numberOf(values, ":generation"),
      pages: (values[":pages"]?.L ?? []).map(({ N }) => Number(N)),
    }),
};

const pageRequest = ({ input }: PutItemCommand) => {
  const [, generation, index] = (input.Item?.["sk"]?.S ?? "").split("#");
  const epoch = numberOf(input.Item, "epoch");
  const read = input.ExpressionAttributeValues?.[":read"]?.N;
  return {
    epoch,
    generation: Number(generation),
    index: Number(index),
    ...(read !== undefined && { read: Number(read) }),
  };
};

const compared = <Answer, After>(
  ledger: Ledger,
  who: string,
  write: {
    readonly stepped: model.Stepped<After>;
    readonly execute: () => Answer;
    readonly after: () => After | undefined;
    readonly mayRefuse?: boolean;
  },
): Answer => {
  const { stepped, execute, after, mayRefuse = false } = write;
  try {
    const answer = execute();
    if (stepped.kind === "refused")
      ledger.violate(STEP, `${who} was executed, and the model refuses it`);
    else told(ledger, who, stepped);
    const different =
      stepped.kind === "executed" ? differenceOf(stepped.after, after()) : undefined;
    if (different !== undefined)
      ledger.violate(STEP, `${who} leaves another state than the model: ${different}`);
    return answer;
  } catch (error) {
    if (stepped.kind !== "refused" && !mayRefuse)
      ledger.violate(STEP, `${who} was refused, and the model executes it`);
    throw error;
  }
};

const textOf = (value: unknown): string =>
  JSON.stringify(value instanceof Map ? [...value].toSorted() : value);

const differenceOf = (wanted: unknown, found: unknown): string | undefined => {
  if (typeof wanted !== "object" || wanted === null)
    return wanted === found ? undefined : `${found}, not ${wanted}`;
  const name = Object.keys(wanted).find(
    (key) => textOf(Reflect.get(wanted, key)) !== textOf(Reflect.get(Object(found), key)),
  );
  return name === undefined
    ? undefined
    : `${name} is ${textOf(Reflect.get(Object(found), name))}, not ${textOf(Reflect.get(wanted, name))}`;
};

/** An event of a sync that is about to be stored, or a PUT that is about to take effect. */
export const watchEventStep = (
  ledger: Ledger,
  known: KnownIntent,
  outcome: "applied" | "refused" | "unknown",
  read: ReadItem,
): void =>
  told(
    ledger,
    "the event",
    model.insertEvent(beforeOf(ledger, known.partition, read), {
      id: known.intent.id,
      told: outcome,
    }),
  );

export const watchEffectStep = (
  ledger: Ledger,
  { partition, intent }: KnownIntent,
  read: ReadItem,
): void =>
  told(ledger, "the PUT", model.takeEffect(beforeOf(ledger, partition, read), { id: intent.id }));
