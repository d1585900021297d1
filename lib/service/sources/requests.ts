import type { ConnectionReport } from "../../cluster/check/report.ts";
import type { MetricSourceRecord, RegisteredSource } from "../../model/metric-source.ts";
import type { SourceQuestion } from "../../source-client/check-source.ts";
import type { SourceEdited, SourceView, UnreadableSource } from "../../views/source.ts";

/** A source as it is registered. Absent limits get their defaults. */
export type NewSource = Pick<MetricSourceRecord, "name"> &
  Omit<RegisteredSource, "timeoutSeconds" | "maxMetrics" | "private"> &
  Partial<Pick<RegisteredSource, "timeoutSeconds" | "maxMetrics" | "private">>;

export interface SourceQueries {
  /** The registered metric sources, in order of name. A record that cannot be read has a `problem` in place of its fields. */
  sources(): Promise<readonly (SourceView | UnreadableSource)[]>;
}

/** A source to ask now. */
export interface SourceCheck extends SourceQuestion {
  readonly name: string;
  /** Asked for this cluster; without it, a service is asked in each cluster that may ask the source. */
  readonly cluster?: string;
}

export interface SourceCommands {
  /** Asks a metric source from where the syncs ask it, and says what to do where it does not answer. It changes nothing. */
  checkSource(check: SourceCheck): Promise<ConnectionReport>;
  /** Registers a metric source, or replaces the one of its name. Throws `service.invalid` with every fault. */
  putSource(source: NewSource): Promise<SourceEdited>;
  /** Forgets a source: the metrics that name it are missing from then on. Throws `service.unknown`. */
  deleteSource(name: string): Promise<void>;
}
