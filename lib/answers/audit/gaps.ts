import { isTidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { wholeHistory } from "../service/history/history.ts";
import type { Filter, Service } from "../service/service.ts";
import type { HistoryPoint } from "../views/over-time.ts";
import type { AutoscalerRow } from "../views/row.ts";
import { mapWithLimit } from "../../stack/store/table/wait-for-all.ts";
import type { Period } from "./read-records.ts";
import type { AuditRecord } from "./record.ts";

/** Samples of a history are of five minutes. */
const STEP_MS = 5 * MINUTE_MS;
/** Two samples of a fleet that is synced are at most two steps apart. */
const GAP_MS = 3 * STEP_MS;
const SIDE_BY_SIDE = 4;

type Reads = Pick<Service, "rows" | "history">;

/** The autoscaler whose history stands for its partition. */
interface Witness {
  readonly cluster: string;
  readonly partition: string;
  readonly namespace: string;
  readonly name: string;
  readonly createdAt: string;
}

/**
 * The stretches in which a partition was not synced, and those in which its cluster could not be
 * read. A sync evaluates all autoscalers of its partition, so that the history of the oldest one
 * says it for all of them.
 */
export const gaps = async (
  service: Reads,
  filter: Filter,
  period: Period,
): Promise<readonly AuditRecord[]> => {
  const found = await mapWithLimit(
    await witnesses(service, filter),
    SIDE_BY_SIDE,
    async (witness) => {
      const { cluster, namespace, name, createdAt } = witness;
      const from = { ...period, sinceMs: Math.max(period.sinceMs, Date.parse(createdAt)) };
      if (from.sinceMs >= from.untilMs) return [];
      const asked = { cluster, namespace, name, ...from, stepMs: STEP_MS };
      const { points } = await wholeHistory(service, asked);
      return [...unsynced(witness, points, from), ...unread(witness, points)];
    },
  );
  return found.flat().toSorted(byTime);
};

const byTime = ({ at: one = "" }: AuditRecord, { at: other = "" }: AuditRecord): number =>
  Date.parse(one) - Date.parse(other);

/** None of a removed cluster. */
const witnesses = async (service: Reads, filter: Filter): Promise<readonly Witness[]> => {
  try {
    return await oldestOf(service, filter);
  } catch (error) {
    if (filter.cluster === undefined || !isTidemarkError(error, "service.unknown")) throw error;
    return [];
  }
};

const oldestOf = async (service: Reads, filter: Filter): Promise<readonly Witness[]> => {
  const oldest = new Map<string, Witness>();
  for await (const { cluster, rows } of service.rows({ ...filter, fields: ["createdAt"] }))
    for (const row of rows) {
      const witness = witnessOf(cluster, row);
      const path = `${cluster}/${witness?.partition}`;
      const known = oldest.get(path);
      if (witness && (!known || Date.parse(witness.createdAt) < Date.parse(known.createdAt)))
        oldest.set(path, witness);
    }
  return [...oldest.values()];
};

const witnessOf = (
  cluster: string,
  { partition, namespace, name, createdAt }: Partial<AutoscalerRow>,
): Witness | undefined =>
  partition === undefined ||
  namespace === undefined ||
  name === undefined ||
  createdAt === undefined
    ? undefined
    : { cluster, partition, namespace, name, createdAt };

const gapOf = (
  { cluster, partition }: Witness,
  stretch: { readonly atMs: number; readonly endMs: number },
  said: Pick<AuditRecord, "what" | "reason" | "hole">,
): AuditRecord =>
  present({
    kind: "gap",
    at: new Date(stretch.atMs).toISOString(),
    until: new Date(stretch.endMs).toISOString(),
    cluster,
    name: partition,
    ...said,
  });

const unsynced = (
  witness: Witness,
  points: readonly HistoryPoint[],
  { sinceMs, untilMs }: Period,
): readonly AuditRecord[] => {
  const instants = [sinceMs, ...points.map(({ at }) => Date.parse(at)), untilMs];
  return instants.flatMap((atMs, index) => {
    const endMs = instants[index + 1] ?? atMs;
    return endMs - atMs <= GAP_MS
      ? []
      : gapOf(
          witness,
          { atMs, endMs },
          {
            what: "no sync",
            hole:
              "no sync of this partition is stored for this stretch: " +
              "nothing was decided, or the record has expired",
          },
        );
  });
};

const unread = (witness: Witness, points: readonly HistoryPoint[]): readonly AuditRecord[] => {
  const found: AuditRecord[] = [];
  for (let at = 0; at < points.length; at++) {
    const first = points[at];
    if (first?.current !== undefined) continue;
    while (points[at + 1] !== undefined && points[at + 1]?.current === undefined) at++;
    const end = points[at + 1] ?? points[at];
    found.push(
      gapOf(
        witness,
        { atMs: Date.parse(first?.at ?? ""), endMs: Date.parse(end?.at ?? "") },
        {
          what: "count not read",
          ...(first && { reason: first.reason }),
          hole:
            `the count of "${witness.namespace}/${witness.name}" could not be read, ` +
            "and nothing was scaled",
        },
      ),
    );
  }
  return found;
};
