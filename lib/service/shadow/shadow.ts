import { TidemarkError } from "../../model/errors.ts";
import { readHead } from "../../store/head/head.ts";
import { partitionOf } from "../../store/records/partitions.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler, type LocatedAutoscaler } from "../find-autoscaler.ts";
import type { Stretch } from "../partitions/earlier-journals.ts";
import type { ShadowQuery } from "../service.ts";
import type { ShadowView } from "../views/shadow-view.ts";
import { timeText } from "../views/time-text.ts";
import { compareShadow } from "./compare.ts";
import { readSamples } from "./read-samples.ts";
import type { ShadowSample } from "./shadow-sample.ts";

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

const samplesOf = async (context: QueryContext, located: LocatedAutoscaler, stretch: Stretch): Promise<readonly ShadowSample[]> => {
  const { cluster, record } = located;
  const partition = partitionOf(cluster, record.namespace);
  const head = partition === undefined ? undefined : await readHead(context.tables, { cluster: cluster.name, partition });
  const refuseMany = (samples: number): void => {
    if (samples > SAMPLES_MAX) throw tooMany(record.name);
  };
  return readSamples({ context, uid: record.uid, refuseMany }, located, stretch, head?.pages.length ?? 0);
};

const tooMany = (name: string): TidemarkError =>
  new TidemarkError(
    "service.invalid",
    `Cannot compare "${name}" over so long a time: it has more than ${SAMPLES_MAX} syncs; give a later --since or an earlier --until`,
    { name },
  );
