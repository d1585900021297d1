import type { ScheduleView } from "../../../answers/views/schedule.ts";
import {
  boundsChangeText,
  clockChangeText,
  leftOutText,
  missingCalendarText,
} from "../../../answers/words/schedule-words.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { useNow } from "../data/facts.ts";
import { useDocument } from "../data/use-document.ts";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { Sentence, Time } from "../parts/time.tsx";
import type { Place } from "../route.ts";
import { ScheduleLanes } from "./schedule-lanes.tsx";
import { Rows } from "./tabs.tsx";

const SCHEDULE = "/v1/autoscaler/schedule";
/** As many changes as the table shows. */
const CHANGES = 200;

/** The next two weeks: the bounds, each entry of the schedule, overrides and changes of the clock. */
export const ScheduleTab = ({ place }: { readonly place: Place }) => {
  const nowMs = useNow();
  // From a midnight on, so that the question and its answer stay the same for a day.
  const at = new Date(Math.floor(nowMs / DAY_MS) * DAY_MS).toISOString();
  const { value, failure } = useDocument<ScheduleView>(SCHEDULE, { ...place, at, next: CHANGES });
  if (!value) return failure ? <FailureNotice failure={failure} /> : <Loading lines={4} />;
  const { lanes, overrides, missingCalendars } = value;
  return (
    <>
      {failure && <FailureNotice failure={failure} />}
      {missingCalendars.map(({ name }) => (
        <Notice key={name} title={`The calendar ${name} is missing`} tone="bad">
          <p>{missingCalendarText(name)}</p>
        </Notice>
      ))}
      {lanes.length === 0 && overrides.length === 0 ? (
        <Notice title="Neither a schedule nor an override moves its bounds in the next two weeks" />
      ) : (
        <>
          <ScheduleLanes schedule={value} nowMs={nowMs} />
          <Rows heads={["When", "There", "Bounds", "What"]}>
            {rowsOf(value, nowMs).map(({ at: when, local, bounds, words }) => (
              <tr key={`${when} ${words}`}>
                <td>
                  <Time at={when} />
                </td>
                <td>{local}</td>
                <td class="number">{bounds}</td>
                <td>
                  <Sentence>{words}</Sentence>
                </td>
              </tr>
            ))}
          </Rows>
        </>
      )}
    </>
  );
};

interface Row {
  readonly at: string;
  /** The clock of the zone that the entry is of. */
  readonly local: string;
  readonly bounds: string;
  readonly words: string;
}

/** Everything ahead in order of time: changes of the bounds and the clock, windows left out. */
const rowsOf = (
  { changes, clockChanges, lanes, until }: ScheduleView,
  nowMs: number,
): readonly Row[] =>
  [
    ...changes.map((change) => ({
      at: change.at,
      local: `${change.local} ${change.timeZone}`,
      bounds: `${change.min.replicas} to ${change.max.replicas}`,
      words: boundsChangeText(change, (at) => at),
    })),
    ...clockChanges.map((change) => ({
      at: change.at,
      local: change.timeZone,
      bounds: "",
      words: clockChangeText(change),
    })),
    ...lanes.flatMap(({ name, timeZone, windows }) =>
      windows.flatMap(({ from, exceptedBy }) =>
        exceptedBy === undefined
          ? []
          : [{ at: from, local: timeZone, bounds: "", words: leftOutText(name, exceptedBy) }],
      ),
    ),
  ]
    .filter(({ at }) => Date.parse(at) > nowMs && at < until)
    .toSorted((one, other) => one.at.localeCompare(other.at));
