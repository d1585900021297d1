import { describe, expect, it } from "vitest";
import { between, projectedUnitsADay } from "../../lib/answers/cost/sync-units.ts";
import { PROJECTED_UNITS } from "../../lib/answers/cost/units.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import type { Evaluation, Sample } from "../../lib/rules/model/scale-records.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/rules/model/time-text.ts";
import { type JournalFact, SIX_HOURS_MS } from "../../lib/stack/projections/journal-slots.ts";
import { addMinute, type PodMinutes } from "../../lib/stack/projections/pods.ts";
import { quarterItem } from "../../lib/stack/projections/quarters.ts";
import { binned, sixHourItems } from "../../lib/stack/projections/samples.ts";
import type { HistoryItem } from "../../lib/stack/store/history/item.ts";
import { PARTITION } from "../store/records.ts";

const SINCE_MS = 40 * SIX_HOURS_MS;
const PERIOD_MS = 15 * SECOND_MS;
const QUARTER_MS = 15 * MINUTE_MS;
const UNIT_BYTES = 1_024;
/** Bytes of the names of the attributes, and of the number `ttl`. */
const NAMES_BYTES = 17;
/** One in so many changes of what an autoscaler wants ends in a scale. */
const SCALES_ONE_IN = 12;

const unitsOf = (items: readonly HistoryItem[]): number =>
  items.reduce(
    (sum, { pk, sk, body }) =>
      sum + Math.ceil((pk.length + sk.length + body.length + NAMES_BYTES) / UNIT_BYTES),
    0,
  );

/** Numbers in [0, 1), the same in every run. */
let state = 11;
const random = (): number => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

const UID = "0d2f6f3e-9a1c-4c36-8f3a-6b1f2f9e5";
const OF = {
  cluster: PARTITION.cluster,
  namespace: namespace("shop"),
  name: autoscalerName("web"),
};

/** What six hours of syncs journal of an HPA with CPU that changes in this share of them. */
function* journaled(changing: number): Generator<JournalFact> {
  let [replicas, wanted, scaledMs] = [6, 6, 0];
  for (let atMs = SINCE_MS; atMs < SINCE_MS + SIX_HOURS_MS; atMs += PERIOD_MS) {
    const hasChanged = random() < changing;
    if (hasChanged) wanted = 2 + ((wanted - 1 + Math.floor(random() * 9)) % 10);
    if (hasChanged && random() * SCALES_ONE_IN < 1) [replicas, scaledMs] = [wanted, atMs];
    if (!hasChanged && atMs % MINUTE_MS !== 0) continue;
    yield {
      atMs,
      evaluation: evaluationOf({ replicas, wanted, isYoung: atMs - scaledMs < 2 * MINUTE_MS }),
    };
  }
}

interface Found {
  readonly replicas: number;
  readonly wanted: number;
  readonly isYoung: boolean;
}

const evaluationOf = ({ replicas, wanted, isYoung }: Found): Evaluation => {
  const ready = isYoung ? replicas - 1 : replicas;
  const percent = 51 + 9 * random();
  return {
    ...{ uid: UID, ...OF, kind: "hold", failed: false, from: replicas, ready, generation: 3 },
    bounds: { min: 2, max: 30 },
    because: { reason: wanted < replicas ? "ScaleDownStabilized" : "DesiredWithinRange" },
    steps: [{ step: "propose", before: replicas, after: wanted }],
    metrics: [
      {
        ...{ name: "cpu resource utilization (percentage of request)", type: "Resource" },
        ...{ kind: "measured", value: `${Math.floor(percent)}%`, target: "60%" },
        ...{ ratio: percent / 60, proposal: wanted, pods: { matched: replicas, counted: ready } },
      },
    ],
    events: [],
  } as unknown as Evaluation;
};

const played = (at: number, changing: number) => {
  const uid = autoscalerUid(`${UID}${String(at).padStart(3, "0")}`);
  const [bins, quarter] = [new Map<number, Sample>(), new Map<number, Sample>()];
  const minutes: PodMinutes[] = [];
  for (const fact of journaled(changing)) {
    binned(bins, fact);
    addMinute(minutes, fact);
    if (fact.atMs < SINCE_MS + QUARTER_MS) binned(quarter, fact);
  }
  const slot = { fromMs: SINCE_MS, endMs: SINCE_MS + SIX_HOURS_MS };
  const page = { partition: PARTITION, page: 0, slot };
  const items = sixHourItems(page, { ...OF, uid }, [...bins.values()], minutes);
  return { uid, quarter, items };
};

describe("the write units of what is made of the journal", () => {
  it.each([0.01, 0.105, 1])("are as the bill has them, where %d of all change", (changing) => {
    // Half of a journal page of 100.
    const all = Array.from({ length: 50 }, (_, at) => played(at, changing));
    const samples = all.reduce((sum, { items }) => sum + unitsOf(items), 0) / all.length;
    expect(4 * samples).toBeLessThanOrEqual(between(PROJECTED_UNITS.samplesADay, changing));
    expect(4 * samples).toBeGreaterThan(between(PROJECTED_UNITS.samplesADay, changing) - 0.5);
    const slot = { fromMs: SINCE_MS, endMs: SINCE_MS + QUARTER_MS };
    const found = new Map(all.map(({ uid, quarter }) => [uid, quarter]));
    const quarter = unitsOf([quarterItem(PARTITION, { page: 0, group: 0 }, slot, found)]);
    expect(quarter).toBe(Math.min(2, between(PROJECTED_UNITS.quarter, changing)));
  });

  it("are no more than the eight of an item of samples and an item of pods for each six hours", () => {
    for (const changing of [0, 0.01, 0.105])
      for (const autoscalers of [10, 60, 100, 120, 1_000])
        expect(projectedUnitsADay(autoscalers, changing) / autoscalers).toBeLessThanOrEqual(8);
  });
});
