import { TidemarkError } from "../../model/errors.ts";
import type { ClusterRecord } from "../../model/records.ts";
import type { Desk } from "../context.ts";
import { mustStay } from "../edits/removal.ts";
import { clustersNamed } from "../find.ts";
import type { ApplyOptions, Source } from "../service.ts";
import type { Applied } from "../views/autoscaler.ts";
import { inNamespace, readGiven } from "./manifest-inputs.ts";
import { planAll } from "./plan.ts";
import { storeAll } from "./store-planned.ts";

/**
 * Creates or updates autoscalers. All documents are checked before any is stored, so that a refusal changes nothing; after that each is one edit of its own.
 * Throws `manifest.*` with a line for every problem, `service.unknown`, `service.invalid`, `service.conflict`, `service.interrupted`; the conflict also when the cluster is being removed.
 */
export const apply = async (desk: Desk, sources: readonly Source[], options: ApplyOptions): Promise<readonly Applied[]> => {
  const { validation = "strict", namespace: wanted } = options;
  const given = readGiven(sources, validation).map((one) => inNamespace(one, wanted));
  const cluster = await clusterFor(desk, options.cluster);
  mustStay(cluster);
  const planned = await planAll(desk, { cluster, validation, wanted }, given);
  if (options.dryRun) return planned.map(({ applied }) => applied);
  return storeAll(desk, { cluster, validation }, planned, options);
};

const invalid = (message: string): TidemarkError => new TidemarkError("service.invalid", message, {});

/** The cluster that was named, or the only one there is. */
const clusterFor = async (desk: Desk, name: string | undefined): Promise<ClusterRecord> => {
  const [first, ...more] = await clustersNamed(desk, name);
  if (!first) throw invalid("Cannot apply: there is no cluster yet; add one first");
  if (more.length > 0) throw invalid(`Cannot apply: there are ${more.length + 1} clusters, "${first.name}" first; say which with --cluster`);
  return first;
};
