import type { ClusterClient } from "../cluster/port.ts";
import type { Decision } from "../model/decision.ts";
import type { ClusterRecord } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Windows } from "../model/windows.ts";
import type { DecideInput } from "../policy/decide.ts";
import type { Change } from "../policy/scale-events.ts";
import type { WriteReport, Written } from "../policy/write-report.ts";
import type { InsertHistory } from "../store/history/port.ts";
import type { Tables } from "../store/table/tables.ts";
import type { Timing } from "./timing.ts";
import type { WarmCache } from "./warm-cache.ts";

/** Everything that a sync waits for, and the clock: each can be held, failed or delayed by a test. */
export interface SyncPorts {
  readonly tables: Tables;
  readonly insert: InsertHistory;
  /** A client of the cluster, kept warm by whoever gives it. Throws when access cannot be had, which the sync reports as a cluster that cannot be observed. */
  readonly connect: (cluster: ClusterRecord) => Promise<ClusterClient>;
  readonly rules: Rules;
  readonly timing: Timing;
  readonly cache: WarmCache;
}

/** The pure part: the conversion of stored manifests, the decision, and what a scale leaves in the windows. Nothing here waits. */
export interface Rules {
  readonly specOf: (manifest: string) => SpecReading;
  readonly decide: (input: DecideInput) => Decision;
  /** After the write of a decision was answered. */
  readonly afterWrite: (report: WriteReport & { readonly eventId: string }) => Written;
  /** Windows with a scale that a later sync settled as applied or unknown. */
  readonly withScale: (windows: Windows, spec: AutoscalerSpec, change: Change) => Windows;
}

export type SpecReading = { readonly kind: "spec"; readonly spec: AutoscalerSpec } | { readonly kind: "invalid"; readonly message: string };
