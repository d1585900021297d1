import type { ComponentChildren } from "preact";
import { scaleLinear } from "d3-scale";
import { area, curveLinear } from "d3-shape";
import type { ScheduleLaneView, ScheduleView } from "../../../answers/views/schedule.ts";
import { setText } from "../../../answers/words/bounds-words.ts";
import { clockChangeText, entryText, leftOutText } from "../../../answers/words/schedule-words.ts";
import { type Axis, LEFT, TimeAxis, TimeLines, ValueLines, xOf } from "../charts/frame.tsx";
import { useWidth } from "../charts/use-width.ts";

const HEIGHT = 110;
const TOP = 8;
const BOTTOM = 6;
const ROW = 20;
const BAR = 12;
const NARROWEST = 2;
const TICKS = 3;

/**
 * The bounds of two weeks as a band, below it a lane for each entry of the schedule and each
 * override. The table beside it says the same in words.
 */
export const ScheduleLanes = ({
  schedule,
  nowMs,
}: {
  readonly schedule: ScheduleView;
  readonly nowMs: number;
}) => {
  const { element, width } = useWidth();
  const { at, until, clockChanges } = schedule;
  const axis = { sinceMs: Date.parse(at), untilMs: Date.parse(until), width };
  return (
    <div class="charts schedule" ref={element}>
      {width > 0 && (
        <>
          <Band schedule={schedule} axis={axis} nowMs={nowMs} />
          <SetLanes schedule={schedule} axis={axis} nowMs={nowMs} />
          <TimeAxis axis={axis} />
          {clockChanges.length > 0 && (
            <ul class="legend">
              {clockChanges.map((change) => (
                <li key={`${change.at} ${change.timeZone}`}>
                  <svg width="12" height="12" aria-hidden="true">
                    <path class="clock" d="M6 0V12" />
                  </svg>
                  {clockChangeText(change)}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </div>
  );
};

/** Whether a part of something is within the stretch of an axis. */
export const touches =
  ({ sinceMs, untilMs }: Axis) =>
  ({ from, until }: { readonly from: string; readonly until?: string }): boolean =>
    Date.parse(from) < untilMs && (until === undefined || Date.parse(until) > sinceMs);

/** A lane for each entry of the schedule, and for each override, that touches the stretch. */
export const SetLanes = ({
  schedule: { until, lanes, overrides, clockChanges },
  axis,
  nowMs,
}: {
  readonly schedule: ScheduleView;
  readonly axis: Axis;
  readonly nowMs: number;
}) => (
  <div class="set-lanes">
    {lanes
      .filter(({ windows }) => windows.some(touches(axis)))
      .map((lane) => (
        <Lane
          key={lane.name}
          axis={axis}
          nowMs={nowMs}
          clockChanges={clockChanges}
          name={lane.name}
          words={`${entryText(lane)}, ${lane.timeZone}`}
        >
          {lane.windows.map((window) => (
            <Window key={window.from} axis={axis} lane={lane} window={window} />
          ))}
        </Lane>
      ))}
    {overrides.filter(touches(axis)).map((override) => (
      <Lane
        key={override.id}
        axis={axis}
        nowMs={nowMs}
        clockChanges={clockChanges}
        name={`Override for the ${override.scope}`}
        words={`${setText(override)}, by ${override.by}: ${override.reason}`}
      >
        <Bar axis={axis} kind="override" from={override.from} until={override.until ?? until} />
      </Lane>
    ))}
  </div>
);

interface Dot {
  readonly atMs: number;
  readonly min: number;
  readonly max: number;
}

/** Where the bounds are at each change; a ramp leads to the next dot, all else is a step. */
const dotsOf = ({ at, until, min, max, changes }: ScheduleView): readonly Dot[] => {
  let last: Dot = { atMs: Date.parse(at), min: min.replicas, max: max.replicas };
  let ramps = isRamp({ min, max });
  const dots = [last];
  for (const change of changes.filter((each) => each.at < until)) {
    const atMs = Date.parse(change.at);
    if (!ramps) dots.push({ ...last, atMs });
    last = { atMs, min: change.min.replicas, max: change.max.replicas };
    dots.push(last);
    ramps = isRamp(change) || change.climbsTo !== undefined;
  }
  return [...dots, { ...last, atMs: Date.parse(until) }];
};

const isRamp = ({ min, max }: Pick<ScheduleView, "min" | "max">): boolean =>
  [min.by, max.by].some((by) => by.kind === "schedule" && by.ramp !== undefined);

const Band = ({
  schedule,
  axis,
  nowMs,
}: {
  readonly schedule: ScheduleView;
  readonly axis: Axis;
  readonly nowMs: number;
}) => {
  const dots = dotsOf(schedule);
  const top = Math.max(1, ...dots.map(({ max }) => max));
  const y = scaleLinear([0, top * 1.08], [HEIGHT - BOTTOM, TOP]);
  const x = xOf(axis);
  const band = area<Dot>()
    .x(({ atMs }) => x(atMs))
    .y0(({ min }) => y(min))
    .y1(({ max }) => y(max))
    .curve(curveLinear);
  return (
    <section class="chart">
      <header>
        <h2>Bounds of the next two weeks</h2>
      </header>
      <svg class="counts" width={axis.width} height={HEIGHT} aria-hidden="true">
        <path class="band" d={band([...dots]) ?? ""} />
        <TimeLines axis={axis} height={HEIGHT} />
        <ValueLines
          axis={axis}
          y={y}
          ticks={y.ticks(TICKS).map((value) => ({ value, words: String(value) }))}
        />
        <path class="floor" d={band.lineY0()([...dots]) ?? ""} />
        <path class="floor" d={band.lineY1()([...dots]) ?? ""} />
        <Verticals axis={axis} nowMs={nowMs} height={HEIGHT} clockChanges={schedule.clockChanges} />
      </svg>
    </section>
  );
};

/** Now, and where a clock changes. */
const Verticals = ({
  axis,
  nowMs,
  height,
  clockChanges,
}: {
  readonly axis: Axis;
  readonly nowMs: number;
  readonly height: number;
  readonly clockChanges: ScheduleView["clockChanges"];
}) => {
  const x = xOf(axis);
  return (
    <>
      {clockChanges.map(({ at, timeZone }) => (
        <path key={timeZone} class="clock" d={`M${x(Date.parse(at))} 0V${height}`} />
      ))}
      <path class="now" d={`M${x(nowMs)} 0V${height}`} />
    </>
  );
};

export const Lane = ({
  axis,
  nowMs,
  clockChanges,
  name,
  words,
  children,
}: {
  readonly axis: Axis;
  readonly nowMs: number;
  readonly clockChanges: ScheduleView["clockChanges"];
  readonly name: string;
  readonly words: string;
  readonly children: ComponentChildren;
}) => (
  <div class="lane">
    <span class="name" title={`${name} ${words}`}>
      <b>{name}</b> {words}
    </span>
    <svg width={axis.width} height={ROW} aria-hidden="true">
      <TimeLines axis={axis} height={ROW} />
      {children}
      <Verticals axis={axis} nowMs={nowMs} height={ROW} clockChanges={clockChanges} />
    </svg>
  </div>
);

/** A window with its ramps, or one that is left out. */
const Window = ({
  axis,
  lane: { name, suspended },
  window: { rampFrom, from, until, rampUntil, exceptedBy },
}: {
  readonly axis: Axis;
  readonly lane: ScheduleLaneView;
  readonly window: ScheduleLaneView["windows"][number];
}) => {
  if (exceptedBy !== undefined || suspended)
    return (
      <Bar
        axis={axis}
        kind="out"
        from={from}
        until={until}
        {...(exceptedBy !== undefined && { title: leftOutText(name, exceptedBy) })}
      />
    );
  return (
    <>
      {rampFrom !== undefined && <Bar axis={axis} kind="ramp" from={rampFrom} until={from} />}
      {rampUntil !== undefined && <Bar axis={axis} kind="ramp" from={until} until={rampUntil} />}
      <Bar axis={axis} kind="window" from={from} until={until} />
    </>
  );
};

export const Bar = ({
  axis,
  kind,
  from,
  until,
  title,
}: {
  readonly axis: Axis;
  readonly kind: "window" | "ramp" | "out" | "override";
  readonly from: string;
  readonly until: string;
  readonly title?: string;
}) => {
  const x = xOf(axis);
  if (!touches(axis)({ from, until })) return null;
  const left = Math.max(LEFT, x(Date.parse(from)));
  const right = Math.min(x(axis.untilMs), x(Date.parse(until)));
  const width = Math.max(NARROWEST, right - left);
  return (
    <rect class={kind} x={left} y={(ROW - BAR) / 2} width={width} height={BAR} rx={2}>
      {title !== undefined && <title>{title}</title>}
    </rect>
  );
};
