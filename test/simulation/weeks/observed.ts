import type { EventCount, EventView } from "../../../lib/answers/views/event.ts";
import type { ChangeView } from "../../../lib/answers/views/change.ts";
import type { Description, Explanation } from "../../../lib/answers/views/autoscaler.ts";
import type { HistoryView, SparklinesView } from "../../../lib/answers/views/over-time.ts";
import type { AutoscalerRow } from "../../../lib/answers/views/row.ts";
import type { WeekViolation } from "./shown.ts";
import type { Place } from "./places.ts";
import type { Question } from "./timetable.ts";
import type { WeekTruth } from "./truth.ts";

/** The rows of one partition as a reader has them after an answer, however it got them. */
export interface ShownPartition {
  readonly cluster: string;
  readonly name: string;
  readonly rows: readonly AutoscalerRow[];
  /** Absent where the answer said only that the reader has the rows. */
  readonly syncedMs?: number;
  readonly how: "shown" | "304" | "unchanged";
}

interface Observed {
  readonly reader: number;
  readonly askedMs: number;
  readonly answeredMs: number;
  /** By the clock of the reader, as the request has it. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What one reader was shown by one answer. */
export type Observation =
  | (Observed & {
      readonly kind: "rows";
      readonly question: Extract<Question, { kind: "rows" }>;
      readonly partitions: readonly ShownPartition[];
    })
  | (Observed & {
      readonly kind: "events";
      readonly question: Extract<Question, { kind: "events" }>;
      readonly events: readonly EventView[];
    })
  | (Observed & { readonly kind: "counts"; readonly counts: readonly EventCount[] })
  | (Observed & {
      readonly kind: "history";
      readonly path: string;
      readonly history: HistoryView;
    })
  | (Observed & { readonly kind: "changes"; readonly changes: readonly ChangeView[] })
  | (Observed & {
      readonly kind: "describe";
      readonly place: Place;
      /** Absent where the answer was that there is none. */
      readonly description?: Description;
    })
  | (Observed & {
      readonly kind: "explain";
      readonly place: Place;
      /** The instant that is asked for; absent for the present. */
      readonly atMs?: number;
      readonly explanation?: Explanation;
    })
  | (Observed & { readonly kind: "sparklines"; readonly lines: SparklinesView })
  | (Observed & { readonly kind: "series"; readonly series: readonly ShownSeries[] });

/** One series with its newest value. */
export interface ShownSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Who reads: two see everything, and a tenant sees namespaces of one cluster. */
export const TENANT = 2;
export const TENANT_CLUSTER = "north";

/** Says what is wrong with an observation. It may remember what was shown before. */
export type Judging = (truth: WeekTruth) => (seen: Observation) => WeekViolation | undefined;

export const timeOf = (ms: number): string => new Date(ms).toISOString();
