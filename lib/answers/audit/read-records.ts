import { isTidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import { fieldLine } from "../words/change-words.ts";
import type { Filter, Service } from "../service/service.ts";
import type { ChangeView } from "../views/change.ts";
import type { EventView } from "../views/event.ts";
import type { AuditRecord } from "./record.ts";

/** A part of the past, both ends inclusive. */
export interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A record, and of a scale the version of the spec that decided it. */
export interface ReadRecord {
  readonly record: AuditRecord;
  /** The id of the edit that made this version, as changes have it. */
  readonly decidedBy?: string;
}

type Reads = Pick<Service, "events" | "changes">;

/** Scales and edits of a period, in order of time. */
export async function* readRecords(
  service: Reads,
  filter: Filter,
  { sinceMs, untilMs }: Period,
): AsyncGenerator<ReadRecord> {
  const past = { ...filter, removed: true, sinceMs } as const;
  const changes = until(service.changes(past), untilMs);
  yield* inOrderOfTime(
    mapped(service.events({ ...past, untilMs }), scaleRecord),
    mapped(changes, (change) => ({ record: editRecord(change) })),
  );
}

/** Changes are listed oldest first, so that nothing is read after the end of the period. */
async function* until(
  changes: AsyncIterable<ChangeView>,
  untilMs: number,
): AsyncGenerator<ChangeView> {
  for await (const change of changes) {
    if (Date.parse(change.at) > untilMs) return;
    yield change;
  }
}

async function* mapped<From, To>(
  all: AsyncIterable<From>,
  of: (one: From) => To,
): AsyncGenerator<To> {
  for await (const one of all) yield of(one);
}

const timeOf = ({ record }: ReadRecord): number => Date.parse(record.at ?? "");

/** Two lists, each in order of time, as one. At the same time an edit stands before a scale. */
async function* inOrderOfTime(
  scales: AsyncGenerator<ReadRecord>,
  edits: AsyncGenerator<ReadRecord>,
): AsyncGenerator<ReadRecord> {
  let edit = await edits.next();
  for await (const scale of scales) {
    for (; !edit.done && timeOf(edit.value) <= timeOf(scale); edit = await edits.next())
      yield edit.value;
    yield scale;
  }
  for (; !edit.done; edit = await edits.next()) yield edit.value;
}

const scaleRecord = (event: EventView): ReadRecord => {
  const { at, cluster, namespace, name, from, to, reason, outcome, message, detail } = event;
  const { uid, specGeneration: generation, by, id } = event;
  return {
    record: present({
      kind: "scale",
      ...{ at, cluster, namespace, name, by, from, to, reason, outcome, generation },
      hole:
        outcome === "unknown"
          ? "no answer came: whether the count was written is not known, and it counts as written"
          : undefined,
      message: detail === undefined ? message : `${message}; ${detail}`,
      id,
    }),
    // What another controller or a person did was decided by no spec.
    ...(outcome !== "outside" && { decidedBy: `${uid}:${generation}` }),
  };
};

/** Edits after which a part of the past is not known any more. */
const HOLES: Readonly<Partial<Record<ChangeView["verb"], string>>> = {
  "reset-windows":
    "windows that could not be read were replaced: which scales limited the next ones is not known",
  "reset-intent": "an attempt that could not be read was settled as unknown",
  "reset-time": "times ahead of the clock were taken away from what the syncs remember",
  adopt:
    "the tables were restored or copied: " +
    "what happened between the copy and this edit is not in them",
  move:
    "the fleet moved to another region: " +
    "what the region before did last may not be in these tables",
};

/** A manifest can differ in thousands of fields; `changes -o json` has all of them. */
const FIELDS_MAX = 50;

const editRecord = (change: ChangeView): AuditRecord => {
  const { at, cluster, namespace, name, scope, verb, by, grant, generation, made, id } = change;
  return present({
    kind: "edit",
    ...{ at, cluster, namespace, name, what: `${scope} ${verb}`, by, grant },
    outcome: made === undefined ? undefined : outcomeOf(made),
    ...{ generation, hole: HOLES[verb], message: messageOf(change), id },
  });
};

const outcomeOf = (made: boolean): string => (made ? "made" : "not made");

const messageOf = ({ fields, before, after }: ChangeView): string => {
  if (before === undefined && after !== undefined) return "there was nothing before";
  if (before !== undefined && after === undefined) return "there is nothing after";
  const more = fields.length - FIELDS_MAX;
  return [
    ...fields.slice(0, FIELDS_MAX).map(fieldLine),
    ...(more > 0 ? [`and ${more} more fields`] : []),
  ].join("; ");
};

/** An edit of one autoscaler, by its id. */
export interface Decider {
  readonly by: string;
  readonly at: string;
  readonly made: boolean | undefined;
}

/** An autoscaler by its whole name. */
export interface AuditedRef {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

export const auditedRefOf = ({
  cluster,
  namespace,
  name,
}: Partial<AuditedRef>): AuditedRef | undefined =>
  cluster === undefined || namespace === undefined || name === undefined
    ? undefined
    : { cluster, namespace, name };

/**
 * All edits of an autoscaler by their ids; none where it was only ever an object of its cluster.
 */
export const decidersOf = async (
  service: Pick<Service, "changes">,
  ref: AuditedRef,
): Promise<ReadonlyMap<string, Decider>> => {
  const deciders = new Map<string, Decider>();
  try {
    for await (const { id, by, at, made } of service.changes(ref))
      deciders.set(id, { by, at, made });
  } catch (error) {
    if (!isTidemarkError(error, "service.unknown")) throw error;
  }
  return deciders;
};

/** The record with what the edits of its autoscaler say: who made the spec, or whether it was. */
export const withDecider = (
  { record, decidedBy }: ReadRecord,
  deciders: ReadonlyMap<string, Decider>,
): AuditRecord => {
  const decider = deciders.get(decidedBy ?? record.id ?? "");
  if (!decider) return record;
  if (record.kind === "edit")
    return present({
      ...record,
      outcome: decider.made === undefined ? undefined : outcomeOf(decider.made),
    });
  return present({
    ...record,
    edit: decidedBy,
    editedBy: decider.by,
    editedAt: decider.at,
  });
};
