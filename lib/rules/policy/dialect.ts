import type { Decision } from "../model/decision.ts";
import type { AutoscalerName, Namespace } from "../model/ids.ts";
import type { Observation, ScaleRead, ScaleReading } from "../model/observation.ts";
import type { Questions, RecommenderQuestion } from "../model/query.ts";
import type { SlowMetric } from "../model/scale-records.ts";
import type { ControllerSettings } from "../model/spec-common.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Windows } from "../model/windows.ts";
import type { RegisteredQuery } from "../sources/source.ts";
import type { Explanations } from "./explanations.ts";
import type { MetricLevel } from "./shared/levels.ts";
import type { SeenBehind } from "./shared/metrics/details.ts";
import type {
  Change,
  DecisionTimes,
  OutsideChange,
  AnsweredWrite,
  Written,
} from "./shared/recorded-scales.ts";
import type { Moment, WindowStates } from "./shared/window-states.ts";

/**
 * Everything that one set of rules answers. Each dialect is a folder with its own `dialect.ts`, and
 * `dialects.ts` lists them all. The other rooms ask the dialect of a spec and never look at which
 * one it is.
 */
export interface Dialect<Spec extends AutoscalerSpec> {
  /** Name of the rules in sentences: "hpa", "the first design". */
  readonly name: string;
  /**
   * What the rules remember from one sync to the next. What they do not keep is dropped, so that
   * rules that come later do not take it for new.
   */
  readonly keeps: (spec: Spec) => Kept;
  /** Most reversals of the direction in a period, for rules that have such a budget. */
  readonly reversals?: (spec: Spec) => number;
  /**
   * True for the type of a condition by which these rules measure time. Other rules drop it,
   * because they would let it grow old.
   */
  readonly timesBy?: (conditionType: string) => boolean;

  /**
   * True where an observation that stays the same keeps a held count, until a stabilization window
   * or a breach ends that the decision names: so a replay need not decide again. Absent for rules
   * that measure time otherwise.
   */
  readonly repeatsHolds?: (spec: Spec) => boolean;

  /** The metrics in the order of the manifest, each with what its value is compared with. */
  readonly levels: (spec: Spec) => readonly MetricLevel[];

  /** What must be asked of the cluster before a decision. `namespace` is the autoscaler's own. */
  readonly questions: (spec: Spec, namespace: string, scale: ScaleReading) => Questions;
  /**
   * What must be asked of registered sources outside the cluster. Absent for rules that have none.
   */
  readonly registered?: (spec: Spec, known: KnownSoFar) => readonly RegisteredQuery[];
  /**
   * Every question to registered sources, due or not, in the order of the metrics. Absent for rules
   * that have none.
   */
  readonly asksSources?: (spec: Spec) => readonly SourceUse[];
  /**
   * The metrics whose sources answered slowly. Absent for rules that have no registered sources.
   */
  readonly slowMetrics?: (input: RulesInput<Spec>) => readonly SlowMetric[];
  /** True where a monitor with the name of the autoscaler may stop all scaling. */
  readonly asksMonitor: (spec: Spec) => boolean;
  /** What must be asked of an external recommender, once the cluster was read. */
  readonly recommenderQuestion: (spec: Spec, seen: SyncView) => RecommenderQuestion | undefined;

  /** One sync of the rules. Equal inputs give equal decisions. */
  readonly decide: (input: RulesInput<Spec>) => Decision;
  /** What the same sync sees behind its metrics, for people. */
  readonly behind: (input: RulesInput<Spec>) => SeenBehind;
  /**
   * What to store and to report after an answered write. A write whose outcome is unknown counts as
   * applied: a limit counts what may have happened.
   */
  readonly afterWrite: (spec: Spec, report: AnsweredWrite) => Written;
  /**
   * The windows with a scale that was, or may have been, made; for a scale that a later sync
   * settles. Idempotent.
   */
  readonly withScale: (spec: Spec, windows: Windows, change: Change) => Windows;
  /**
   * The windows with a change of the count that others made. Idempotent. The imitated controllers
   * count no change by a person, and so do their rules here.
   */
  readonly withOutsideChange: (spec: Spec, windows: Windows, change: OutsideChange) => Windows;
  /**
   * Why the write that met a conflict is not repeated, after the same workload was read again;
   * `undefined` where the same count is written under the version that was read. `from` is the
   * count that the decision was made on.
   */
  readonly whyNotAgain: (from: number, reading: ScaleRead) => string | undefined;

  /**
   * What each window holds at an instant, and until when: the functions of the steps, asked for
   * people.
   */
  readonly windows: (spec: Spec, windows: Windows, moment: Moment) => WindowStates;
  /** What the rules say of themselves, for sentences. */
  readonly explains: Explanations<Spec>;
}

/** A metric of a registered source. */
export interface SourceUse {
  readonly metric: string;
  /** Place in the list of the metrics. */
  readonly at: number;
  readonly query: RegisteredQuery;
  /** Absent: it is asked in each sync. */
  readonly everyMs?: number;
}

/** Everything that a decision depends on. */
export interface RulesInput<Spec extends AutoscalerSpec> extends DecisionTimes {
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly spec: Spec;
  readonly settings: ControllerSettings;
  readonly observation: Observation;
  readonly windows: Windows;
  /**
   * How far planned syncs are apart. Wakes put others between them, so that the last gap says
   * nothing about the next one. Absent where every sync is a planned one.
   */
  readonly syncPeriodMs?: number;
}

/** What one sync saw of the cluster. */
export interface SyncView {
  readonly namespace: string;
  readonly observation: Observation;
  readonly nowMs: number;
}

/** What is known before a sync asks: the answers that it may go on with. */
export interface KnownSoFar {
  readonly kept: Windows["memory"]["answers"];
  readonly nowMs: number;
}

export interface Kept {
  /** Recommendations, for stabilization windows. */
  readonly recommendations: boolean;
  /** Scales inside the periods of policies. */
  readonly scaleEvents: boolean;
  /**
   * That these rules put the workload to zero; they wake it only then, and leave alone a zero that
   * was written by hand.
   */
  readonly ownZero: boolean;
}
