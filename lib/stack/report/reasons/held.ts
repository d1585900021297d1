import type { ReasonTexts } from "./decided.ts";

/** What holds an autoscaler beside its rules. */
export const HOLDS: ReasonTexts = {
  FleetFrozen: [
    "The kill switch is on: every workload of every cluster keeps its count.",
    "`tidemark fleet describe` says who froze it and why; `tidemark fleet thaw` ends it.",
  ],
  ClusterPaused: ["A person paused the cluster.", "`tidemark cluster resume NAME`."],
  AutoscalerPaused: ["A person paused the autoscaler.", "`tidemark resume NAME`."],
  Paused: [
    "The manifest pauses the autoscaler (`pausedUntil`).",
    "Wait, or take the field out of the manifest.",
  ],
  PausedBySchedule: [
    "An entry of the schedule pauses the autoscaler.",
    "Wait for the end of its window, which `tidemark schedule NAME` shows, or suspend the entry.",
  ],
  UnknownCalendar: [
    "The schedule names a calendar that the fleet does not have, so the bounds of now are not known. The workload keeps its count, unless overrides set both bounds.",
    "`tidemark calendar put NAME -f FILE`, or correct the field that the message names. `tidemark override set NAME --pin N` sets a count meanwhile.",
  ],
  HeldByOverride: [
    "An override holds the autoscaler, or its namespace, its cluster or the fleet.",
    "The message names the override, who set it and why. Wait for its end, or `tidemark override clear ID`.",
  ],
  DryRun: [
    "The manifest asks for a dry run: the rules decide, and nothing is written.",
    "Take `dryRun` out of the manifest to scale.",
  ],
  EarlierCluster: [
    "It was applied to a cluster of this name that was removed since.",
    "Apply it again to scale the workload in this cluster, or delete it.",
  ],
  RivalController: [
    "An HPA, a ScaledObject, a WatermarkPodAutoscaler or a DatadogPodAutoscaler scales the same workload, or another controller writes the status of its object.",
    "`tidemark shadow NAME` compares the two; `tidemark takeover NAME` makes the switch.",
  ],
  RivalsUnknown: [
    "It could not be read whether another controller scales the workload.",
    "Give the rights to list HPAs, ScaledObjects, WatermarkPodAutoscalers and DatadogPodAutoscalers: `tidemark cluster check NAME`.",
  ],
  ChangedBeside: [
    "Of an event: the count was changed outside Tidemark while another controller scaled the workload, or may have. It counts as a scale.",
    "Nothing. `tidemark explain NAME` shows it beside the limits.",
  ],
  ChangedOutside: [
    "Of an event: a person or another program changed the count. Only native rules count it as a scale.",
    "Nothing where the change was wanted. The event names who made it, where the cluster says so: four changes within twenty minutes of each other make `status` unhealthy.",
  ],
  OtherStack: [
    "Another Tidemark was the last to scale the workload.",
    "Delete the autoscaler in one of the two stacks.",
  ],
  TargetShared: [
    "Another autoscaler of Tidemark has the same workload.",
    "Delete one of the two, or make one a dry run.",
  ],
  NameShared: [
    "The cluster has an object of another kind with this name in the namespace.",
    "Rename or delete one of them.",
  ],
  ScaleUnsettled: [
    "Whether the last scale took effect is not known yet.",
    "Wait for two syncs after the deadline in the message.",
  ],
  ScaleSettled: [
    "This sync settled a scale of an earlier sync, and the next one decides again.",
    "Wait for the next sync.",
  ],
  IntentTooLarge: [
    "The stored intent of the scale would be larger than its limit.",
    "Shorten the `apiVersion`, `kind` or `name` of the target.",
  ],
  TooManyScales: [
    "The sync had no time for this scale.",
    "Wait for the next sync; where it happens often, divide the partition or lengthen the period.",
  ],
  TenantOverShare: [
    "The namespace has used its share of the sync.",
    "The message says which share, and what to do; see [operations.md](operations.md#a-tenant-over-its-share).",
  ],
  RuleFailed: [
    "A rule of Tidemark failed for this autoscaler: a mistake in Tidemark.",
    "Report it with the error in the log of the sync. The others go on.",
  ],
  InvalidSpec: [
    "The stored manifest cannot be read by this version.",
    "The message names the field; apply a manifest that is right.",
  ],
  SpecUnread: [
    "The stored manifest was not read in this sync, because this environment meets many for the first time.",
    "Wait for the next sync. Where it lasts, the namespace has long formulas or very many autoscalers.",
  ],
  UnreadableAutoscaler: ["The stored autoscaler cannot be read.", "Apply its manifest again."],
  UnreadableWindows: [
    "A stored page of windows cannot be read, so earlier scales are unknown.",
    "`tidemark partition describe`, then `tidemark partition reset`.",
  ],
  UnreadableIntent: [
    "A stored open intent cannot be read, so a scale may still take effect.",
    "`tidemark partition describe`, then `tidemark partition reset`.",
  ],
  NoUsableValue: [
    "No metric of a WatermarkPodAutoscaler gives a value on which it may shrink, such as a 0 that is not tolerated.",
    "Allow zeros with `tolerateZero`, or wait for a value.",
  ],
  DatadogMonitorNotOK: [
    "The Datadog monitor of the autoscaler is not OK.",
    "Look at the monitor. It scales again when the monitor is OK.",
  ],
  FailedGetDatadogMonitor: [
    "The Datadog monitor of the autoscaler was not found or not read.",
    "Make the DatadogMonitor of its name, or turn `lifecycleControl` off.",
  ],
};

/** What holds an autoscaler whose object is in its cluster. */
export const OBJECTS: ReasonTexts = {
  ObjectGone: [
    "The cluster has no such object any more; the autoscaler ends soon.",
    "Nothing, if the deletion was meant. Otherwise apply the object again.",
  ],
  ObjectDeleting: [
    "The object is being deleted, and a finalizer keeps it. The autoscaler ends when the object is gone.",
    "Nothing, if the deletion was meant. Where the object stays, a program has not removed its entry from `metadata.finalizers`.",
  ],
  SpecUnknown: [
    "The object could not be read in this sync, so it may have been changed or deleted.",
    "Wait; where it lasts, `tidemark status` says why, and `tidemark cluster check NAME` looks. Where the CRD was deleted, apply it and the objects again.",
  ],
  SpecOutdated: [
    "The API server gave an older version of the object than before.",
    "Wait. It lasts where the cluster was restored: edit the object to raise its generation.",
  ],
  SpecNotStored: [
    "The object was changed, and the change is not stored yet.",
    "Wait for the next sync.",
  ],
  SpecWaits: [
    "An edit of the object waits to be stored, at most one a minute; until then the stored spec is followed within the bounds of both.",
    "Wait. A program that edits the object in every minute should do so less often.",
  ],
  SpecOverBudget: [
    "The namespace has used its bytes for changes of objects in this hour.",
    "Edit fewer objects, less often, or make them smaller.",
  ],
  SpecTooLarge: ["The object is larger than what can be stored.", "Shorten its labels or metrics."],
};

/** What stops an evaluation. The workload keeps its count. */
export const FAILURES: ReasonTexts = {
  FailedGetScale: [
    "The count of the workload could not be read.",
    "`tidemark cluster check NAME`: is the workload there, and may Tidemark read its scale?",
  ],
  FailedGetResourceMetric: [
    "CPU or memory could not be read.",
    "Is metrics-server there, and do the pods have requests? `kubectl top pod`.",
  ],
  FailedGetContainerResourceMetric: [
    "CPU or memory of the container could not be read.",
    "Is metrics-server there, and is the name of the container right?",
  ],
  FailedGetPodsMetric: [
    "The custom metric of the pods could not be read.",
    "`kubectl get --raw /apis/custom.metrics.k8s.io/v1beta2`: does an adapter serve it?",
  ],
  FailedGetObjectMetric: [
    "The custom metric of the object could not be read.",
    "`kubectl get --raw /apis/custom.metrics.k8s.io/v1beta2`: does an adapter serve it?",
  ],
  FailedGetExternalMetric: [
    "The external metric could not be read.",
    "`kubectl get --raw /apis/external.metrics.k8s.io/v1beta1`: does an adapter serve it, for these labels?",
  ],
  FailedGetPrometheusMetric: [
    "The query of a registered Prometheus gave no value.",
    "The message has the cause: the source, the query, or that it finds no series (docs/sources.md). `tidemark source describe NAME` shows its address and who may ask it.",
  ],
  FailedGetHttpMetric: [
    "A document of a registered HTTP server gave no number.",
    "The message has the cause: the source, its status, or the place in the document (docs/sources.md).",
  ],
  FailedGetSqsMetric: [
    "The messages of an Amazon SQS queue could not be counted.",
    "The message has the cause: the source, its role, or the queue (docs/sources.md).",
  ],
  FailedGetFormulaMetric: [
    "A formula gave no value.",
    "The message has the cause: the missing input, or the part of the expression without a finite result (docs/sources.md). `??` gives a value for a missing input.",
  ],
  Stale: [
    "The samples of a metric are older than `maxAgeSeconds`.",
    "Is the source (metrics-server, an adapter, a registered source) behind, or is the metric no longer written? A larger `maxAgeSeconds` accepts older values.",
  ],
  FailedComputeMetricsReplicas: [
    "No count could be calculated from the metrics.",
    "The message has the first failure.",
  ],
  InvalidMetrics: ["The spec has no metric.", "Add one."],
  MetricMissing: [
    "A metric of a PodAutoscaler is missing, and its `onMissing` holds the count.",
    "Mend the metric; `onMissing` says what else may happen.",
  ],
  UnusableValue: [
    "A value is no number that a count can be made of.",
    "Look at what the adapter serves.",
  ],
  ActivationUnknown: [
    "The workload is at rest, and whether it is in use is not known: a metric is missing.",
    "Mend the metric.",
  ],
  InvalidSelector: [
    "The selector of the workload is missing or cannot be read.",
    "Mend `status.selector` of its scale subresource.",
  ],
  SelectorRequired: [
    "The scale of the workload has no selector.",
    "Mend `status.selector` of its scale subresource.",
  ],
  SelectorTooLarge: ["The selector of the workload is longer than its limit.", "Shorten it."],
  AmbiguousSelector: [
    "Pods of this workload belong to another autoscaler as well.",
    "Give each workload a label of its own in its selector; with `pods: owned` a PodAutoscaler counts only the pods of its target.",
  ],
  FailedSpecCheck: [
    "The spec of a WatermarkPodAutoscaler is not valid.",
    "The message names the field.",
  ],
  FailedProcessWPA: [
    "The WatermarkPodAutoscaler could not be processed, mostly because its scale could not be read.",
    "`tidemark cluster check NAME`.",
  ],
  ClusterUnreachable: [
    "Nothing could be read from the cluster.",
    "`tidemark cluster describe NAME` has the words of the connection; `tidemark cluster check NAME` looks again.",
  ],
  RecommenderNotAllowed: [
    "The cluster does not allow the host of the recommender.",
    "`tidemark cluster add NAME --replace --recommender-host HOST`.",
  ],
  FailedUpdateScale: [
    "The API server refused the new count.",
    "The message has its words: a right, an admission webhook, a quota.",
  ],
};
