import { TidemarkError } from "../../rules/model/errors.ts";
import { line } from "../../stack/report/printed.ts";
import type { Printer } from "../io.ts";
import { usage } from "../usage-error.ts";
import type { FiguresReport, PolicyReport, ReplayReport } from "./report.ts";

/** A figure that a review can bound. Shares are compared in points, the others in percent. */
const BOUNDED: Readonly<
  Record<string, { readonly read: (figures: FiguresReport) => number; readonly isShare: boolean }>
> = {
  cost: { read: ({ replicaHours }) => replicaHours, isShare: false },
  "above-target": { read: ({ aboveTarget = 0 }) => aboveTarget, isShare: true },
  unserved: { read: ({ unserved = 0 }) => unserved, isShare: true },
  scales: { read: ({ scales }) => scales, isShare: false },
  reversals: { read: ({ reversals }) => reversals, isShare: false },
};

/** What must not be exceeded. */
export interface Threshold {
  readonly words: string;
  readonly figure: keyof typeof BOUNDED;
  /** `by`: more than the first policy by so much; `at`: more than so much. */
  readonly kind: "by percent" | "by points" | "at";
  readonly value: number;
}

/** What can be written, and whether it is for shares only, for numbers only, or for both. */
const FORMS: Readonly<
  Record<
    string,
    { readonly kind: Threshold["kind"]; readonly units: number; readonly ofShares?: boolean }
  >
> = {
  "by %": { kind: "by percent", units: 100 },
  "by pt": { kind: "by points", units: 100, ofShares: true },
  "at %": { kind: "at", units: 100, ofShares: true },
  at: { kind: "at", units: 1, ofShares: false },
};

const FORM = /^([a-z-]+)\s*>\s*(\+?)(\d+(?:\.\d+)?)\s*(%|pt)?$/;

/** Reads `--fail-if`: "cost > +10%, above-target > +1pt". Throws a usage error with the part. */
export const readFailIf = (text: string): readonly Threshold[] =>
  text.split(",").map((part) => thresholdOf(part.trim()));

const thresholdOf = (words: string): Threshold => {
  const [, figure = "", plus, digits = "", unit] = FORM.exec(words) ?? [];
  const bounded = Object.hasOwn(BOUNDED, figure) ? BOUNDED[figure] : undefined;
  if (!bounded)
    throw usage(
      `Cannot read --fail-if "${words}": give one such as "cost > +10%" or "above-target > +1pt", of ${Object.keys(BOUNDED).join(", ")}`,
    );
  const { isShare } = bounded;
  const form = FORMS[`${plus === "" ? "at" : "by"} ${unit ?? ""}`.trim()];
  if (form && form.ofShares !== !isShare)
    return { words, figure, kind: form.kind, value: Number(digits) / form.units };
  throw usage(
    `Cannot read --fail-if "${words}": ${figure} is ${isShare ? "a share, such as 5%, or compared with the first policy, such as +1pt or +10%" : "a number, such as 100, or compared with the first policy, such as +10%"}`,
  );
};

/** The thresholds that policies exceed, in words. Of one policy alone, those without a +. */
const exceeded = (
  [first, ...others]: readonly PolicyReport[],
  thresholds: readonly Threshold[],
): readonly string[] => {
  if (!first) return [];
  const judged = others.length === 0 ? [first] : others;
  return judged.flatMap((policy) =>
    thresholds
      .filter((threshold) => isExceeded(threshold, policy, first))
      .map(({ words }) => `"${policy.name}" fails "${words}"`),
  );
};

const isExceeded = (
  { figure, kind, value }: Threshold,
  policy: FiguresReport,
  first: FiguresReport,
): boolean => {
  const read = BOUNDED[figure]?.read ?? (() => 0);
  const [own, base] = [read(policy), read(first)];
  if (kind === "at") return own > value;
  return kind === "by points" ? own - base > value : own > base * (1 + value);
};

/** Says what is exceeded and throws `cli.differs`, so that the exit code says it too. */
export const failIfExceeded = (
  printer: Pick<Printer, "report">,
  reports: readonly Pick<ReplayReport, "policies">[],
  thresholds: readonly Threshold[],
): void => {
  const failures = reports.flatMap(({ policies }) => exceeded(policies, thresholds));
  for (const failure of failures) printer.report(line(failure));
  if (failures.length > 0)
    throw new TidemarkError("cli.differs", failures.join("\n"), { failures });
};
