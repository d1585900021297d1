import { firstInstantAt } from "../../lib/rules/model/time-zone.ts";
import { DAY_MINUTES, firstDayOf, scanned, SWEPT, SWEPT_DAYS } from "./wall-scan.ts";

/**
 * `npm run prove -- wall-times`: every wall time in steps of 15 minutes over 17 months of each
 * zone, against a look at every minute of them. `time-zone.test.ts` looks at the minutes around
 * changes of the clock only.
 */
const STEP_MINUTES = 15;

const sweep = (
  zone: string,
  from: number,
): { readonly equal: number; readonly other: number; readonly back: number } => {
  const counts = { equal: 0, other: 0, back: 0 };
  let before = Number.NEGATIVE_INFINITY;
  for (const [wall, minute] of scanned(zone, {
    from,
    days: SWEPT_DAYS,
    stepMinutes: STEP_MINUTES,
  })) {
    const day = Math.floor(wall / DAY_MINUTES);
    const instant = firstInstantAt(zone, day, wall - day * DAY_MINUTES);
    if (instant < before) counts.back++;
    if (instant === minute * 60_000) counts.equal++;
    else counts.other++;
    before = instant;
  }
  return counts;
};

let failed = 0;
for (const [zone, first] of SWEPT) {
  const { equal, other, back } = sweep(zone, firstDayOf(first));
  failed += other + back;
  process.stdout.write(
    `${zone.padEnd(22)}from ${first.join("-")}: ${equal} wall times equal the scan, ${other} differ, ${back} move back\n`,
  );
}
process.stdout.write(
  `${SWEPT.length} zones, ${SWEPT_DAYS} days each, zone data ${process.versions["tz"] ?? "unknown"}: ${failed === 0 ? "no difference" : `${failed} faults`}\n`,
);
process.exitCode = failed === 0 ? 0 : 1;
