import { asksDays, type Diagnosis, examine, type Looks } from "../../../rules/doctor/examine.ts";
import { DAYS_BACK, type Patient } from "../../../rules/doctor/patient.ts";
import { withReadableSelectors } from "../../../rules/policy/shared/scale-sentence.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { storedSamples } from "../../../stack/projections/samples.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../../../stack/store/table/wait-for-all.ts";
import type { ExaminationView } from "../../views/doctor.ts";
import { loadSnapshot, snapshots } from "../autoscalers.ts";
import type { QueryContext } from "../context.ts";
import { patientOf } from "../views/patient.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import type { AutoscalerSnapshot } from "../partitions/partition-data.ts";
import type { AutoscalerCursor, DoctorQuery } from "../service.ts";

/** Autoscalers whose days are read together. */
const ASKING_TOGETHER = 1_000;
/**
 * Clusters of a part of the list. More would be a third group of clusters that are read together,
 * and take more requests one after the other.
 */
const PART_CLUSTERS = 130;

/**
 * Examines one autoscaler, or all in order of cluster, namespace and name: its manifest, its newest
 * evaluation, and the samples of seven days of those at which a rule asks for them. Advice that
 * needs the days is for one autoscaler or one namespace.
 */
export async function* doctor(
  context: QueryContext,
  { name, ...query }: DoctorQuery,
  after?: AutoscalerCursor,
): AsyncGenerator<ExaminationView> {
  if (name === undefined) {
    yield* all(context, query, after);
    return;
  }
  const located = await findAutoscaler(context, { name, ...query });
  const known = await loadSnapshot(context, located, undefined, "where needed");
  yield await whole(context, begun(known, "everything"));
}

async function* all(
  context: QueryContext,
  { onPart, ...filter }: Omit<DoctorQuery, "name">,
  after: AutoscalerCursor | undefined,
): AsyncGenerator<ExaminationView> {
  const looks = filter.namespace === undefined ? "problems" : "everything";
  // The days of all that need them are read at once, and not one after the other.
  let group: (ExaminationView | Asking)[] = [];
  let asking = 0;
  let clusters = 1;
  let last: AutoscalerCursor | undefined;
  for await (const known of snapshots(context, filter, after)) {
    const { cluster, namespace, name } = known.record;
    if (last && last.cluster !== cluster) clusters++;
    if (last && clusters > PART_CLUSTERS && onPart?.(last)) break;
    last = { cluster, namespace, name };
    const one = begun(known, looks);
    group.push(one);
    if ("patient" in one) asking++;
    if (asking < ASKING_TOGETHER) continue;
    yield* await mapWithLimit(group, REQUESTS_AT_ONCE, (each) => whole(context, each));
    [group, asking] = [[], 0];
  }
  yield* await mapWithLimit(group, REQUESTS_AT_ONCE, (each) => whole(context, each));
}

/** An examination that needs the last days. */
interface Asking {
  readonly record: AutoscalerSnapshot["record"];
  readonly patient: Patient;
}

const begun = (known: AutoscalerSnapshot, looks: Looks): ExaminationView | Asking => {
  const { record } = known;
  const patient = patientOf(known);
  if (!patient) return viewOf(record, false, [unread(known)]);
  return asksDays(patient, looks)
    ? { record, patient }
    : viewOf(record, patient.evaluation !== undefined, examine(patient));
};

const whole = async (
  { tables }: Pick<QueryContext, "tables">,
  one: ExaminationView | Asking,
): Promise<ExaminationView> => {
  if (!("patient" in one)) return one;
  const { record, patient } = one;
  const { nowMs, evaluation } = patient;
  const stretch = { sinceMs: nowMs - DAYS_BACK * DAY_MS, untilMs: nowMs };
  const days = await storedSamples(tables, record, stretch);
  return viewOf(record, evaluation !== undefined, examine({ ...patient, days }));
};

/** Names of metrics have selectors, which people write otherwise. */
const viewOf = (
  { cluster, namespace, name }: AutoscalerSnapshot["record"],
  evaluated: boolean,
  findings: readonly Diagnosis[],
): ExaminationView => ({
  ...{ cluster, namespace, name, evaluated },
  findings: findings.map((found) => ({
    ...found,
    evidence: withReadableSelectors(found.evidence),
  })),
});

const unread = ({ spec }: AutoscalerSnapshot): Diagnosis => ({
  rule: "manifest-unreadable",
  severity: "problem",
  evidence: spec.kind === "problem" ? spec.message : "",
  cost: "nothing is decided for it",
  change: { field: "the manifest", advice: "apply it again as this release reads it" },
});
