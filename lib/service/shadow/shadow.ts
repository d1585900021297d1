import { TidemarkError } from "../../model/errors.ts";
import { readHead } from "../../store/head/head.ts";
import { journalOfPage } from "../../store/history/journal.ts";
import { pageOf } from "../../store/pages/plan.ts";
import { partitionOf } from "../../store/records/partitions.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler, type LocatedAutoscaler } from "../find-autoscaler.ts";
import type { ShadowQuery } from "../service.ts";
import type { ShadowView } from "../views/shadow-view.ts";
import { timeText } from "../views/time-text.ts";
import { compareShadow } from "./compare.ts";
import { type ShadowSample, sampleOf } from "./shadow-sample.ts";

const DAY_MS = 86_400_000;
/** Two days at a sync each 15 s. More would not fit into one answer of a function. */
const SAMPLES_MAX = 12_000;

/** Compares an autoscaler with the controller beside it, from the journal. The default is the last day. Throws `service.invalid` for a start that has not come, or for more syncs than are compared at once. */
export const shadow = async (context: QueryContext, { sinceMs, untilMs, ...query }: ShadowQuery): Promise<ShadowView> => {
  const nowMs = context.clock();
  const [fromMs, toMs] = [sinceMs ?? nowMs - DAY_MS, Math.min(untilMs ?? nowMs, nowMs)];
  if (fromMs > toMs)
    throw new TidemarkError("service.invalid", `Cannot compare "${query.name}" since ${timeText(fromMs)}: it is ${timeText(toMs)}`, { fromMs, toMs });
  const located = await findAutoscaler(context, query);
  const { cluster, namespace, name } = located.record;
  const samples = await samplesOf(context, located, { sinceMs: Math.max(fromMs, located.record.createdMs), untilMs: toMs });
  return { cluster, namespace, name, since: timeText(fromMs), until: timeText(toMs), ...compareShadow(samples, toMs) };
};

const samplesOf = async (
  context: QueryContext,
  { cluster, record }: LocatedAutoscaler,
  stretch: { readonly sinceMs: number; readonly untilMs: number },
): Promise<readonly ShadowSample[]> => {
  const partition = partitionOf(cluster, record.namespace);
  const ref = partition === undefined ? undefined : { cluster: cluster.name, partition };
  const head = ref && (await readHead(context.tables, ref));
  if (!ref || !head) return [];
  const samples: ShadowSample[] = [];
  for await (const { atMs, evaluations } of journalOfPage(context.tables, ref, {
    page: pageOf(record.uid, Math.max(1, head.pages.length)),
    ...stretch,
  })) {
    const evaluation = evaluations.find(({ uid }) => uid === record.uid);
    const sample = evaluation && sampleOf(atMs, evaluation);
    if (sample) samples.push(sample);
    if (samples.length > SAMPLES_MAX) throw tooMany(record.name);
  }
  return samples;
};

const tooMany = (name: string): TidemarkError =>
  new TidemarkError(
    "service.invalid",
    `Cannot compare "${name}" over so long a time: it has more than ${SAMPLES_MAX} syncs; give a later --since or an earlier --until`,
    { name },
  );
