import type { ShadowView } from "../../views/over-time.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import { readSamples } from "../partitions/read-samples.ts";
import type { ShadowQuery } from "../service.ts";
import { refuseEmptyRange } from "../time-range.ts";
import { rfc3339 } from "../views/rfc3339.ts";
import { compareShadow } from "./compare.ts";
import { type ShadowSample, sampleOf } from "./shadow-sample.ts";

const DAY_MS = 86_400_000;
/** Syncs that one answer looks at: some seconds of work for a function, whether it finds another controller in them or none. */
const SYNCS_MAX = 3_000;
/** The longest window of an HPA: so long after its creation the windows of an autoscaler may not reach as far back as the windows of the other controller. */
const WINDOWS_FULL_MS = 3_600_000;

/**
 * Compares an autoscaler with the controller beside it, from the journal. The default is the last day. A long time is compared in parts: `next` tells where to go on (join-shadow.ts). Throws
 * `service.invalid` for a start that has not come, or that is after the end.
 */
export const shadow = async (context: QueryContext, { sinceMs, untilMs, ...query }: ShadowQuery): Promise<ShadowView> => {
  const nowMs = context.clock();
  refuseEmptyRange(`compare "${query.name}"`, { sinceMs, untilMs }, nowMs);
  const toMs = Math.min(untilMs ?? nowMs, nowMs);
  const fromMs = Math.min(sinceMs ?? nowMs - DAY_MS, toMs);
  const located = await findAutoscaler(context, query);
  const { cluster, namespace, name, uid, createdMs } = located.record;
  const firstMs = Math.max(fromMs, createdMs);
  const endMs = Math.min(toMs, firstMs + SYNCS_MAX * located.cluster.syncPeriodMs);
  const samples = await readSamples({ context, uid, sampleOf }, located, { sinceMs: firstMs, untilMs: endMs });
  const part = endMs < toMs ? partOf(samples, firstMs, endMs) : { samples, untilMs: toMs };
  const pace = { periodMs: located.cluster.syncPeriodMs, fullMs: createdMs + WINDOWS_FULL_MS };
  const times = { since: rfc3339(fromMs), until: rfc3339(part.untilMs), ...(part.nextMs !== undefined && { next: rfc3339(part.nextMs) }) };
  return { cluster, namespace, name, ...times, ...compareShadow(part.samples, part.untilMs, pace) };
};

interface Part {
  readonly samples: readonly ShadowSample[];
  readonly untilMs: number;
  readonly nextMs?: number;
}

/**
 * A part ends where both agreed last, and the next one begins there: so no reaction is cut in two. That sync is the only one of its instant, because it alone is in both parts. Without such a sync a part ends where the
 * reading ended.
 */
const partOf = (samples: readonly ShadowSample[], firstMs: number, endMs: number): Part => {
  const isOnlyOne = ({ atMs }: ShadowSample, at: number): boolean => samples[at - 1]?.atMs !== atMs && samples[at + 1]?.atMs !== atMs;
  const agreed = ({ atMs, own, rival }: ShadowSample): boolean => atMs > firstMs && own !== undefined && own === rival;
  const agreedMs = samples.findLast((sample, at) => agreed(sample) && isOnlyOne(sample, at))?.atMs;
  if (agreedMs === undefined) return { samples, untilMs: endMs, nextMs: endMs + 1 };
  return { samples: samples.filter(({ atMs }) => atMs <= agreedMs), untilMs: agreedMs, nextMs: agreedMs };
};
