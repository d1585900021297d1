import { TidemarkError } from "../../model/errors.ts";
import type { ClusterRecord } from "../../model/records.ts";
import type { Applied } from "../../views/autoscaler.ts";
import type { ServiceContext } from "../context.ts";
import { raiseForChanged } from "../edits/edit-condition.ts";
import { mustStay } from "../edits/removal.ts";
import { clustersNamed } from "../find-autoscaler.ts";
import type { ApplyOptions, ManifestSource } from "../service.ts";
import { inNamespace, type ManifestInput, readInputs } from "./manifest-inputs.ts";
import { planApply } from "./plan.ts";
import { storeAll } from "./store-planned.ts";

/**
 * Creates or updates autoscalers. All documents are checked before the first is stored, so that a refusal changes nothing. Then each document is one edit.
 * Objects of other kinds are passed over.
 * Throws `manifest.*` with a line for every problem, `service.unknown`, `service.invalid`, `service.interrupted`, `service.changed`, and `service.conflict`, also while the cluster is being removed.
 */
export const apply = async (context: ServiceContext, sources: readonly ManifestSource[], options: ApplyOptions): Promise<readonly Applied[]> => {
  const { validation = "strict", namespace: wanted, onlyIf } = options;
  const { inputs: read, passedOver } = readInputs(sources, validation);
  const inputs = read.map((input) => inNamespace(input, wanted));
  if (passedOver.length > 0) options.onPassedOver?.(passedOver);
  if (onlyIf !== undefined) mustBeOne(inputs);
  const cluster = await clusterFor(context, options.cluster);
  mustStay(cluster);
  const target = { cluster, validation, ...(onlyIf !== undefined && { onlyIf }) };
  try {
    const planned = await planApply(context, { ...target, wanted }, inputs);
    if (options.dryRun) return planned.map(({ applied }) => applied);
    return await storeAll(context, target, planned, options);
  } catch (error) {
    if (!options.dryRun) await raiseForChanged(context, error);
    throw error;
  }
};

const mustBeOne = ({ length }: readonly ManifestInput[]): void => {
  if (length !== 1) throw invalid(`Cannot apply under a condition: there are ${length} documents, and the condition is for one; apply each alone`);
};

const invalid = (message: string): TidemarkError => new TidemarkError("service.invalid", message, {});

/** The cluster with this name, or the only one. */
const clusterFor = async (context: ServiceContext, name: string | undefined): Promise<ClusterRecord> => {
  const [first, ...more] = await clustersNamed(context, name);
  if (!first) throw invalid("Cannot apply: no cluster exists; add one with tidemark cluster add");
  if (more.length > 0) throw invalid(`Cannot apply: there are ${more.length + 1} clusters, "${first.name}" is the first; choose one with --cluster`);
  return first;
};
