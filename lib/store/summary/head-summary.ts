import * as z from "zod";
import { type PartitionTrouble, TROUBLE_STATES, TROUBLING, PROBLEM_KINDS, type ProblemCounts, type SummaryRow } from "../../model/summary.ts";
import type { Head } from "../head/head.ts";
import { compress, decompress } from "../table/compressed.ts";
import { rowsIn, rowsValue } from "./summary-codec.ts";

const VERSION = 1;

/** What the head of a partition says beside its summary item: each release stores it anew, so that it costs no write of its own. */
export interface HeadSummary {
  /** `nowMs` of the sync that wrote it. A head with a later `nowMs` was released by code that knows no summaries: then it does not count. */
  readonly atMs: number;
  /** Epoch of the newest summary item, 0 where there is none; and the instant of it. */
  readonly baseEpoch: number;
  readonly baseMs: number;
  /** Epoch of the sync that last found a change in what a reader sees: the version of the partition for readers. */
  readonly changedEpoch: number;
  /** Which index of names is the newest (summary.ts). */
  readonly index: { readonly epoch: number; readonly hash: string };
  readonly autoscalers: number;
  /** Autoscalers with a pause, also one that has ended. It counts while the head has this spec version. */
  readonly paused: number;
  /** Autoscalers with overrides of their own that have not ended. */
  readonly overridden: number;
  readonly specVersion: number;
  readonly problems: ProblemCounts;
  readonly trouble: PartitionTrouble;
  /** The rows that changed since the summary item. */
  readonly rows: readonly SummaryRow[];
}

const trouble = z.object({
  state: z.enum(TROUBLE_STATES),
  silent: z.boolean(),
  sinceMs: z.number().exactOptional(),
  error: z.string().exactOptional(),
  unreadable: z.object({ autoscaler: z.string(), message: z.string() }).exactOptional(),
  holds: z.array(z.object({ reason: z.enum(TROUBLING), autoscaler: z.string(), message: z.string(), autoscalers: z.number() })),
});
const problemCount = z.object({ autoscalers: z.number(), lasting: z.number(), oldestMs: z.number() });
const stored = z.tuple([
  z.number(),
  z.number(),
  z.number(),
  z.number(),
  z.tuple([z.number(), z.string()]),
  z.tuple([z.number(), z.number(), z.number(), z.number().optional()]),
  z.partialRecord(z.enum(PROBLEM_KINDS), problemCount),
  trouble.nullable(),
  z.unknown(),
]);

const UNTROUBLED: PartitionTrouble = { state: "ok", silent: false, holds: [] };
const isUntroubled = ({ state, silent, holds, error }: PartitionTrouble): boolean =>
  state === "ok" && !silent && holds.length === 0 && error === undefined;

/** Some sixty bytes while nothing changes and nothing is wrong. */
export const encodeHeadSummary = (summary: HeadSummary): Uint8Array => {
  const { atMs, baseEpoch, baseMs, changedEpoch, index, autoscalers, paused, overridden, specVersion, problems, trouble: wrong, rows } = summary;
  const lastly = [isUntroubled(wrong) ? null : wrong, rows.length === 0 ? null : rowsValue(rows, atMs)];
  return compress(VERSION, [
    atMs,
    baseEpoch,
    atMs - baseMs,
    changedEpoch,
    [index.epoch, index.hash],
    // An earlier release knows three numbers, and reads no others.
    [autoscalers, paused, specVersion, ...(overridden === 0 ? [] : [overridden])],
    problems,
    ...lastly,
  ]);
};

/** `undefined` for damage, or a later version: a reader then does without. */
export const decodeHeadSummary = (body: Uint8Array | undefined): HeadSummary | undefined => {
  try {
    if (!body) return undefined;
    const { version, value } = decompress(body);
    if (version !== VERSION) return undefined;
    const [atMs, baseEpoch, sinceBaseMs, changedEpoch, [epoch, hash], [autoscalers, paused, specVersion, overridden = 0], problems, wrong, rows] =
      stored.parse(value);
    return {
      atMs,
      baseEpoch,
      baseMs: atMs - sinceBaseMs,
      changedEpoch,
      index: { epoch, hash },
      autoscalers,
      paused,
      overridden,
      specVersion,
      problems,
      trouble: wrong ?? UNTROUBLED,
      rows: rows === null ? [] : rowsIn(rows, atMs),
    };
  } catch {
    return undefined;
  }
};

/** What a head says for readers; `undefined` where the newest release wrote no summary: a reader then reads pages and journal. */
export const statedIn = ({ summary, nowMs }: Pick<Head, "summary" | "nowMs">): HeadSummary | undefined => {
  const stated = decodeHeadSummary(summary);
  return stated && stated.atMs >= nowMs ? stated : undefined;
};
