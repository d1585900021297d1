import { fileURLToPath } from "node:url";
import { admitOrThrow } from "../../rules/manifest/admit.ts";
import { MAX_TEXT_BYTES, newBudget } from "../../rules/manifest/budget.ts";
import { readManifests } from "../../rules/manifest/documents.ts";
import { newOtherKinds, type OtherKinds } from "../../rules/manifest/other-kinds.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { isObject, type Json } from "../../rules/model/json.ts";
import type { ScaleReading } from "../../rules/model/observation.ts";
import type { MetricQuery } from "../../rules/model/query.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import type { TargetRef } from "../../rules/model/spec-common.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { askDialect, questions } from "../../rules/policy/dialects.ts";
import {
  isWorkloadName,
  MAX_REPLICAS,
  type PodsBeside,
  WORKLOAD_KINDS,
} from "../cluster/definition.ts";
import { isOwnGroup } from "../cluster/discovery.ts";
import { DEMAND_METRIC } from "../cluster/metrics-objects.ts";
import { BESIDE_KINDS, type Deployment } from "../folder/identity.ts";
import { SHIPPED_TRACES, type ShippedTrace } from "../traces/trace.ts";
import { SCALED_OBJECT_KIND } from "../cluster/objects/custom-objects.ts";
import { hpaOfScaledObject } from "./keda-stand-in.ts";
import { replicasInFiles, replicasKey } from "./workload-files.ts";
import type { BesideWhat, RunOptions } from "./options.ts";
import { textOfFile } from "../host/text-file.ts";

/** A file of manifests and its text. */
export interface ManifestFile {
  readonly file: string;
  readonly text: string;
}

const example = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/${name}.yaml`, import.meta.url));

const DEMONSTRATION = ["daily", "steps", "crowd"];
/** What a stand-in follows where no manifest is given. */
const SHIPPED: Readonly<Record<BesideWhat, readonly string[]>> = {
  hpa: DEMONSTRATION,
  wpa: ["watermark"],
  keda: ["keda/orders"],
};

/**
 * The manifests to apply: from the command line, or the shipped ones of the demonstration, the
 * stand-in or the trace.
 */
export const manifestFiles = (
  paths: readonly string[],
  { trace, beside = "hpa" }: Pick<RunOptions, "trace" | "beside">,
): readonly ManifestFile[] => {
  const shipped = trace !== undefined && beside === "hpa" ? ["web"] : SHIPPED[beside];
  const files = paths.length > 0 ? paths : shipped.map(example);
  return files.map((file) => ({ file, text: textOfFile(file, MAX_TEXT_BYTES) }));
};

/** The workloads that the manifests scale, each once. Throws as applying them would. */
export const deploymentsOf = (
  files: readonly ManifestFile[],
  {
    validate: validation = "strict",
    beside,
  }: Partial<Pick<RunOptions, "validate" | "beside">> = {},
): readonly Deployment[] => {
  const deployments = new Map<string, Deployment>();
  const written = replicasInFiles(files);
  for (const { file, text } of files) {
    // Each file is applied as a step of its own.
    const budget = newBudget(
      undefined,
      "divide it into several files, each with a --manifest of its own",
    );
    for (const manifest of readManifests(text, file, {
      budget,
      otherKinds: otherKindsBeside(beside),
      repeatedKeys: validation === "strict" ? "refuse" : "keep",
    })) {
      const { metadata, spec } = admitOrThrow(
        { ...manifest, document: decidedForm(manifest) },
        { validation },
      );
      // The statistics compare the CPU of a workload with this.
      const percent = askDialect(spec, ({ explains }, own) => explains.cpuPercent(own));
      const trace = traceOf(metadata.annotations, manifest.where);
      const replicas =
        replicasOf(metadata.annotations, manifest.where) ??
        written.get(replicasKey(spec.target.kind, metadata.namespace, spec.target.name));
      const pods = podsBesideOf(metadata.annotations, manifest.where);
      refuseLongName(spec.target, manifest.where);
      const deployment = { namespace: metadata.namespace, name: spec.target.name };
      deployments.set(`${deployment.namespace}/${deployment.name}`, {
        ...deployment,
        ...kindOf(spec.target, manifest.where),
        ...(percent !== undefined && { targetCpuPercent: percent }),
        ...(trace !== undefined && { trace }),
        ...(replicas !== undefined && { replicas }),
        ...(pods && { beside: pods }),
        ...metricsOf(
          spec,
          metadata.namespace,
          deployments.get(`${deployment.namespace}/${deployment.name}`),
        ),
      });
    }
  }
  return [...deployments.values()];
};

/** A ScaledObject is passed over everywhere but beside KEDA. */
export const otherKindsBeside = (beside: BesideWhat | undefined): OtherKinds => {
  const others = newOtherKinds();
  return beside === "keda"
    ? { ...others, passOver: (document) => !isScaledObject(document) && others.passOver(document) }
    : others;
};

export const isScaledObject = (document: unknown): document is Json =>
  isObject(document) && document["kind"] === SCALED_OBJECT_KIND.kind;

/** A manifest as its controller decides it: of a ScaledObject the HPA that KEDA makes. */
const decidedForm = ({
  document,
  where,
}: {
  readonly document: unknown;
  readonly where: string;
}): unknown => {
  if (!isScaledObject(document)) return document;
  const made = hpaOfScaledObject(document);
  if ("hpa" in made) return made.hpa;
  throw new TidemarkError(
    "local.scaled-object",
    `Cannot simulate the ScaledObject of "${where}": ${made.why}`,
    { where },
  );
};

/** The name is the value of a label of the pods, too. */
const refuseLongName = ({ name }: TargetRef, where: string): void => {
  if (isWorkloadName(name)) return;
  throw new TidemarkError(
    "local.unknown-name",
    `Cannot simulate the target of "${where}": the simulated cluster has names of 63 letters, digits, "-" and "." at most, not "${name}"`,
    { where, name },
  );
};

/**
 * The kind of the workload; of a Deployment nothing. A kind of a group of its own, such as a
 * Rollout, is served because the manifest names it.
 */
const kindOf = (
  { apiVersion, kind }: TargetRef,
  where: string,
): Pick<Deployment, "kind" | "apiVersion"> => {
  if (isForeign(apiVersion)) return { kind, apiVersion };
  if (kind === "Deployment") return {};
  const known = WORKLOAD_KINDS.find((one) => one === kind);
  if (known) return { kind: known };
  throw new TidemarkError(
    "local.unknown-kind",
    `Cannot simulate the target of "${where}": its kind is ${kind}, and the simulated cluster has ${WORKLOAD_KINDS.join(", ")} and what has a group of its own, such as argoproj.io/v1alpha1; use --kubeconfig for a cluster that has this kind`,
    { where, kind },
  );
};

/**
 * True where the simulated cluster has nothing else of this group. Early manifests name a
 * Deployment of "extensions".
 */
const isForeign = (apiVersion: string): boolean => {
  const [group = "", version, more] = apiVersion.split("/");
  return (
    version !== undefined &&
    version !== "" &&
    more === undefined &&
    group !== "extensions" &&
    !isOwnGroup(group)
  );
};

const ANY_SCALE: ScaleReading = {
  kind: "read",
  specReplicas: 1,
  statusReplicas: 1,
  selector: "app=any",
  uid: "",
  resourceVersion: "",
};

/**
 * The metrics that a manifest asks of the custom and the external API, beside the metrics of
 * another manifest of the workload.
 */
const metricsOf = (
  spec: AutoscalerSpec,
  inside: string,
  known: Deployment | undefined,
): Pick<Deployment, "metrics"> => {
  const asked = questions(spec, inside, ANY_SCALE).metrics.flatMap((query) => {
    const { metric, metricSelector } = query as MetricQuery & Readonly<Record<string, unknown>>;
    return typeof metric === "string"
      ? [{ name: metric, selector: typeof metricSelector === "string" ? metricSelector : "" }]
      : [];
  });
  const metrics = [...(known?.metrics ?? []), ...asked].filter(
    ({ name }) => name !== DEMAND_METRIC,
  );
  return metrics.length > 0 ? { metrics } : {};
};

/**
 * Names the recorded workload that the simulated cluster plays on the target; elsewhere it means
 * nothing.
 */
const TRACE_ANNOTATION = "tidemark.dev/simulated-trace";

const traceOf = (
  annotations: Readonly<Record<string, string>>,
  where: string,
): ShippedTrace | undefined => {
  const name = annotations[TRACE_ANNOTATION];
  const trace = SHIPPED_TRACES.find((shipped) => shipped === name);
  if (name === undefined || trace !== undefined) return trace;
  throw new TidemarkError(
    "local.unknown-trace",
    `Cannot play "${name}" for "${where}": the annotation ${TRACE_ANNOTATION} must be one of ${SHIPPED_TRACES.join(", ")}`,
    { where, name },
  );
};

/** How many pods the simulated cluster begins with; elsewhere it means nothing. */
const REPLICAS_ANNOTATION = "tidemark.dev/simulated-replicas";

const replicasOf = (
  annotations: Readonly<Record<string, string>>,
  where: string,
): number | undefined => {
  const text = annotations[REPLICAS_ANNOTATION];
  if (text === undefined) return undefined;
  const replicas = Number(text);
  if (/^\d+$/.test(text) && replicas <= MAX_REPLICAS) return replicas;
  throw new TidemarkError(
    "local.unknown-replicas",
    `Cannot begin with "${text}" pods for "${where}": the annotation ${REPLICAS_ANNOTATION} must be a whole number, at most ${MAX_REPLICAS}`,
    { where, replicas: text },
  );
};

/** Other pods with the labels of the workload; elsewhere it means nothing. */
const PODS_ANNOTATION = "tidemark.dev/simulated-pods";
const PODS_BESIDE = new RegExp(
  `^(${BESIDE_KINDS.join("|")})=(\\d{1,3})(?:@(\\d{1,5})m-(\\d{1,5})m)?$`,
);

const podsBesideOf = (
  annotations: Readonly<Record<string, string>>,
  where: string,
): PodsBeside[] | undefined =>
  annotations[PODS_ANNOTATION]?.split(",").map((text) => {
    const [, name, count, from, to] = PODS_BESIDE.exec(text.trim()) ?? [];
    const kind = BESIDE_KINDS.find((known) => known === name);
    if (kind)
      return {
        kind,
        count: Number(count),
        ...(from !== undefined && {
          fromMs: Number(from) * MINUTE_MS,
          toMs: Number(to) * MINUTE_MS,
        }),
      };
    throw new TidemarkError(
      "local.unknown-pods",
      `Cannot simulate the pods "${text.trim()}" for "${where}": the annotation ${PODS_ANNOTATION} has ${BESIDE_KINDS.join(", ")} with a count of at most 999, such as foreign=4, surge=3@30m-60m`,
      { where, pods: text },
    );
  });
