import { asList, asObject, type Json } from "../../model/json.ts";
import { admit } from "../admit.ts";
import { convertedForm } from "../native/convert.ts";
import { datadogPodAutoscaler } from "./datadog.ts";
import { accounted } from "./ledger.ts";
import { adapterDetails, cleanObject, type Detail, type ImportFinding } from "./finding.ts";
import {
  nativeScaledObject,
  notTexts,
  type TriggerSources,
  triggersOf,
} from "./keda/native-scaled-object.ts";
import type { Registered } from "./keda/registered.ts";
import { type SourcePlaces, sourcePlaces } from "./keda/places.ts";
import { unreadOfTrigger } from "./keda/unread-fields.ts";
import { type ImportedScaledObject, importScaledObject, staysWithKeda } from "./scaled-object.ts";
import { hasDowntime } from "./schedules/downtimes.ts";
import {
  type ClusterSchedules,
  clusterSchedules,
  unnamedSchedules,
  withEntries,
  withoutScheduleMetrics,
} from "./schedules/with-schedules.ts";

/** Autoscalers of a cluster as its API lists them, by kind. */
export interface ListedAutoscalers {
  readonly hpas: readonly Json[];
  readonly watermarks: readonly Json[];
  readonly scaledObjects: readonly Json[];
  /** DatadogPodAutoscalers. */
  readonly datadog?: readonly Json[];
  /**
   * Objects that set counts by time: CronFederatedHPAs, ScalingSchedules, SleepInfos, and what
   * kube-downscaler has annotated.
   */
  readonly timed?: readonly Json[];
  /**
   * Registered sources of the triggers of ScaledObjects. With them a ScaledObject becomes a
   * PodAutoscaler that needs KEDA no more.
   */
  readonly sources?: TriggerSources;
  /** The places of the triggers of all ScaledObjects, where these are only some of them. */
  readonly places?: SourcePlaces;
  /** The records of these sources, which are compared with what the triggers ask. */
  readonly registered?: Registered;
}

export interface Imported {
  /** Manifests that `apply` takes, in order of namespace and name. */
  readonly manifests: readonly Json[];
  readonly findings: readonly ImportFinding[];
}

interface Candidate extends ImportedScaledObject {
  readonly raw: Json;
}

const metadataOf = (raw: Json): Json => asObject(raw["metadata"]);

/**
 * The manifests of these autoscalers, and everything that they cannot say. An HPA that a
 * ScaledObject owns is a part of it. Each manifest is admitted as `apply` admits it, so that what
 * is printed can be applied; what is refused is a finding.
 */
export const importObjects = (
  { timed = [], datadog = [], sources, places, registered, ...listed }: ListedAutoscalers,
  as: "same" | "native",
): Imported => {
  const annotated = listed.hpas
    .filter(hasDowntime)
    .map((hpa) => withKind(hpa, "autoscaling/v2", "HorizontalPodAutoscaler"));
  const schedules = clusterSchedules([...timed, ...annotated]);
  const isOwned = (hpa: Json): boolean => ownersOf(hpa).some(({ kind }) => kind === "ScaledObject");
  const hpaOf = new Map<string, Json>(
    listed.hpas
      .filter(isOwned)
      .flatMap((hpa) =>
        ownersOf(hpa).map(
          ({ name }) => [`${String(metadataOf(hpa)["namespace"])}/${String(name)}`, hpa] as const,
        ),
      ),
  );
  const candidates = [
    ...listed.hpas
      .filter((hpa) => !isOwned(hpa))
      .map((raw) => ({
        raw: withKind(raw, "autoscaling/v2", "HorizontalPodAutoscaler"),
        details: [...ownedBy(raw), ...adapterDetails(raw)],
      })),
    ...listed.watermarks.map((raw) => ({
      raw: withKind(raw, "datadoghq.com/v1alpha1", "WatermarkPodAutoscaler"),
      details: ownedBy(raw),
    })),
  ].map(({ raw, details }) => {
    const read = withoutScheduleMetrics(cleanObject(raw), timed);
    const { entries, document, used } = read;
    return { raw, document, schedule: entries, used, details: [...details, ...read.details] };
  });
  const native = sources && {
    sources,
    places: places ?? placesOfAll(listed.scaledObjects, sources),
    ...(registered && { registered }),
  };
  const scaled = listed.scaledObjects.map(
    (raw): Candidate => ({
      raw: withKind(raw, "keda.sh/v1alpha1", "ScaledObject"),
      ...(native
        ? accounted(
            raw,
            (object) => nativeScaledObject(object, { ...native, unreadable: notTexts(raw) }),
            { unread: (path) => unreadOfTrigger(raw, path) },
          )
        : accounted(raw, (object) => importScaledObject(object, hpaOf.get(keyOf(raw))), {
            stays: staysWithKeda,
          })),
    }),
  );
  const ofDatadog = datadog.map(
    (raw): Candidate => ({ raw, ...accounted(raw, datadogPodAutoscaler) }),
  );
  const all = [...candidates, ...scaled, ...ofDatadog];
  const admitted = all
    .toSorted((one, other) => (keyOf(one.raw) < keyOf(other.raw) ? -1 : 1))
    .map((candidate) => admittedAs(scheduledBy(schedules, candidate), as));
  const documents = all
    .map(({ document }) => document)
    .filter((document) => document !== undefined);
  return {
    manifests: admitted
      .map(({ document }) => document)
      .filter((document) => document !== undefined),
    findings: [
      ...admitted.flatMap(({ raw, details }) =>
        details.map((detail) => ({ ...subjectOf(raw), ...detail })),
      ),
      ...[
        ...schedules.findings(documents),
        ...unnamedSchedules(
          timed,
          candidates.flatMap(({ used }) => used),
        ),
      ].map(({ raw, detail }) => ({ ...subjectOf(raw), ...detail })),
    ],
  };
};

/** The places that the triggers of these ScaledObjects ask, by the source named for them. */
export const placesOfAll = (
  scaledObjects: readonly Json[],
  sources: TriggerSources,
): SourcePlaces => sourcePlaces(scaledObjects.flatMap((raw) => triggersOf(raw, sources)));

/** The autoscaler with the entries of the timed objects that are for it. */
const scheduledBy = (schedules: ClusterSchedules, candidate: Candidate): Candidate => {
  const { raw, document, schedule = [], details } = candidate;
  if (document === undefined) return candidate;
  const { entries, details: more } = schedules.of(document);
  if (entries.length + more.length === 0) return candidate;
  const isLost = [...details, ...more].some(({ severity }) => severity === "lost");
  return {
    raw,
    ...(isLost ? {} : { document, schedule: [...schedule, ...entries] }),
    details: [...details, ...more],
  };
};

const keyOf = (raw: Json): string =>
  `${String(metadataOf(raw)["namespace"])}/${String(metadataOf(raw)["name"])}`;

/** Items of a list need not say their kind. */
const withKind = (raw: Json, apiVersion: string, kind: string): Json => ({
  apiVersion,
  kind,
  ...raw,
});

const ownersOf = (raw: Json): readonly Json[] =>
  asList(metadataOf(raw)["ownerReferences"]).map(asObject);

const ownedBy = (raw: Json): readonly Detail[] =>
  ownersOf(raw).map(({ kind, name }) => ({
    of: "metadata.ownerReferences",
    severity: "changed",
    message: `${String(kind)} "${String(name)}" has made it, and may make it again after it was deleted`,
  }));

const subjectOf = (raw: Json): Pick<ImportFinding, "kind" | "namespace" | "name"> => {
  const { namespace, name } = metadataOf(raw);
  return { kind: String(raw["kind"]), namespace: String(namespace), name: String(name) };
};

/** On doubt, no manifest: what `apply` would refuse, and what a PodAutoscaler cannot say. */
const admittedAs = (candidate: Candidate, as: "same" | "native"): Candidate => {
  const { raw, document, schedule = [], details } = candidate;
  if (document === undefined) return candidate;
  const admission = admit(document, { validation: "strict" });
  if (!admission.ok) {
    return refusedBy(admission.problems, { raw, details });
  }
  // A PodAutoscaler is printed as it was written, without the defaults of all of its fields.
  if (document["kind"] === "PodAutoscaler")
    return scheduled({
      raw,
      document: schedule.length > 0 ? withEntries(document, schedule) : document,
      details,
    });
  if (as === "same" && schedule.length === 0) return candidate;
  const conversion = convertedForm(admission);
  if (conversion.kind === "converted")
    return scheduled({ raw, document: withEntries(conversion.document, schedule), details });
  const detail: Detail = {
    of: conversion.rule,
    severity: "lost",
    message: `no PodAutoscaler decides so: ${conversion.message}; import it with --as same`,
  };
  return { raw, details: [...details, detail] };
};

/** The manifest with its schedule, as `apply` would take it. */
const scheduled = (candidate: Candidate): Candidate => {
  const admission = admit(candidate.document, { validation: "strict" });
  if (admission.ok) return candidate;
  return refusedBy(admission.problems, candidate);
};

const refusedBy = (
  problems: readonly { readonly field: string; readonly detail: string }[],
  { raw, details }: Candidate,
): Candidate => ({
  raw,
  details: [
    ...details,
    ...problems.map(
      ({ field, detail }): Detail => ({
        of: field,
        severity: "lost",
        message: `Tidemark refuses it: ${detail}`,
      }),
    ),
  ],
});
