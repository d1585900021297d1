import { CELL_MARKS, cellsOf, type Timeline } from "../../../stack/report/timeline/timeline.ts";
import { LANES } from "../../../stack/report/reasons/lanes.ts";
import { type Axis, LEFT, TimeLines, xOf } from "../charts/frame.tsx";
import { type Held, heldStretches, silenceOf, unbroken } from "../charts/stretches.ts";

const ROW = 18;
const BAR = 10;
const NARROWEST = 2;

type Lane = (typeof LANES)[number]["lane"];

/** What held or cut the count, a row for each kind that occurs in the stretch. */
export const Lanes = ({
  timeline,
  axis,
  stepMs,
}: {
  readonly timeline: Timeline;
  readonly axis: Axis;
  readonly stepMs: number;
}) => {
  const parts = unbroken(timeline.points, silenceOf(stepMs)).map((part) =>
    part.map(({ atMs, held }) => ({ atMs, kind: held })),
  );
  const held = Map.groupBy(heldStretches<Lane>(parts, stepMs), ({ kind }) => kind);
  const shown = LANES.filter(({ lane }) => held.has(lane));
  const x = xOf(axis);
  return (
    <div class="lanes">
      {shown.map(({ lane, words }) => (
        <div key={lane} class="lane">
          <span class="name">{words}</span>
          <svg width={axis.width} height={ROW} aria-hidden="true">
            <TimeLines axis={axis} height={ROW} />
            {(held.get(lane) ?? []).map((stretch) => (
              <HeldBar key={stretch.sinceMs} stretch={stretch} x={x} axis={axis} />
            ))}
          </svg>
        </div>
      ))}
    </div>
  );
};

const HeldBar = ({
  stretch: { kind, sinceMs, untilMs },
  x,
  axis,
}: {
  readonly stretch: Held<Lane>;
  readonly x: (ms: number) => number;
  readonly axis: Axis;
}) => {
  const from = Math.max(LEFT, x(sinceMs));
  const to = Math.max(from + NARROWEST, Math.min(x(axis.untilMs), x(untilMs)));
  return (
    <rect
      class={`held ${kind}`}
      x={from}
      y={(ROW - BAR) / 2}
      width={to - from}
      height={BAR}
      rx={2}
    />
  );
};

const MARKS_HEIGHT = 22;
const MARK_WIDTH = 11;

/**
 * Scales, edits and changes from outside on the axis. Of several in one place the one of the most
 * weight is drawn.
 */
export const Marks = ({ timeline, axis }: { readonly timeline: Timeline; readonly axis: Axis }) => {
  const x = xOf(axis);
  const left = x(axis.sinceMs);
  const width = x(axis.untilMs) - left;
  const cells = cellsOf(timeline, Math.max(1, Math.floor(width / MARK_WIDTH)));
  return (
    <svg class="marks" width={axis.width} height={MARKS_HEIGHT} aria-hidden="true">
      <TimeLines axis={axis} height={MARKS_HEIGHT} />
      {cells.map(({ mark: kind }, at) => {
        const known = CELL_MARKS.find((mark) => mark.kind === kind);
        return (
          known && (
            <text
              key={at}
              class={known.kind.replace(" ", "-")}
              x={left + ((at + 0.5) * width) / cells.length}
              y={15}
              text-anchor="middle"
            >
              {known.mark}
            </text>
          )
        );
      })}
    </svg>
  );
};

/** What the marks that are drawn mean. */
export const MarksLegend = ({ timeline: { marks } }: { readonly timeline: Timeline }) => (
  <ul class="legend">
    {CELL_MARKS.filter(({ kind }) => marks.some((mark) => mark.kind === kind)).map(
      ({ kind, mark, words }) => (
        <li key={kind}>
          <span class="letter">{mark}</span> {words}
        </li>
      ),
    )}
  </ul>
);
