import { isDeepStrictEqual } from "node:util";
import { TidemarkError } from "../../model/errors.ts";
import { clusterName, WHOLE_CLUSTER } from "../../model/ids.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { DEFAULT_SETTINGS } from "../../model/settings.ts";
import { SPEC_KIND_NAMES } from "../../model/spec-kinds.ts";
import type { ServiceContext } from "../../service/context.ts";
import { recordChange } from "../../service/partitions/record-change.ts";
import { getCluster, lastVersion, putCluster } from "../../store/records/clusters.ts";
import type { Specs } from "./options.ts";

const SYNC_PERIOD_MS = 15_000;

/** What the run knows of its cluster. */
export interface RunCluster extends Pick<ClusterRecord, "name" | "connection"> {
  /** Where its autoscalers are kept; absent to leave it as it is. */
  readonly specs?: Specs;
}

/** Stores the cluster of the run with its present connection. Its other settings stay as they are. */
export const ensureCluster = async (context: ServiceContext, { name, connection, specs }: RunCluster): Promise<ClusterRecord> => {
  const known = await getCluster(context.tables, clusterName(name));
  const wanted = { connection, ...(specs !== undefined && { specsFromCluster: specs === "cluster" ? SPEC_KIND_NAMES : [] }) };
  if (known && isDeepStrictEqual({ ...known, ...wanted }, known)) return known;
  const record: ClusterRecord = known
    ? { ...known, ...wanted, version: known.version + 1 }
    : {
        name: clusterName(name),
        uid: context.newUid(),
        ...wanted,
        syncPeriodMs: SYNC_PERIOD_MS,
        partitions: [{ name: WHOLE_CLUSTER }],
        settings: DEFAULT_SETTINGS,
        version: (await lastVersion(context.tables, clusterName(name))) + 1,
      };
  const verb = known ? "replace" : "add";
  await recordChange(context, { scope: "cluster", name, version: record.version, verb, ...(known && { before: known }), after: record });
  const written = await putCluster(context.tables, record, known?.version);
  if (written.kind === "stored") return record;
  throw new TidemarkError("local.cluster-edited", `Cannot store cluster "${name}": another command is editing it; start again`, { name });
};
