import type { ScaleReading } from "../model/observation.ts";
import type { Questions, RecommenderQuestion } from "../model/query.ts";
import type { SlowMetric } from "../model/scale-records.ts";
import type { AutoscalerSpec, DialectName } from "../model/spec.ts";
import type { Windows } from "../model/windows.ts";
import type { RegisteredQuery } from "../sources/source.ts";
import type { Dialect, KnownSoFar, RulesInput, SourceUse, SyncView } from "./dialect.ts";
import { HPA } from "./hpa/dialect.ts";
import { MULTI_THRESHOLD } from "./multi-threshold/dialect.ts";
import { NATIVE } from "./native/dialect.ts";
import { ORIGINAL } from "./original/dialect.ts";
import type { Change, OutsideChange, WriteReport, Written } from "./shared/recorded-scales.ts";
import type { MetricLevel } from "./shared/levels.ts";
import type { Moment, WindowStates } from "./shared/window-states.ts";
import { WATERMARK } from "./watermark/dialect.ts";

/** What a manifest says of the native rules. Other rooms reach a dialect through this file only. */
export { NATIVE_FIELDS, NATIVE_RULES } from "./native/decide.ts";

/** The specs that a dialect decides. */
type SpecOf<Name extends DialectName> = {
  [Each in Name]: AutoscalerSpec & { readonly dialect: Each };
}[Name];

/** The table of all dialects. */
const DIALECT_OF: { readonly [Name in DialectName]: Dialect<SpecOf<Name>> } = {
  hpa: HPA,
  original: ORIGINAL,
  "multi-threshold": MULTI_THRESHOLD,
  watermark: WATERMARK,
  native: NATIVE,
};

/**
 * Puts a question to the dialect of a spec, with the spec as that dialect knows it. Only this
 * function knows which dialect a spec has.
 */
export const askDialect = <Answer>(
  spec: AutoscalerSpec,
  ask: <Spec extends AutoscalerSpec>(dialect: Dialect<Spec>, spec: Spec) => Answer,
): Answer => askNamed(spec, ask);

const askNamed = <Name extends DialectName, Answer>(
  spec: SpecOf<Name>,
  ask: <Spec extends AutoscalerSpec>(dialect: Dialect<Spec>, spec: Spec) => Answer,
): Answer => ask(DIALECT_OF[spec.dialect], spec);

/** All dialects, without their specs. */
export const DIALECTS: readonly Pick<Dialect<never>, "name" | "timesBy">[] =
  Object.values(DIALECT_OF);

/**
 * The dialect's own consequences of an answered write. A write whose outcome is unknown counts as
 * applied: a limit counts what may have happened.
 */
export const afterWrite = ({ spec, ...report }: WriteReport): Written =>
  askDialect(spec, (dialect, own) => {
    const { decision } = report;
    const written = dialect.afterWrite(own, report);
    const ofRules = (to: number): Windows =>
      dialect.afterWrite(own, { ...report, decision: { ...decision, to } }).windows;
    return {
      ...written,
      windows: countedByRules(written.windows, decision.windows, decision, ofRules),
    };
  });

/**
 * The windows with a scale that was, or may have been, made; for a scale that a later sync settles.
 * Idempotent.
 */
export const withScale = (windows: Windows, spec: AutoscalerSpec, change: Change): Windows =>
  askDialect(spec, (dialect, own) =>
    countedByRules(dialect.withScale(own, windows, change), windows, change, (to) =>
      dialect.withScale(own, windows, { ...change, to }),
    ),
  );

/**
 * Windows with a scale that a bound of a schedule or an override moved: limits, cool-downs and
 * budgets count what the rules wanted of it, and nothing where they wanted none. So a floor never
 * delays a later rise, and a pin is never taken for a wish of the metrics.
 */
const countedByRules = (
  written: Windows,
  before: Windows,
  { from, ruled }: Pick<Change, "from" | "ruled">,
  ofRules: (to: number) => Windows,
): Windows => {
  if (ruled === undefined) return written;
  const counted = ruled === from ? before : ofRules(ruled);
  const { lastScaleMs: _forced, ...status } = written.status;
  const { lastScaleMs } = counted.status;
  return {
    memory: { ...written.memory, ...scalesOf(counted) },
    status: { ...status, ...(lastScaleMs !== undefined && { lastScaleMs }) },
  };
};

const scalesOf = ({ memory: { scaleUps, scaleDowns } }: Windows) => ({ scaleUps, scaleDowns });

/** The windows with a change of the count that Tidemark did not make. Idempotent. */
export const withOutsideChange = (
  windows: Windows,
  spec: AutoscalerSpec,
  change: OutsideChange,
): Windows => askDialect(spec, (dialect, own) => dialect.withOutsideChange(own, windows, change));

/**
 * What each window of an autoscaler holds at an instant, and until when, by the functions with
 * which its dialect decides.
 */
export const windowStates = (
  spec: AutoscalerSpec,
  windows: Windows,
  moment: Moment,
): WindowStates => askDialect(spec, (dialect, own) => dialect.windows(own, windows, moment));

/**
 * The queries of one autoscaler. A metric with an unreadable selector has no query, and fails when
 * it is decided. Without a readable selector of the target there is no query about its pods.
 * `namespace` is the autoscaler's.
 */
export const questions = (
  spec: AutoscalerSpec,
  namespace: string,
  scale: ScaleReading,
): Questions => askDialect(spec, (dialect, own) => dialect.questions(own, namespace, scale));

/**
 * What a cluster is asked for one autoscaler, as it is sent to the cluster
 * (lib/stack/cluster/cluster-client.ts).
 */
export const asksOf = (
  spec: AutoscalerSpec,
  namespace: string,
): { readonly questions: (scale: ScaleReading) => Questions; readonly asksMonitor: boolean } => ({
  questions: (scale) => questions(spec, namespace, scale),
  asksMonitor: askDialect(spec, (dialect, own) => dialect.asksMonitor(own)),
});

/**
 * What is due to be asked of registered sources outside the cluster. It depends on nothing that is
 * read from the cluster, so that it can be asked meanwhile.
 */
export const registeredQuestions = (
  spec: AutoscalerSpec,
  known: KnownSoFar,
): readonly RegisteredQuery[] =>
  askDialect(spec, (dialect, own) => dialect.registered?.(own, known) ?? NO_QUERIES);

/** The metrics of a spec in the order of its manifest, each with what its value is compared with. */
export const levelsOf = (spec: AutoscalerSpec): readonly MetricLevel[] =>
  askDialect(spec, (dialect, own) => dialect.levels(own));

/**
 * Whether a held count stays held while the observation stays the same, until a limit that the
 * decision names ends. Bounds that a schedule or a forecast sets change by the clock.
 */
export const repeatsHolds = (spec: AutoscalerSpec): boolean =>
  spec.schedule === undefined &&
  spec.advice === undefined &&
  askDialect(spec, (dialect, own) => dialect.repeatsHolds?.(own) ?? false);

/** False for rules that ask no registered source, which is most of them. */
export const mayAskSources = (spec: AutoscalerSpec): boolean =>
  askDialect(spec, (dialect) => dialect.registered !== undefined);

/** Every question to registered sources, due or not. */
export const sourceUses = (spec: AutoscalerSpec): readonly SourceUse[] =>
  askDialect(spec, (dialect, own) => dialect.asksSources?.(own) ?? []);

/** The metrics whose sources answered slowly. */
export const slowMetrics = (input: RulesInput<AutoscalerSpec>): readonly SlowMetric[] =>
  askDialect(input.spec, (dialect, spec) => dialect.slowMetrics?.({ ...input, spec }) ?? []);

const NO_QUERIES: readonly RegisteredQuery[] = [];

/** What must be asked of an external recommender, once the cluster was read. */
export const recommenderQuestion = (
  spec: AutoscalerSpec,
  seen: SyncView,
): RecommenderQuestion | undefined =>
  askDialect(spec, (dialect, own) => dialect.recommenderQuestion(own, seen));
