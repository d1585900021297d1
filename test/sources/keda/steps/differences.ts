import { nativeOf, ownCounts } from "./scene.ts";
import type { Recorded } from "./recorded.ts";

/**
 * Each difference that a note of the conversion names: the field of the note, and the sentence of
 * docs/migrating.md.
 */
export const DIFFERENCES = [
  {
    field: "spec.advanced.horizontalPodAutoscalerConfig.behavior",
    words:
      "without a `behavior` the HPA of KEDA grows by another rate, grows on to the highest count that was wanted in the last 300 s, and shrinks up to a sync later",
  },
  {
    field: "spec.cooldownPeriod",
    words:
      "`idle.afterSeconds` counts from the first sync on, and anew after a metric was missing; KEDA stops at once a workload that was never in use, and wakes or rests it a sync earlier or later, because its scale loop and its HPA are two loops",
  },
  {
    field: "spec.fallback",
    words:
      "a fallback of KEDA begins after failed reads of two loops and may shrink, and its HPA takes the count of the fallback as wanted, for its windows, too",
  },
  {
    field: "spec.triggers[…] (cron)",
    words:
      "a schedule holds at once, where the HPA of KEDA goes to the count of cron by its rates, windows and tolerance",
  },
] as const;

/** The fields of these notes of a conversion. */
const namedBy = (notes: readonly string[]): ReadonlySet<string> =>
  new Set(
    notes.flatMap((note) => {
      const of = /^changed (.+?): /.exec(note)?.[1]?.replace(/\[\d+\]/, "[…]");
      return DIFFERENCES.filter(({ field }) => field === of).map(({ field }) => field);
    }),
  );

export interface Compared {
  readonly isSame: boolean;
  /** The first step at which the counts differ. */
  readonly first: number;
  readonly own: readonly number[];
  /** The fields of the notes of the conversion that name a difference. */
  readonly named: readonly string[];
}

/** The PodAutoscaler that `convert` makes of a recorded ScaledObject, beside KEDA's counts. */
export const compared = (recorded: Recorded): Compared => {
  const known = results.get(recorded) ?? comparedAnew(recorded);
  results.set(recorded, known);
  return known;
};

/** Each object is played once, whatever is asked of it. */
const results = new WeakMap<Recorded, Compared>();

const comparedAnew = (recorded: Recorded): Compared => {
  const { spec, notes } = nativeOf(recorded);
  if (spec === undefined) throw new Error(`It is refused: ${notes.join("; ")}`);
  const own = ownCounts(spec, recorded);
  const first = own.findIndex((count, step) => count !== recorded.keda[step]);
  return { isSame: first < 0, first, own, named: [...namedBy(notes)] };
};

/** How a row of the table begins: what was recorded of a family, without its outcome. */
export const recordedCells = (all: readonly Recorded[]): readonly string[] =>
  [...Map.groupBy(all, ({ family }) => family)].map(([family, of]) => {
    const steps = of.reduce((sum, { keda }) => sum + keda.length, 0);
    return `| ${family} | ${of.length} | ${steps.toLocaleString("en")} |`;
  });

/** A row for each family of objects, and a line for each difference: for docs/migrating.md. */
export const stepsTable = (all: readonly Recorded[]): string => {
  const rows = [...Map.groupBy(all, ({ family }) => family).values()].map((of) => {
    const outcomes = of.map(compared);
    const same = outcomes.filter(({ isSame }) => isSame).length;
    const named = new Set(outcomes.flatMap((one) => (one.isSame ? [] : one.named)));
    const fields = [...named].toSorted().map((field) => `\`${field}\``);
    return `${recordedCells(of).join("")} ${same} | ${fields.join(", ")} |`;
  });
  const lines = DIFFERENCES.map(({ field, words }) => `- \`${field}\`: ${words}.`);
  return [
    "| ScaledObjects with | objects | steps | the same count at each step | the note that names the difference of the others |",
    "|---|---|---|---|---|",
    ...rows,
    "",
    ...lines,
  ].join("\n");
};
