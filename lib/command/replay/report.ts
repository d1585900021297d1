import type { Figures } from "../../replay/figures.ts";
import type { Fidelity } from "../../replay/happened.ts";
import type { BesideFirst, Wins } from "../../replay/comparison.ts";
import { rfc3339 } from "../../answers/service/times.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";

/** What a replay answers, as a document and as the source of every text. */
export interface ReplayReport {
  /** What was replayed: the file of a load, or an autoscaler. */
  readonly of: string;
  readonly since: string;
  readonly until: string;
  readonly warmUpSeconds: number;
  readonly syncPeriodSeconds: number;
  readonly podStartSeconds: number;
  /** Load ÷ target counts by this for every policy. */
  readonly target: string;
  /** How near a replay of the unchanged policy comes to what happened. Absent for a load alone. */
  readonly fidelity?: Fidelity;
  readonly assumptions: readonly string[];
  readonly policies: readonly PolicyReport[];
}

export interface PolicyReport extends FiguresReport {
  readonly name: string;
  readonly kind: string;
  readonly days: readonly (FiguresReport & { readonly since: string })[];
  readonly wins?: Wins;
  /** The same if more was asked for where demand was cut off. Absent where it never was. */
  readonly raised?: readonly RaisedReport[];
}

export interface RaisedReport extends FiguresReport {
  readonly factor: number;
}

/** Figures with the names and units of a document. Shares are from 0 to 1. */
export interface FiguresReport {
  readonly replicaHours: number;
  readonly dollars?: number;
  readonly aboveTarget?: number;
  readonly loadP95?: number;
  readonly unserved?: number;
  readonly scales: number;
  readonly reversals: number;
  readonly largestStep: number;
  readonly reactionSeconds?: {
    readonly times: number;
    readonly median: number;
    readonly p95: number;
    readonly worst: number;
  };
  readonly minutesAtMax: number;
  readonly coverage: number;
  readonly cutOff?: number;
}

/** Enough digits to compare, few enough to read. */
const rounded = (value: number, digits = 4): number => Number(value.toFixed(digits));

/** A share of no time is left out, and a load on no pod has no number. */
const share = <Name extends string>(name: Name, value: number | undefined): object =>
  value === undefined || !Number.isFinite(value) ? {} : { [name]: rounded(value) };

export const figuresReport = (figures: Figures, price: number | undefined): FiguresReport => {
  const { replicaHours, reaction } = figures;
  return {
    replicaHours: rounded(replicaHours, 2),
    ...(price !== undefined && { dollars: rounded(replicaHours * price, 2) }),
    ...share("aboveTarget", figures.aboveTarget),
    ...share("loadP95", figures.loadP95),
    ...share("unserved", figures.unserved),
    scales: figures.scales,
    reversals: figures.reversals,
    largestStep: figures.largestStep,
    ...(reaction && {
      reactionSeconds: {
        times: reaction.times,
        median: rounded(reaction.medianMs / SECOND_MS, 0),
        p95: rounded(reaction.p95Ms / SECOND_MS, 0),
        worst: rounded(reaction.worstMs / SECOND_MS, 0),
      },
    }),
    minutesAtMax: rounded(figures.minutesAtMax, 1),
    coverage: rounded(figures.coverage),
    ...share("cutOff", figures.cutOff),
  };
};

export const policyReport = (
  { name, kind }: Pick<PolicyReport, "name" | "kind">,
  { figures, days, wins }: BesideFirst,
  price: number | undefined,
): PolicyReport => ({
  name,
  kind,
  ...figuresReport(figures, price),
  ...(wins && { wins }),
  days: days.map(({ fromMs, figures: ofDay }) => ({
    since: rfc3339(fromMs),
    ...figuresReport(ofDay, price),
  })),
});
