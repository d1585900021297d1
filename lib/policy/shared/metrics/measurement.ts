import type { MetricAnswers, Pod } from "../../../model/observation.ts";
import type { Selector } from "../../../model/selector.ts";
import type { MetricIdentifier } from "../../../model/spec-hpa.ts";
import type { MetricStatus } from "../../../model/windows.ts";
import type { Readiness } from "./group-pods.ts";
import type { Tolerance } from "./tolerance.ts";

/** What a metric is measured with. */
export interface MetricContext {
  readonly namespace: string;
  readonly currentReplicas: number;
  readonly statusReplicas: number;
  readonly podSelector: Selector;
  /** The pods that the selector matches. */
  readonly pods: readonly Pod[];
  readonly answers: MetricAnswers;
  readonly tolerance: Tolerance;
  /** A value is divided by the current count before it is compared with marks. */
  readonly average?: boolean | undefined;
  readonly readiness: Readiness;
}

export type Measurement = Measured | Unmeasured;

export interface Measured {
  readonly kind: "measured";
  /** As messages print it. */
  readonly name: string;
  readonly proposal: number;
  /** As people read them: "62%", "150m". */
  readonly value: string;
  readonly target: string;
  readonly ratio: number;
  /** The amount that status shows, thousandths; for targets in percent the percentage beside it. */
  readonly usageMilli: bigint;
  readonly utilization?: number;
  /** A sum was wrapped on the way (outcome.ts), or taken for overflowed because it was negative (hpa.md 3.7). */
  readonly overflowed?: true;
  readonly status: MetricStatus;
  /** Of a metric with marks: its value is between them, widened by the tolerance. */
  readonly between?: boolean;
}

export interface Unmeasured {
  readonly kind: "failed";
  readonly name: string;
  /** Condition reason of its own event. */
  readonly reason: string;
  /** Text of its own event. */
  readonly message: string;
  /** The whole chain of the error, outermost first (hpa.md 2.5). */
  readonly chain: string;
}

/** A query that was not sent fails its metric. A missing question then holds the workload and never shrinks it. */
export const NOT_ASKED = "the metric was not asked for in this sync";

/** The identifier as status shows it. */
export const identifierStatus = ({ name, selector }: MetricIdentifier): object => (selector === undefined ? { name } : { name, selector });
