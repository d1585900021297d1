import { asksDays, type Diagnosis, examine, type Looks } from "../../../rules/doctor/examine.ts";
import { DAYS_BACK, type Patient } from "../../../rules/doctor/patient.ts";
import { asObject, present } from "../../../rules/model/json.ts";
import { withReadableSelectors } from "../../../rules/policy/shared/scale-sentence.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { storedSamples } from "../../../stack/projections/samples.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../../../stack/store/table/wait-for-all.ts";
import type { ExaminationView } from "../../views/doctor.ts";
import { loadSnapshot, snapshots } from "../autoscalers.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import type { AutoscalerSnapshot } from "../partitions/partition-data.ts";
import type { AutoscalerCursor, DoctorQuery } from "../service.ts";

/** Few of them need their days, which are read at once. */
const EXAMINED_TOGETHER = 2_000;

/**
 * Examines one autoscaler, or all in order of cluster, namespace and name: its manifest, its newest
 * evaluation, and the samples of seven days of those at which a rule asks for them. Advice that
 * needs the days is for one autoscaler or one namespace.
 */
export async function* doctor(
  context: QueryContext,
  { name, pageSize, room, ...filter }: DoctorQuery,
  after?: AutoscalerCursor,
): AsyncGenerator<ExaminationView> {
  if (name !== undefined) {
    const located = await findAutoscaler(context, { name, ...filter });
    const known = await loadSnapshot(context, located, undefined, "where needed");
    yield await examined(context, known, "everything");
    return;
  }
  const looks = filter.namespace === undefined ? "problems" : "everything";
  const all = snapshots(context, present({ ...filter, pageSize, room }), after);
  for await (const group of inGroups(all, EXAMINED_TOGETHER))
    yield* await mapWithLimit(group, REQUESTS_AT_ONCE, (one) => examined(context, one, looks));
}

async function* inGroups<Item>(
  items: AsyncIterable<Item>,
  size: number,
): AsyncGenerator<readonly Item[]> {
  let group: Item[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

const examined = async (
  { tables }: Pick<QueryContext, "tables">,
  known: AutoscalerSnapshot,
  looks: Looks,
): Promise<ExaminationView> => {
  const { record, evaluated, nowMs } = known;
  const { cluster, namespace, name } = record;
  const patient = patientOf(known);
  const days =
    patient && asksDays(patient, looks)
      ? await storedSamples(tables, record, {
          sinceMs: nowMs - DAYS_BACK * DAY_MS,
          untilMs: nowMs,
        })
      : undefined;
  const findings = patient ? examine({ ...patient, ...(days && { days }) }) : [unread(known)];
  return {
    ...{ cluster, namespace, name, evaluated: evaluated !== undefined },
    findings: findings.map(readable),
  };
};

/** Undefined where the manifest cannot be read. */
const patientOf = (known: AutoscalerSnapshot): Patient | undefined => {
  const { record, spec, cluster, evaluated, sync, nowMs } = known;
  if (spec.kind === "problem") return undefined;
  return present({
    createdMs: record.createdMs,
    spec: spec.spec,
    manifest: asObject(JSON.parse(record.manifest)),
    syncPeriodMs: cluster.syncPeriodMs,
    sync,
    evaluation: evaluated?.evaluation,
    nowMs,
  });
};

const unread = ({ spec }: AutoscalerSnapshot): Diagnosis => ({
  rule: "manifest-unreadable",
  severity: "problem",
  evidence: spec.kind === "problem" ? spec.message : "",
  cost: "nothing is decided for it",
  change: { field: "the manifest", advice: "apply it again as this release reads it" },
});

/** Names of metrics have selectors, which people write otherwise. */
const readable = (found: Diagnosis): Diagnosis => ({
  ...found,
  evidence: withReadableSelectors(found.evidence),
});
