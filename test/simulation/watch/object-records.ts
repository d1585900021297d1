import type { SpecKindName } from "../../../lib/rules/model/spec.ts";
import { LOST_NUMBERS } from "../../../lib/stack/store/head/repair-head.ts";
import type { Invocation } from "../invocation.ts";
import type { Item } from "./head.ts";
import { type Ledger, listed } from "./ledger.ts";

const ACTS = "an autoscaler of an object acts by what the same sync has read of it";

const ENDS = "an autoscaler of an object ends after two answers without it";

/** Answers that an autoscaler needs before it ends. */
const ANSWERS = 2;

interface Writer {
  readonly by: Invocation | undefined;
  readonly process: string;
}

const isDeleted = (item: Item | undefined): boolean => item?.["deletedMs"] !== undefined;

/**
 * The adoption of restored tables passes over the generations of edits that were lost, and is among
 * the changes of the fleet.
 */
const isAdopted = (before: Item | undefined, after: Item): boolean =>
  Number(after["generation"]?.N) - Number(before?.["generation"]?.N) === LOST_NUMBERS &&
  before?.["manifest"]?.S === after["manifest"]?.S;

/** Looks at every write of an autoscaler's record that took effect, of people and of syncs. */
export const watchRecord = (
  ledger: Ledger,
  { by, process }: Writer,
  before: Item | undefined,
  after: Item | undefined,
): void => {
  if (!after) return;
  const isEdit = after["generation"]?.N !== before?.["generation"]?.N && !isAdopted(before, after);
  const id = `${(after["uid"] ?? after["deletedUid"])?.S}:${after["generation"]?.N}`;
  // What people had stored before the seed begins has no process.
  if (isEdit && process !== "" && !ledger.objects.changes.has(id))
    ledger.violate(
      "every edit of an autoscaler is among its changes",
      `"${id}" of "${after["sk"]?.S}" was stored by ${process} and is not`,
    );
  if (isDeleted(after)) ended(ledger, by, before);
  else stored(ledger, by, before, after);
};

const stored = (
  ledger: Ledger,
  by: Invocation | undefined,
  before: Item | undefined,
  after: Item,
): void => {
  if (by) watchStored(ledger, by, before, after);
  noteCopy(ledger, after);
};

/**
 * What a sync stores of an object is what its own answer has shown, and no generation before the
 * one that was stored.
 */
const watchStored = (
  ledger: Ledger,
  by: Invocation,
  before: Item | undefined,
  after: Item,
): void => {
  const origin = after["origin"]?.M;
  const [uid = "", generation] = [origin?.["uid"]?.S, Number(origin?.["generation"]?.N)];
  const isNew =
    before?.["manifest"]?.S !== after["manifest"]?.S ||
    before?.["origin"]?.M?.["generation"]?.N !== origin?.["generation"]?.N;
  if (!origin || !isNew) return;
  const shown = by.shown.get(uid);
  const words = `${by.name} stores generation ${generation} of "${uid}"`;
  if (shown?.manifest !== after["manifest"]?.S || shown?.generation !== generation)
    ledger.violate(
      ACTS,
      `${words}, and its answer shows ${shown === undefined ? "no such object" : `generation ${shown.generation}`}`,
    );
  const newest = Math.max(
    0,
    ...(ledger.objects.generations.get(uid) ?? []).map((one) => one.generation),
  );
  if (generation < newest) ledger.violate(ACTS, `${words}, and ${newest} was stored before`);
};

const noteCopy = (ledger: Ledger, item: Item): void => {
  const { uid, kind, generation } = item["origin"]?.M ?? {};
  const own = item["uid"]?.S;
  if (own === undefined || uid?.S === undefined) return;
  const [, cluster = ""] = (item["pk"]?.S ?? "").split("#");
  const [namespace = "", name = ""] = (item["sk"]?.S ?? "").split("#");
  ledger.objects.copies.set(own, {
    uid: uid.S,
    kind: kind?.S as SpecKindName,
    cluster,
    namespace,
    name,
  });
  listed(ledger.objects.generations, uid.S).push({
    generation: Number(generation?.N),
    manifest: item["manifest"]?.S ?? "",
    storedAt: ledger.stops.tick(),
  });
};

/**
 * An autoscaler that has ended starts anew when its object comes back, also with the same uid:
 * nothing is asked of its windows any more.
 */
const ended = (ledger: Ledger, by: Invocation | undefined, before: Item | undefined): void => {
  const own = before?.["uid"]?.S;
  if (own === undefined) return;
  if (by) watchEnded(ledger, by, own);
  const copy = ledger.objects.copies.get(own);
  if (copy) {
    ledger.objects.generations.delete(copy.uid);
    ledger.objects.endedAt.set(copy.uid, ledger.stops.tick());
  }
  ledger.effects.delete(own);
  for (const recommendation of ledger.recommendations.get(own) ?? []) recommendation.counts = false;
  for (const breach of ledger.breaches.get(own) ?? []) breach.counts = false;
};

/**
 * A sync ends an autoscaler only where two answers had no such object, or its own answer has
 * another object of the same name.
 */
const watchEnded = (ledger: Ledger, by: Invocation, own: string): void => {
  const copy = ledger.objects.copies.get(own);
  if (!copy) {
    ledger.violate(ENDS, `${by.name} ends "${own}", which is no copy of an object`);
    return;
  }
  const isReplaced = [...by.shown.values()].some(
    ({ of, namespace, name, uid }) =>
      of.kind === copy.kind &&
      namespace === copy.namespace &&
      name === copy.name &&
      uid !== copy.uid,
  );
  const answers = ledger.objects.absences.get(copy.uid)?.size ?? 0;
  if (!isReplaced && answers < ANSWERS)
    ledger.violate(
      ENDS,
      `${by.name} ends "${own}" after ${answers} answers without the object "${copy.uid}"`,
    );
};
