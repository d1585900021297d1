import { isDeepStrictEqual } from "node:util";
import { dirname, resolve } from "node:path";
import {
  clusterDocument,
  grantText,
  wholeCluster,
  type WantedCluster,
  type WholeCluster,
} from "../../answers/service/clusters/cluster-documents.ts";
import type { LabelTest } from "../../answers/service/label-selector.ts";
import type {
  ClusterChange,
  NewCluster,
  NewGrant,
  Service,
} from "../../answers/service/service.ts";
import type { GrantView } from "../../answers/views/change.ts";
import type { ClusterView } from "../../answers/views/cluster.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import { text } from "../../stack/report/printed.ts";
import { mapWithLimit } from "../../stack/store/table/wait-for-all.ts";
import type { Printer, Session } from "../io.ts";
import { reported } from "../output/check-lines.ts";
import { type DocumentFormat, documentText, listDocument, yamlOf } from "../output/documents.ts";
import { readableKubeconfig } from "../options/cluster-options.ts";
import { forEachResource } from "../select/listed-autoscalers.ts";

type Outcome = "created" | "configured" | "unchanged";

/** What an apply does to one cluster. */
export interface ClusterPlan {
  readonly outcome: Outcome;
  readonly wanted: WantedCluster;
  readonly stored?: WholeCluster;
}

/** The file of a kubeconfig is named from the folder of its document. */
const located = (wanted: WantedCluster): WantedCluster => {
  const { connection, file, name } = wanted;
  if (connection.kind !== "kubeconfig") return wanted;
  const path = readableKubeconfig(name, resolve(dirname(file), connection.path));
  return { ...wanted, connection: { ...connection, path } };
};

/** What an apply of the documents would do to each cluster, in their order. */
export const clusterPlans = async (
  { service }: Session,
  documents: readonly WantedCluster[],
): Promise<readonly ClusterPlan[]> => {
  if (documents.length === 0) return [];
  const known = new Map(
    (await Array.fromAsync(service.clusters())).map((view) => [view.name, view]),
  );
  const grants = documents.some((each) => each.grants !== undefined)
    ? (await service.access()).grants
    : [];
  return documents.map(located).map((wanted) => {
    const view = known.get(wanted.name);
    if (view === undefined) return { outcome: "created", wanted };
    const stored = wholeCluster(view, wanted.grants && grants);
    const same = isDeepStrictEqual(clusterDocument(stored), clusterDocument(wanted));
    return { outcome: same ? "unchanged" : "configured", wanted, stored };
  });
};

/** Only the fields that differ: restating a connection forgets what was read over it. */
const changeOf = (wanted: WholeCluster, stored: WholeCluster): ClusterChange => ({
  name: wanted.name,
  ...Object.fromEntries(
    CHANGEABLE.filter((field) => !isDeepStrictEqual(wanted[field], stored[field])).map((field) => [
      field,
      wanted[field],
    ]),
  ),
});
const CHANGEABLE = [
  "connection",
  "syncPeriodMs",
  "partitions",
  "specsFromCluster",
  "recommenderHosts",
  "labels",
  "settings",
] as const satisfies readonly (keyof NewCluster)[];

const newOf = (wanted: WantedCluster): NewCluster => {
  const { grants: _apart, file: _here, ...cluster } = wanted;
  return cluster;
};

/**
 * Stores the clusters of documents, each by the same edit as `cluster add` and `cluster add
 * --replace`. One that is refused is reported at the end, and the others are stored all the same.
 */
export const applyClusters = async (
  session: Session,
  printer: Printer,
  documents: readonly WantedCluster[],
  options: { readonly dryRun?: boolean; readonly force?: true },
): Promise<void> => {
  const { dryRun = false, force } = options;
  const plans = await clusterPlans(session, documents);
  await forEachResource(plans, async (plan) => {
    const { outcome, wanted } = plan;
    await reported(printer, () => store(session.service, plan, present({ dryRun, force })));
    if (!dryRun) await storeGrants(session.service, wanted);
    await printer.print(text`Cluster "${wanted.name}" ${outcome}${dryRun ? " (dry run)" : ""}\n`);
  });
};

const store = async (
  service: Service,
  { outcome, wanted, stored }: ClusterPlan,
  how: Pick<NewCluster, "dryRun" | "force">,
): Promise<void> => {
  if (outcome === "unchanged") return;
  if (!stored) return void (await service.addCluster({ ...newOf(wanted), ...how }));
  const change = changeOf(wanted, stored);
  // Where only grants differ, the cluster itself is not edited.
  if (Object.keys(change).length > 1) await service.replaceCluster({ ...change, ...how });
};

/** Gives the cluster the grants of its document, and takes its others. */
const storeGrants = async (
  service: Service,
  { name: cluster, grants: wanted }: WantedCluster,
): Promise<void> => {
  if (!wanted) return;
  const stored = (await service.access()).grants.filter((grant) => grant.cluster === cluster);
  const has = (grants: readonly Omit<NewGrant, "cluster">[], one: Omit<NewGrant, "cluster">) =>
    grants.some((grant) => grantText(grant) === grantText(one));
  // New ones come first, so that nobody loses a right between two of these edits.
  for (const grant of wanted.filter((one) => !has(stored, one)))
    await service.grantAccess({ ...grant, cluster });
  for (const { id } of stored.filter((one) => !has(wanted, one))) await service.revokeAccess(id);
};

/**
 * A prune that would take more clusters than this, and more than half of those with the labels, is
 * more often a wrong folder than a wish.
 */
const FEW_PRUNED = 5;

/**
 * Removes the clusters with the labels that no document names. The service refuses a cluster that
 * has autoscalers.
 */
export const pruneClusters = async (
  { service }: Session,
  printer: Printer,
  documents: readonly WantedCluster[],
  { hasLabels, dryRun }: { readonly hasLabels: LabelTest; readonly dryRun: boolean },
): Promise<void> => {
  const owned = (await Array.fromAsync(service.clusters())).filter(({ labels = {} }) =>
    hasLabels(labels),
  );
  const named = new Set(documents.map(({ name }) => name));
  const left = owned.filter(({ name }) => !named.has(name));
  if (left.length > FEW_PRUNED && left.length > owned.length / 2)
    throw new TidemarkError(
      "cli.prune",
      `Cannot prune: ${left.length} of ${owned.length} clusters with these labels are in no document, which is more than ${FEW_PRUNED} and more than half; look at the folder, or remove them with tidemark cluster remove`,
      {},
    );
  await forEachResource(left, async ({ name }) => {
    if (!dryRun) await service.removeCluster(name);
    await printer.print(text`Cluster "${name}" pruned${dryRun ? " (dry run)" : ""}\n`);
  });
};

/** Removes the clusters of documents. */
export const removeClusters = async (
  { service }: Session,
  printer: Printer,
  documents: readonly WantedCluster[],
  { ignoreNotFound, dryRun }: { readonly ignoreNotFound?: true; readonly dryRun?: boolean },
): Promise<void> => {
  const known = new Set((await Array.fromAsync(service.clusters())).map(({ name }) => name));
  await forEachResource(documents, async ({ name }) => {
    if (ignoreNotFound && !known.has(name)) return;
    if (dryRun) await service.cluster(name);
    else await service.removeCluster(name);
    await printer.print(text`Cluster "${name}" deleted${dryRun ? " (dry run)" : ""}\n`);
  });
};

/** Clusters that are read at the same time. */
const AT_ONCE = 16;

/** Prints clusters as documents that `apply` finds unchanged. */
export const exportClusters = async (
  { service }: Session,
  printer: Printer,
  names: readonly string[],
  options: { readonly grants?: true; readonly output: DocumentFormat },
): Promise<void> => {
  const views: readonly ClusterView[] =
    names.length === 0
      ? await Array.fromAsync(service.clusters())
      : await mapWithLimit(names, AT_ONCE, (name) => service.cluster(name));
  const grants: readonly GrantView[] | undefined = options.grants
    ? (await service.access()).grants
    : undefined;
  const unseen = views.find(({ connection }) => connection === undefined);
  if (unseen)
    throw new TidemarkError(
      "cli.export",
      `Cannot export cluster "${unseen.name}": it has no connection, or you may not see it; name the clusters to export, or ask for a grant on all of it`,
      { name: unseen.name },
    );
  const documents = views.map((view) => clusterDocument(wholeCluster(view, grants)));
  await printer.print(
    options.output === "yaml"
      ? yamlOf(documents)
      : documentText(listDocument(documents), options.output),
  );
};
