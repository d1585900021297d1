import { timeFormat, utcFormat } from "d3-time-format";
import type { ComponentChildren } from "preact";
import { ageText } from "../../../stack/report/duration-text.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { useNow } from "../data/facts.ts";

const utc = utcFormat("%Y-%m-%d %H:%M:%S UTC");
const clock = timeFormat("%H:%M:%S");
const day = timeFormat("%a %d %b %H:%M:%S");
const whole = timeFormat("%Y-%m-%d %H:%M:%S");

/** A time of today by its clock, of this half year with its day, of another with its year. */
export const shownTime = (atMs: number, nowMs: number): string => {
  const at = new Date(atMs);
  const away = Math.abs(nowMs - atMs);
  if (away < DAY_MS && at.getDate() === new Date(nowMs).getDate()) return clock(at);
  return away < 180 * DAY_MS ? day(at) : whole(at);
};

/** A time in the zone of the browser, with UTC where a pointer rests on it. */
export const Time = ({
  at,
  children,
}: {
  readonly at: string | number;
  readonly children?: ComponentChildren;
}) => {
  const now = useNow();
  const ms = typeof at === "number" ? at : Date.parse(at);
  return (
    <time dateTime={new Date(ms).toISOString()} title={utc(new Date(ms))}>
      {children ?? shownTime(ms, now)}
    </time>
  );
};

/** "3m20s ago", of what has happened: an answer may be newer than the clock that the page has. */
export const Ago = ({ at }: { readonly at: string }) => {
  const now = useNow();
  return <Time at={at}>{ageText(now - Date.parse(at))} ago</Time>;
};

const UTC_INSTANT = /(\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/;

/** A sentence whose instants, which documents say in UTC, are shown as all times of the page. */
export const Sentence = ({ children }: { readonly children: string }) => (
  <>
    {children
      .split(UTC_INSTANT)
      .map((part, at) => (at % 2 === 1 ? <Time key={at} at={part} /> : part))}
  </>
);
