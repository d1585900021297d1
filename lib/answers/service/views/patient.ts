import { examineNewest } from "../../../rules/doctor/examine.ts";
import type { Patient } from "../../../rules/doctor/patient.ts";
import { asObject, present } from "../../../rules/model/json.ts";
import type { AutoscalerSnapshot } from "../partitions/partition-data.ts";

/** Undefined where the manifest cannot be read. */
export const patientOf = (known: AutoscalerSnapshot): Patient | undefined => {
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

/** How many things the doctor finds by the newest evaluation alone. */
export const findingsIn = (known: AutoscalerSnapshot): number => {
  const { sync: _ofPartition, ...newest } = known;
  const patient = patientOf(newest);
  return patient ? examineNewest(patient).length : 0;
};
