import type { MetricOutcome } from "../../rules/model/decision.ts";
import { ordinaryMilli } from "../../rules/model/quantity.ts";

/** A metric in the newest sync; `unmeasured` before the first evaluation. */
export type MetricReading =
  /** `average`: for a percentage, the amount per pod behind it. */
  | (Exclude<MetricOutcome, { readonly kind: "failed" }> & { readonly average?: string })
  | (Extract<MetricOutcome, { readonly kind: "failed" }> & { readonly target?: string })
  | {
      readonly kind: "unmeasured";
      readonly name: string;
      readonly type: string;
      readonly target: string;
    };

export const UNKNOWN = "<unknown>";

/** For example "62% (310m)": a percentage and the amount per pod behind it. */
export const valueText = ({
  value,
  average,
}: Extract<MetricReading, { readonly kind: "measured" }>): string =>
  average === undefined ? value : `${value} (${average})`;

/**
 * Which pods made a value: "7 pods match, 6 belong to the target, 4 counted, 3 not ready count as
 * 0, oldest sample 12 s". Undefined where no pods were looked at.
 */
export const podsText = ({
  pods,
  assumed,
}: Pick<Extract<MetricReading, { readonly kind: "measured" }>, "pods" | "assumed">):
  | string
  | undefined => {
  if (!pods) return undefined;
  const { matched, owned, counted, oldestSeconds } = pods;
  const as = assumed ? ` count as ${assumed.as}` : "";
  const some = (number: number | undefined, words: string): readonly string[] =>
    number === undefined ? [] : [`${number} ${words}`];
  return [
    `${matched} pod${matched === 1 ? " matches" : "s match"}`,
    ...some(owned, `belong${owned === 1 ? "s" : ""} to the target`),
    ...some(counted, "counted"),
    ...some(pods.unready, `not ready${assumed?.as === "0" ? as : ""}`),
    ...some(pods.missing, `without a sample${as}`),
    ...some(pods.stale, "of them with one that is too old"),
    ...some(pods.leftOut, "left out"),
    ...some(pods.finished, "ended"),
    ...some(pods.otherRevision, "of another revision, because a rollout is under way"),
    ...some(pods.unlisted, "with a sample and not there"),
    ...(oldestSeconds === undefined ? [] : [`oldest sample ${oldestSeconds} s`]),
  ].join(", ");
};

/** Current value and target of a metric: "62% (310m)/60%". */
export const metricText = (metric: MetricReading): string => {
  switch (metric.kind) {
    case "measured":
      return `${valueText(metric)}/${metric.target}`;
    case "unmeasured":
      return `${UNKNOWN}/${metric.target}`;
    case "failed":
      return metric.target === undefined ? UNKNOWN : `${UNKNOWN}/${metric.target}`;
  }
};

/**
 * The highest value ÷ target of texts such as "62% (310m)/60%", as a table shows it: a bar beside
 * the text can say nothing else than the text. Of two watermarks the high one counts. Undefined
 * where no text has both.
 */
export const loadOfTexts = (texts: readonly string[]): number | undefined => {
  const loads = texts.flatMap((text) => {
    const [value = "", target = ""] = text.split("/");
    const [measured, wanted] = [amountIn(value.split(" ")[0]), amountIn(target.split("..").at(-1))];
    return measured === undefined || !wanted ? [] : [measured / wanted];
  });
  return loads.length === 0 ? undefined : Math.max(...loads);
};

const amountIn = (text = ""): number | undefined => ordinaryMilli(text.replace(/%$/, ""));
