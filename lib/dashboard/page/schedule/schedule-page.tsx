import { useMemo, useState } from "preact/hooks";
import type { OverrideView } from "../../../answers/views/holds.ts";
import type { SchedulesView, ScheduleView } from "../../../answers/views/schedule.ts";
import { placeText, setText } from "../../../answers/words/bounds-words.ts";
import { clockChangeText, missingCalendarText } from "../../../answers/words/schedule-words.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { Bar, Lane, SetLanes, touches } from "../autoscaler/schedule-lanes.tsx";
import { type Axis, TimeAxis } from "../charts/frame.tsx";
import { useWidth } from "../charts/use-width.ts";
import { useNow } from "../data/facts.ts";
import { useDocument } from "../data/use-document.ts";
import { useList } from "../data/use-list.ts";
import { filterRows, readSearch } from "../fleet/filter-rows.ts";
import type { FleetRow } from "../fleet/fleet-rows.ts";
import { useRows } from "../fleet/use-rows.ts";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { plural } from "../parts/plural.ts";
import { autoscalerLink, type Route } from "../route.ts";
import { useKeys } from "../use-keys.ts";
import { setParameters } from "../use-route.ts";

const DAYS = 14;
/** As many are asked for in one request, once a day and after an edit. */
const SHOWN_AT_ONCE = 12;
const OVERRIDES_MAX = 500;

/**
 * What is set for the next two weeks: overrides, and the schedules of the autoscalers that have
 * one, as lanes on one axis.
 */
export const SchedulePage = ({ route }: { readonly route: Route }) => {
  const { value: rows, failure, isPart } = useRows();
  const overrides = useList<OverrideView>("/v1/overrides", { expired: "no" }, OVERRIDES_MAX);
  const scheduled = useMemo(
    () =>
      rows
        ?.filter((row) => row.scheduled)
        .toSorted((one, other) => one.key.localeCompare(other.key)),
    [rows],
  );
  return (
    <>
      <PageHead
        title="Schedule"
        {...(scheduled &&
          scheduled.length > 0 && {
            count: `the next ${DAYS} days of ${plural(scheduled.length, "autoscaler")} with a schedule${isPart ? ", so far" : ""}`,
          })}
      />
      {failure && <FailureNotice failure={failure} />}
      {overrides.failure && <FailureNotice failure={overrides.failure} />}
      {scheduled ? (
        <Ahead
          route={route}
          scheduled={scheduled}
          overrides={overrides.value?.items ?? []}
          isPart={isPart || (!overrides.value && !overrides.failure)}
        />
      ) : (
        !failure && <Loading lines={8} />
      )}
    </>
  );
};

const Ahead = ({
  route,
  scheduled,
  overrides,
  isPart,
}: {
  readonly route: Route;
  readonly scheduled: readonly FleetRow[];
  readonly overrides: readonly OverrideView[];
  /** True while there are rows or overrides to come. */
  readonly isPart: boolean;
}) => {
  if (scheduled.length === 0 && overrides.length === 0)
    return isPart ? (
      <Loading lines={8} />
    ) : (
      <Notice title="Neither a schedule nor an override is set">
        <p>
          A manifest has a schedule in <code>spec.schedule</code>; an override is set with{" "}
          <code>tidemark override set</code>.
        </p>
      </Notice>
    );
  return <AheadLanes route={route} scheduled={scheduled} overrides={overrides} />;
};

const AheadLanes = ({
  route,
  scheduled,
  overrides,
}: Omit<Parameters<typeof Ahead>[0], "isPart">) => {
  const nowMs = useNow();
  const { element, width } = useWidth();
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const { q = "" } = route.parameters;
  const found = useMemo(() => filterRows(scheduled, readSearch(q)), [scheduled, q]);
  // From a midnight on, so that questions and answers stay the same for a day.
  const sinceMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const axis = { sinceMs, untilMs: sinceMs + DAYS * DAY_MS, width };
  return (
    <div class="charts schedule fleet-schedule" ref={element}>
      {width > 0 && (
        <>
          <TimeAxis axis={axis} />
          <Overrides overrides={overrides} axis={axis} nowMs={nowMs} />
          <Search route={route} of={scheduled.length} />
          {screensOf(found.slice(0, most)).map((rows) => (
            // A manifest that was edited has another schedule.
            <Screen
              key={rows.map(({ key, generation }) => `${key} ${generation}`).join()}
              rows={rows}
              axis={axis}
              nowMs={nowMs}
            />
          ))}
          {found.length === 0 && scheduled.length > 0 && (
            <p class="calm">No autoscaler with a schedule is like this.</p>
          )}
          <TimeAxis axis={axis} />
        </>
      )}
      {found.length > most && (
        <button type="button" class="button" onClick={() => setMost(most + SHOWN_AT_ONCE)}>
          Show {Math.min(SHOWN_AT_ONCE, found.length - most)} more of {found.length - most}
        </button>
      )}
    </div>
  );
};

const Search = ({ route, of }: { readonly route: Route; readonly of: number }) => {
  const { q = "" } = route.parameters;
  useKeys({ "/": () => document.querySelector<HTMLInputElement>("input[type=search]")?.focus() });
  if (of <= SHOWN_AT_ONCE && q === "") return null;
  return (
    <input
      type="search"
      aria-label="Search the schedules"
      placeholder="Search the schedules   ( / )"
      value={q}
      onInput={({ currentTarget }) => setParameters(route, { q: currentTarget.value })}
    />
  );
};

/** The overrides of the whole fleet, of clusters, namespaces and single autoscalers. */
const Overrides = ({
  overrides,
  axis,
  nowMs,
}: {
  readonly overrides: readonly OverrideView[];
  readonly axis: Axis;
  readonly nowMs: number;
}) => {
  const shown = overrides.filter(touches(axis));
  if (shown.length === 0) return null;
  const until = new Date(axis.untilMs).toISOString();
  return (
    <section aria-label="Overrides">
      <h2>Overrides</h2>
      <div class="set-lanes">
        {shown.map((override) => (
          <Lane
            key={override.id}
            axis={axis}
            nowMs={nowMs}
            clockChanges={[]}
            name={placeText(override)}
            words={`${setText(override)}, by ${override.by}: ${override.reason}`}
          >
            <Bar axis={axis} kind="override" from={override.from} until={override.until ?? until} />
          </Lane>
        ))}
      </div>
    </section>
  );
};

const screensOf = (rows: readonly FleetRow[]): readonly (readonly FleetRow[])[] =>
  Array.from({ length: Math.ceil(rows.length / SHOWN_AT_ONCE) }, (_, at) =>
    rows.slice(at * SHOWN_AT_ONCE, (at + 1) * SHOWN_AT_ONCE),
  );

/** The autoscalers that one request is for. */
const Screen = ({
  rows,
  axis,
  nowMs,
}: {
  readonly rows: readonly FleetRow[];
  readonly axis: Axis;
  readonly nowMs: number;
}) => {
  const names = rows.map(({ key }) => key).join();
  const at = new Date(axis.sinceMs).toISOString();
  const { value, failure } = useDocument<SchedulesView>(
    "/v1/schedules",
    { names, at, next: 1 },
    { once: true },
  );
  const isOf =
    (row: FleetRow) =>
    (one: Pick<ScheduleView, "cluster" | "namespace" | "name">): boolean =>
      one.cluster === row.cluster && one.namespace === row.namespace && one.name === row.name;
  return (
    <>
      {failure && <FailureNotice failure={failure} />}
      {rows.map((row) => (
        <Scheduled
          key={row.key}
          row={row}
          axis={axis}
          nowMs={nowMs}
          schedule={value?.schedules.find(isOf(row))}
          unread={value?.unread.find(isOf(row))?.message}
          isKnown={value !== undefined || failure !== undefined}
        />
      ))}
    </>
  );
};

/** One autoscaler: a lane for each entry of its schedule. Overrides stand above, each once. */
const Scheduled = ({
  row,
  axis,
  nowMs,
  schedule: value,
  unread,
  isKnown,
}: {
  readonly row: FleetRow;
  readonly axis: Axis;
  readonly nowMs: number;
  readonly schedule: ScheduleView | undefined;
  /** Why its manifest cannot be read. */
  readonly unread: string | undefined;
  /** False until there is an answer. */
  readonly isKnown: boolean;
}) => {
  const { cluster, namespace, name } = row;
  return (
    <section aria-label={name}>
      <h2>
        <a href={autoscalerLink(row, {}, "schedule")}>{name}</a>{" "}
        <small>
          {cluster} / {namespace}
        </small>
      </h2>
      {!isKnown && <Loading lines={1} />}
      {unread !== undefined && <p class="warn">{unread}</p>}
      {value && (
        <>
          {value.missingCalendars.map((missing) => (
            <p key={missing.name} class="warn">
              {missingCalendarText(missing.name)}
            </p>
          ))}
          <SetLanes schedule={{ ...value, overrides: [] }} axis={axis} nowMs={nowMs} />
          {value.clockChanges.map((change) => (
            <p key={`${change.at} ${change.timeZone}`} class="quiet">
              {clockChangeText(change)}
            </p>
          ))}
        </>
      )}
    </section>
  );
};
