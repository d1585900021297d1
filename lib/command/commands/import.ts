import type { KindPath } from "../../stack/cluster/discovery.ts";
import {
  type ClusterApiAnswer,
  type KubeconfigApi,
  type KubeconfigSource,
  type MeantCluster,
  meantBy,
  NO_CLUSTER_MEANT,
  openKubeconfig,
} from "../../stack/cluster/kubeconfig-api.ts";
import { DATADOG_KIND } from "../../rules/manifest/import/datadog.ts";
import type { ImportFinding } from "../../rules/manifest/import/finding.ts";
import {
  type Imported,
  importObjects,
  type ListedAutoscalers,
} from "../../rules/manifest/import/import-objects.ts";
import type { Registered } from "../../rules/manifest/import/keda/registered.ts";
import { isTimed } from "../../rules/manifest/import/schedules/with-schedules.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { NOT_FOUND } from "../../rules/model/http-status.ts";
import { isObject, type Json } from "../../rules/model/json.ts";
import { readSelector } from "../../answers/service/label-selector.ts";
import type { ManifestSource } from "../../answers/service/service.ts";
import type { Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText, listDocument, yamlOf } from "../output/documents.ts";
import { triggerSources } from "../select/trigger-sources.ts";
import { usage } from "../usage-error.ts";

export interface ImportOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly cluster?: string;
  readonly namespace?: string;
  readonly allNamespaces?: true;
  readonly selector?: string;
  readonly as: "same" | "native";
  readonly source?: readonly string[];
  readonly apply?: true;
  readonly output: DocumentFormat;
}

/** Checks the options before anything is opened. Throws usage errors. */
export const checkImport = ({
  kubeconfig,
  context,
  cluster,
  namespace,
  allNamespaces,
  apply,
  selector,
}: ImportOptions): void => {
  if (namespace !== undefined && allNamespaces)
    throw usage(`Cannot use -n "${namespace}" and -A together: give one of them`);
  if (kubeconfig === undefined && context !== undefined)
    throw usage("Cannot use --context alone: it needs --kubeconfig");
  if (kubeconfig === undefined && cluster === undefined)
    throw usage(
      "Cannot import: give --kubeconfig FILE, or --cluster with a cluster that is connected by one",
    );
  if (apply && cluster === undefined)
    throw usage(
      "Cannot use --apply alone: it needs --cluster, the cluster that the autoscalers are stored for",
    );
  if (selector !== undefined) readSelector(selector);
};

/** What is read: a kubeconfig, and the cluster of the stack that it must lead to. */
export interface ImportedCluster {
  readonly source: KubeconfigSource;
  readonly meant: MeantCluster;
}

/**
 * The kubeconfig of the options, or the cluster's, where it is connected by one. What is stored for
 * a cluster comes from that cluster.
 */
export const kubeconfigOf = async (
  { kubeconfig, context, cluster }: Pick<ImportOptions, "kubeconfig" | "context" | "cluster">,
  session: Session | undefined,
): Promise<ImportedCluster> => {
  const view =
    session && cluster !== undefined ? await session.service.cluster(cluster) : undefined;
  const meant = view ? meantBy(view) : NO_CLUSTER_MEANT;
  if (kubeconfig !== undefined)
    return { source: { path: kubeconfig, ...(context !== undefined && { context }) }, meant };
  const { connection } = view ?? {};
  if (connection?.kind === "kubeconfig")
    return {
      source: {
        path: connection.path,
        ...(connection.context !== undefined && { context: connection.context }),
      },
      meant,
    };
  throw new TidemarkError(
    "cli.kubeconfig",
    `Cannot read the objects of cluster "${String(cluster)}": it is not connected by a kubeconfig; give yours with --kubeconfig FILE`,
    { cluster },
  );
};

export const RIVAL_PATHS: Readonly<
  Record<"hpas" | "watermarks" | "scaledObjects" | "datadog" | "datadogBefore", KindPath>
> = {
  hpas: kindPath("autoscaling/v2", "horizontalpodautoscalers"),
  watermarks: kindPath("datadoghq.com/v1alpha1", "watermarkpodautoscalers"),
  scaledObjects: kindPath("keda.sh/v1alpha1", "scaledobjects"),
  datadog: kindPath("datadoghq.com/v1alpha2", "datadogpodautoscalers"),
  datadogBefore: kindPath("datadoghq.com/v1alpha1", "datadogpodautoscalers"),
};

/** The path of a kind. The core API has no group. */
export function kindPath(apiVersion: string, plural: string): KindPath {
  const [group = "", version] = apiVersion.split("/");
  return version === undefined
    ? { base: `/api/${group}`, plural, resource: plural }
    : { base: `/apis/${apiVersion}`, plural, resource: `${plural}.${group}` };
}

/**
 * Objects that set counts by time, and objects that kube-downscaler annotates. Few clusters have
 * some, and a person may read the autoscalers of a namespace without them.
 */
const TIMED_PATHS: readonly (KindPath & {
  readonly kind: string;
  readonly apiVersion: string;
  readonly isOfCluster?: true;
})[] = [
  timedPath("CronFederatedHPA", "autoscaling.karmada.io/v1alpha1", "cronfederatedhpas"),
  timedPath("ScalingSchedule", "zalando.org/v1", "scalingschedules"),
  {
    ...timedPath("ClusterScalingSchedule", "zalando.org/v1", "clusterscalingschedules"),
    isOfCluster: true,
  },
  timedPath("SleepInfo", "kube-green.com/v1alpha1", "sleepinfos"),
  timedPath("Deployment", "apps/v1", "deployments"),
  timedPath("StatefulSet", "apps/v1", "statefulsets"),
  { ...timedPath("Namespace", "v1", "namespaces"), isOfCluster: true },
];

function timedPath(kind: string, apiVersion: string, plural: string) {
  return { kind, apiVersion, ...kindPath(apiVersion, plural) };
}

/** What was read, and what could not be. */
interface ImportResult extends Imported {
  readonly unread: readonly string[];
  /** What could not be read of schedules, each with what follows from it. */
  readonly notes: readonly string[];
}

/**
 * Reads the autoscalers of a cluster as manifests. An API that is not installed has none; any other
 * failure is reported.
 */
export const readImport = async (
  { source, meant }: ImportedCluster,
  options: Pick<ImportOptions, "namespace" | "selector" | "as" | "source">,
  session?: Session,
): Promise<ImportResult> => {
  const sources = options.source && triggerSources(options.source);
  const registered = sources && session && (await registeredIn(session));
  const api = await openKubeconfig(source, meant);
  try {
    const kinds = ["hpas", "watermarks", "scaledObjects"] as const;
    const answers = await Promise.all(
      kinds.map((kind) => api.list(RIVAL_PATHS[kind], options.namespace)),
    );
    const [hpas = [], watermarks = [], scaledObjects = []] = answers.map(objectsOf);
    const ofDatadog = await readDatadog(api, options.namespace);
    const unread = [
      ...answers.flatMap((answer, at) => unreadOf(answer, RIVAL_PATHS[kinds[at] ?? "hpas"])),
      ...ofDatadog.unread,
    ];
    const { timed, notes } = await readTimed(api, options.namespace);
    const imported = importObjects(
      {
        ...selected(
          { hpas, watermarks, scaledObjects, datadog: ofDatadog.found },
          options.selector,
        ),
        timed,
        ...(sources && { sources }),
        ...(registered && { registered }),
      },
      options.as,
    );
    return { ...imported, unread, notes };
  } finally {
    api.close();
  }
};

/** The DatadogPodAutoscalers, in the newest of the two versions that the cluster serves. */
const readDatadog = async (
  api: KubeconfigApi,
  namespace: string | undefined,
): Promise<{ readonly found: readonly Json[]; readonly unread: readonly string[] }> => {
  const newest = await api.list(RIVAL_PATHS.datadog, namespace);
  const isServed = newest.kind === "done" || newest.failure.code !== NOT_FOUND;
  const path = isServed ? RIVAL_PATHS.datadog : RIVAL_PATHS.datadogBefore;
  const answer = isServed ? newest : await api.list(path, namespace);
  const apiVersion = path.base.replace("/apis/", "");
  return {
    found: objectsOf(answer).map((raw) => ({ apiVersion, kind: DATADOG_KIND, ...raw })),
    unread: unreadOf(answer, path),
  };
};

/** The sources of the stack. A record that cannot be read says so where it is asked. */
const registeredIn = async ({ service }: Session): Promise<Registered> => {
  const all = await service.sources();
  return {
    sources: new Map(all.flatMap((one) => ("problem" in one ? [] : [[one.name, one]]))),
    isAll: all.every((one) => !("problem" in one)),
  };
};

/**
 * The objects that set counts by time. One kind that may not be read keeps nothing else from being
 * imported.
 */
const readTimed = async (
  api: KubeconfigApi,
  namespace: string | undefined,
): Promise<{ readonly timed: readonly Json[]; readonly notes: readonly string[] }> => {
  const listed = async (path: (typeof TIMED_PATHS)[number]) => ({
    path,
    answer: await api.list(path, path.isOfCluster ? undefined : namespace),
  });
  const answers = await Promise.all(TIMED_PATHS.map(listed));
  const read = answers.flatMap(({ path: { kind, apiVersion }, answer }) =>
    objectsOf(answer).map((raw) => ({ apiVersion, kind, ...raw })),
  );
  const unread = answers.flatMap(({ path, answer }) => unreadOf(answer, path));
  return {
    timed: read.filter(isTimed),
    notes: unread.map((words) => `${words}; schedules that are there are not carried over`),
  };
};

const objectsOf = (answer: ClusterApiAnswer<readonly Json[]>): readonly Json[] =>
  answer.kind === "done" ? answer.value : [];

const unreadOf = (
  answer: Awaited<ReturnType<KubeconfigApi["list"]>>,
  { resource }: Pick<KindPath, "resource">,
): readonly string[] =>
  answer.kind === "done" || answer.failure.code === NOT_FOUND
    ? []
    : [`Cannot list ${resource}: ${answer.failure.message}`];

/** KEDA's HPAs are kept whatever labels they have: they belong to their ScaledObjects. */
const selected = (listed: ListedAutoscalers, selector: string | undefined): ListedAutoscalers => {
  if (selector === undefined) return listed;
  const test = readSelector(selector);
  const chosen = (raw: Json): boolean => {
    const { labels, ownerReferences } = isObject(raw["metadata"]) ? raw["metadata"] : {};
    const ofKeda =
      Array.isArray(ownerReferences) &&
      ownerReferences.some((owner) => isObject(owner) && owner["kind"] === "ScaledObject");
    return ofKeda || test(isObject(labels) ? (labels as Readonly<Record<string, string>>) : {});
  };
  return {
    hpas: listed.hpas.filter(chosen),
    watermarks: listed.watermarks.filter(chosen),
    scaledObjects: listed.scaledObjects.filter(chosen),
    datadog: (listed.datadog ?? []).filter(chosen),
  };
};

/**
 * Prints the manifests, and what they do not say. Throws `cli.incomplete` where something was lost
 * or not read, after everything was printed.
 */
export const printImport = async (
  printer: Printer,
  result: ImportResult,
  output: DocumentFormat,
): Promise<void> => {
  const { manifests, findings } = result;
  await printer.print(
    output === "yaml"
      ? yamlOf(manifests)
      : documentText({ ...listDocument(manifests), findings }, output),
  );
  tellFindings(printer, result);
  if (manifests.length === 0 && findings.length === 0 && result.unread.length === 0)
    printer.report("No autoscalers found");
};

export const tellFindings = (
  printer: Printer,
  { findings, notes }: Pick<ImportResult, "findings" | "notes">,
): void => {
  for (const finding of findings) printer.report(findingText(finding));
  for (const note of notes) printer.report(`note: ${note}`);
};

const WORDS: Readonly<Record<ImportFinding["severity"], string>> = {
  lost: "not carried over",
  changed: "note",
  "without effect": "note",
};

const findingText = ({ kind, namespace, name, of, severity, message }: ImportFinding): string =>
  `${WORDS[severity]}: ${kind} "${name}" in namespace "${namespace}"${of === undefined ? "" : `: ${of}`}: ${message}`;

/**
 * Objects with a loss have no manifest, so that no autoscaler decides without a part of its
 * metrics.
 */
export const refuseIncomplete = ({ findings, unread }: ImportResult): void => {
  const lost = new Set(
    findings
      .filter(({ severity }) => severity === "lost")
      .map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`),
  );
  const named = `${[...lost].slice(0, 5).join(", ")}${lost.size > 5 ? " and others" : ""}`;
  const faults = [
    ...unread,
    ...(lost.size === 0
      ? []
      : [`Cannot import ${lost.size} of the autoscalers: ${named}; the lines above say why`]),
  ];
  if (faults.length > 0) throw new TidemarkError("cli.incomplete", faults.join("\n"), { faults });
};

/** The manifests as the input of `apply`. */
export const importedSource = ({ manifests }: Imported): ManifestSource => ({
  file: "import",
  text: JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }),
});
