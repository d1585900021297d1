import type { MetricOutcome } from "../../../rules/model/decision.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import { askDialect } from "../../../rules/policy/dialects.ts";
import type { Evaluation } from "../../../rules/model/scale-records.ts";
import { turnsText } from "../../words/turns-words.ts";

type Measured = Extract<MetricOutcome, { readonly kind: "measured" }>;

export interface Measurements {
  readonly evaluation: Evaluation;
  readonly spec?: AutoscalerSpec;
}

/** What the rules say of the measured metrics. */
interface Rules {
  /** False for a workload at rest: only its activation levels decide. */
  readonly decides: boolean;
  readonly combination: "Max" | "Min" | "Mean";
  /** The metrics that have a say in the count; all of them where none has. */
  readonly voices: readonly Measured[];
  readonly combined: number;
  readonly besides: (metric: Measured) => string | undefined;
}

/** Which metric decides, and at which value it would ask for another count. */
export const leadingMetric = (seen: Measurements): readonly string[] => {
  const { from, metrics } = seen.evaluation;
  const measured = metrics.filter((metric) => metric.kind === "measured");
  if (from === undefined || measured.length === 0) return [];
  const rules = rulesOf(seen, measured, from);
  if (!rules.decides) return [];
  if (rules.combination === "Mean" && measured.length > 1) return [mean(rules)];
  const leading = leadingOf(rules);
  if (!leading) return [];
  const decides = `${leading.name} decides, because it asks for ${rules.combination === "Min" ? "least" : "most"}; it`;
  return [
    sentence(
      `${measured.length > 1 ? decides : leading.name} is at ${leading.turns?.value ?? leading.value}`,
      leading,
      from,
      rules.besides(leading),
    ),
  ];
};

/**
 * Without a manifest that can be read, the rules are taken to be as of most autoscalers: the
 * largest proposal wins.
 */
const rulesOf = ({ spec }: Measurements, measured: readonly Measured[], from: number): Rules => {
  if (!spec)
    return {
      decides: true,
      combination: "Max",
      voices: measured,
      combined: from,
      besides: () => undefined,
    };
  return askDialect(spec, ({ explains }, own) => {
    const voices = measured.filter((metric) => explains.takesPart(own, metric, from));
    const proposals = voices.map(({ proposal }) => proposal);
    return {
      decides: explains.rest(own, from) === undefined,
      combination: explains.combination(own),
      voices: voices.length > 0 ? voices : measured,
      combined: voices.length > 0 ? explains.combined(own, proposals) : from,
      besides: (metric) => explains.besides?.(own, metric),
    };
  });
};

const leadingOf = ({ voices, combination }: Rules): Measured | undefined =>
  voices.reduce<Measured | undefined>((first, metric) => {
    if (!first) return metric;
    return (
      combination === "Min"
        ? metric.proposal < first.proposal
        : metric.proposal > first.proposal
    )
      ? metric
      : first;
  }, undefined);

const mean = ({ voices, combined }: Rules): string => {
  const counts = voices.map(({ name, proposal }) => `${name} for ${proposal}`).join(", ");
  return `The mean decides: ${counts} make ${combined}, rounded up; another count needs another value of any of them`;
};

/** The pods that gave no usable sample, what was assumed for them, and the value with that. */
const assumedText = ({ assumed, pods }: Pick<Measured, "assumed" | "pods">): string | undefined => {
  if (!assumed) return undefined;
  const { unready = 0, missing = 0, matched = assumed.pods } = pods ?? {};
  const isUnready = assumed.as === "0" && unready > 0;
  const why = [
    ...(isUnready
      ? [`${unready} of ${matched} pods ${unready === 1 ? "is" : "are"} not ready`]
      : []),
    ...(missing > 0 ? [`${missing} of ${matched} pods gave no sample`] : []),
  ].join(" and ");
  return `${why}: counted as ${assumed.as}, the value is ${assumed.value}`;
};

const sentence = (
  measured: string,
  metric: Measured,
  from: number,
  more: string | undefined,
): string => {
  const { target, proposal } = metric;
  const asks = proposal === from ? "" : ` and asks for ${proposal}`;
  const assumed = assumedText(metric);
  const turns = turnsText(metric, from);
  const said = `${measured} against ${target}${asks}${turns === undefined ? "" : `: ${turns}`}`;
  return [said, assumed, more].filter((text) => text !== undefined).join("; ");
};
