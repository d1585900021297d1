import { specOf } from "../../rules/manifest/admit.ts";
import { kedaRules } from "../../rules/manifest/import/schedules/source-week.ts";
import { checkWeek, type WeekCheck } from "../../rules/manifest/import/schedules/check-week.ts";
import { ownBoundsOf } from "../../rules/manifest/import/schedules/timed.ts";
import { rulesFor } from "../../rules/manifest/import/schedules/with-schedules.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { asObject, type Json } from "../../rules/model/json.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";
import { lines, type Printed, text } from "../../stack/report/printed.ts";
import type { Printer } from "../io.ts";
import { aligned } from "../output/text-table.ts";

/** An autoscaler before and after its conversion. */
export interface CheckedPair {
  readonly source: Json;
  readonly result: Json;
}

/**
 * Replays what sets the bounds of each autoscaler over the week from the beginning of today (UTC),
 * by the rule of its own controller and by the schedule of the result, and prints the minutes that
 * differ. Throws `cli.differs`, which prints nothing, so that the exit code says it.
 */
export const checkConversion = async (
  printer: Printer,
  pairs: readonly CheckedPair[],
  { timed, nowMs }: { readonly timed: readonly Json[]; readonly nowMs: number },
): Promise<void> => {
  const fromMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const checked = pairs.map(({ source, result }) => {
    const rules = [
      ...kedaRules(source),
      ...rulesFor(source, result, { timed, among: pairs.length }),
    ];
    const { namespace = "default", name } = asObject(result["metadata"]);
    const where = `${String(namespace)}/${String(name)}`;
    const spec = specOf(JSON.stringify(result), where);
    return { where, rules, check: checkWeek({ rules, own: ownBoundsOf(result), spec }, fromMs) };
  });
  await printer.print(lines(checked.flatMap(reportLines)));
  const differing = checked.filter(
    ({ check: { minutes, counts } }) => minutes + counts.length > 0,
  ).length;
  if (differing > 0)
    throw new TidemarkError("cli.differs", `${differing} of ${pairs.length} schedules differ`, {});
};

const WEEK_MINUTES = 10_080;
const SHOWN = 40;

const reportLines = ({
  where,
  rules,
  check: { minutes, differences, counts },
}: {
  readonly where: string;
  readonly rules: readonly unknown[];
  readonly check: WeekCheck;
}): readonly Printed[] => {
  if (rules.length === 0) return [text`${where}: nothing sets its bounds by time`];
  return [...boundsLines(where, { minutes, differences }), ...countsLines(where, counts)];
};

const countsLines = (where: string, counts: WeekCheck["counts"]): readonly Printed[] => {
  if (counts.length === 0) return [];
  const rows = counts
    .slice(0, SHOWN)
    .map(({ at, timeZone, source, here }) => [`  ${at}`, timeZone, `${source}`, `${here}`]);
  const more = counts.length - rows.length;
  return [
    text`${where}: other counts in ${counts.length} minutes in which the source sets one`,
    ...aligned([["  AT", "CLOCK", "SOURCE", "HERE"], ...rows]),
    ...(more > 0 ? [text`  and ${more} further minutes`] : []),
  ];
};

const boundsLines = (
  where: string,
  { minutes, differences }: Pick<WeekCheck, "minutes" | "differences">,
): readonly Printed[] => {
  if (minutes === 0)
    return [text`${where}: the same bounds in all ${WEEK_MINUTES} minutes of the week`];
  const rows = differences
    .slice(0, SHOWN)
    .map(({ from, to, timeZone, source, here }) => [
      `  ${from}`,
      to,
      timeZone,
      `${source.least} to ${source.most}`,
      `${here.least} to ${here.most}`,
    ]);
  const more = differences.length - rows.length;
  return [
    text`${where}: other bounds in ${minutes} of ${WEEK_MINUTES} minutes of the week`,
    ...aligned([["  FROM", "TO", "CLOCK", "SOURCE", "HERE"], ...rows]),
    ...(more > 0 ? [text`  and ${more} further stretches`] : []),
  ];
};
