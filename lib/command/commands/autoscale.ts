import { TidemarkError } from "../../rules/model/errors.ts";
import type { ApplyOptions, ClusterCheck } from "../../answers/service/service.ts";
import type { CheckedPoint } from "../../stack/cluster/check/report.ts";
import type { Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { usage } from "../usage-error.ts";
import { appliedText } from "./apply.ts";
import type { Applied } from "../../answers/views/autoscaler.ts";

export interface AutoscaleOptions {
  readonly min?: string;
  readonly max: string;
  readonly cpu?: string;
  readonly cpuPercent?: string;
  readonly memory?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly cluster?: string;
  readonly dryRun?: boolean;
  readonly output?: DocumentFormat;
}

const KINDS = [
  { words: /^(deploy|deployments?)(\.(v1\.)?apps)?$/i, apiVersion: "apps/v1", kind: "Deployment" },
  { words: /^(sts|statefulsets?)(\.(v1\.)?apps)?$/i, apiVersion: "apps/v1", kind: "StatefulSet" },
  { words: /^(rs|replicasets?)(\.(v1\.)?apps)?$/i, apiVersion: "apps/v1", kind: "ReplicaSet" },
  { words: /^(rc|replicationcontrollers?)$/i, apiVersion: "v1", kind: "ReplicationController" },
] as const;

/**
 * The HorizontalPodAutoscaler that `kubectl autoscale` makes of the same words: "deployment/web" or
 * "deployment web". Throws a usage error.
 */
export const autoscaleManifest = (words: readonly string[], options: AutoscaleOptions) => {
  const [type = "", target, ...more] = words.flatMap((word) => word.split("/"));
  const scaled = KINDS.find((kind) => kind.words.test(type));
  if (!scaled || !target || more.length > 0)
    throw usage(
      `Cannot autoscale "${words.join(" ")}": give deployment/NAME, statefulset/NAME, replicaset/NAME or replicationcontroller/NAME`,
    );
  const cpu =
    options.cpu ??
    (options.cpuPercent === undefined ? undefined : `${options.cpuPercent.replace(/%$/, "")}%`);
  const metrics = [
    ...(cpu === undefined ? [] : [resourceMetric("cpu", milliByDefault(cpu))]),
    ...(options.memory === undefined ? [] : [resourceMetric("memory", options.memory)]),
  ];
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: {
      name: options.name ?? target,
      ...(options.namespace !== undefined && { namespace: options.namespace }),
    },
    spec: {
      scaleTargetRef: { apiVersion: scaled.apiVersion, kind: scaled.kind, name: target },
      ...(options.min !== undefined && { minReplicas: wholeNumber("--min", options.min) }),
      maxReplicas: wholeNumber("--max", options.max),
      ...(metrics.length > 0 && { metrics }),
    },
  };
};

const wholeNumber = (option: string, value: string): number => {
  if (!/^\d{1,9}$/.test(value))
    throw usage(`Cannot read ${option} "${value}": give a whole number`);
  return Number(value);
};

/** As kubectl reads it, "500" is "500m". */
const milliByDefault = (cpu: string): string => (/^\d+$/.test(cpu) ? `${cpu}m` : cpu);

/**
 * "80%" is a share of the request, any other value an amount per pod. The manifest's own rules
 * check it.
 */
const resourceMetric = (name: "cpu" | "memory", value: string) => {
  const percent = /^(\d{1,9})%$/.exec(value)?.[1];
  const target =
    percent === undefined
      ? { type: "AverageValue", averageValue: value }
      : { type: "Utilization", averageUtilization: Number(percent) };
  return { type: "Resource", resource: { name, target } };
};

/**
 * Stores the manifest, unless one of its name is stored. Between that look and the write another
 * editor may store one, and then this one replaces it; the history keeps both.
 */
export const autoscale = async (
  { service }: Session,
  printer: Printer,
  manifest: ReturnType<typeof autoscaleManifest>,
  { cluster, dryRun = false, output }: AutoscaleOptions,
): Promise<void> => {
  const sources = [{ file: "autoscale", text: JSON.stringify(manifest) }];
  const options: ApplyOptions = {
    ...(cluster !== undefined && { cluster }),
    dryRun,
    validation: "strict",
  };
  const [planned] = await service.apply(sources, { ...options, dryRun: true });
  if (!planned) return;
  if (planned.outcome !== "created")
    throw new TidemarkError(
      "service.exists",
      `Cannot autoscale "${manifest.spec.scaleTargetRef.name}": "${planned.name}" in namespace "${planned.namespace}" of cluster "${planned.cluster}" exists already; change it with tidemark edit, or give another --name`,
      { name: planned.name },
    );
  await refuseWithoutWorkload(service, printer, planned, manifest.spec.scaleTargetRef);
  const [applied] = await service.apply(sources, options);
  if (!applied) return;
  const words = `${applied.outcome}${dryRun ? " (dry run)" : ""}`;
  await printer.print(
    output === undefined ? appliedText(applied, words) : documentText(manifest, output),
  );
};

/**
 * As kubectl does, it looks for the workload first. Where the cluster cannot be asked, or not by
 * this caller, a note says so: an autoscaler without a workload changes nothing.
 */
const refuseWithoutWorkload = async (
  service: Session["service"],
  printer: Printer,
  { cluster, namespace }: Pick<Applied, "cluster" | "namespace">,
  { apiVersion, kind, name }: ReturnType<typeof autoscaleManifest>["spec"]["scaleTargetRef"],
): Promise<void> => {
  const found = await lookFor(service, {
    name: cluster,
    workload: { apiVersion, kind, namespace, name },
  });
  if (found.result === "failed" && found.check === WORKLOAD_POINT)
    throw new TidemarkError(
      "service.unknown",
      `Cannot autoscale "${name}": ${kind} "${name}" is not in namespace "${namespace}" of cluster "${cluster}"; create it first, give another -n, or store the autoscaler before its workload: autoscale with --dry-run -o yaml | tidemark apply -f -`,
      { name },
    );
  if (found.result !== "passed")
    printer.note(
      `whether ${kind} "${name}" is in cluster "${cluster}" is not known: ${found.message}`,
    );
};

const lookFor = async (service: Session["service"], look: ClusterCheck): Promise<CheckedPoint> => {
  try {
    const { checks } = await service.checkCluster(look);
    const point =
      checks.find(({ check }) => check === WORKLOAD_POINT) ??
      checks.find(({ result }) => result === "failed");
    return (
      point ?? { check: WORKLOAD_POINT, result: "skipped", message: "the answer does not say so" }
    );
  } catch (error) {
    if (!(error instanceof TidemarkError)) throw error;
    return { check: WORKLOAD_POINT, result: "skipped", message: error.message };
  }
};

/** The point of lib/stack/cluster/check/check-resources.ts, which is not loaded for its name. */
const WORKLOAD_POINT = "workload";
