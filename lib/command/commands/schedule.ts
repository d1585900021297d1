import { specOf } from "../../rules/manifest/admit.ts";
import type { EffectiveBounds, SetByPeople } from "../../rules/model/override.ts";
import { readDay } from "../../rules/model/time-text.ts";
import type { Calendar } from "../../rules/model/schedule.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import { localText } from "../../rules/model/time-zone.ts";
import { type BoundsChange, changesAhead } from "../../rules/policy/bounds/outlook.ts";
import { effectiveBounds } from "../../rules/policy/bounds/effective-bounds.ts";
import { sourceText } from "../../rules/policy/bounds/within-bounds.ts";
import { instantText } from "../../stack/report/instant-text.ts";
import { lines, text } from "../../stack/report/printed.ts";
import { boundsView, overrideOf } from "../../answers/service/views/holds-view.ts";
import { rfc3339 } from "../../answers/service/times.ts";
import type { Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { aligned } from "../output/text-table.ts";
import { queryFor, type NamedAutoscalerOfKind } from "../select/selected-names.ts";
import { futureMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";

export interface ScheduleOptions {
  readonly next: string;
  readonly at?: string;
  readonly output: "table" | DocumentFormat;
}

const NEXT_MAX = 1_000;

/** Refuses a number that is none, before anything is opened. */
export const changesWanted = ({ next }: Pick<ScheduleOptions, "next">): number => {
  const most = Number(next);
  if (Number.isInteger(most) && most >= 1 && most <= NEXT_MAX) return most;
  throw usage(`Cannot use --next "${next}": give a whole number from 1 to ${NEXT_MAX}`);
};

/**
 * Prints the bounds of an autoscaler at an instant, and the changes that its schedule makes after
 * it.
 */
export const schedule = async (
  { service, nowMs }: Session,
  printer: Printer,
  resource: NamedAutoscalerOfKind,
  options: ScheduleOptions,
): Promise<void> => {
  const { cluster, namespace, name, manifest, overrides } = await service.get(
    await queryFor(service, resource),
  );
  const spec = specOf(JSON.stringify(manifest), `${namespace}/${name}`);
  const people: SetByPeople = {
    overrides: (overrides ?? []).map(overrideOf),
    calendars: await calendarsFor(service, spec, printer),
  };
  const fromMs =
    options.at === undefined ? nowMs : futureMs("--at", options.at, nowMs, printer.note);
  const now = effectiveBounds(spec, people, fromMs);
  const changes = changesAhead(spec, people, { fromMs, most: changesWanted(options) });
  if (options.output !== "table") {
    const view = {
      cluster,
      namespace,
      name,
      at: rfc3339(fromMs),
      ...boundsView(now),
      changes: changes.map(changeView),
    };
    await printer.print(documentText(view, options.output));
    return;
  }
  const { min, max, paused, holds } = now;
  const held = holds.map((hold) => `, held ${sourceText(hold)}`).join("");
  const head = text`At ${instantText(fromMs)}: minReplicas ${min.replicas} ${sourceText(min.source)}, maxReplicas ${max.replicas} ${sourceText(max.source)}${paused ? `, paused ${sourceText(paused)}` : ""}${held}`;
  const rows = changes.map(rowOf);
  const table =
    rows.length === 0
      ? [text`No change within 400 days`]
      : aligned([["LOCAL TIME", "TIME", "MIN", "MAX", "WHAT"], ...rows]);
  await printer.print(lines([head, ...table]));
};

/** The calendars that the schedule names. They are asked for only where it names one. */
const calendarsFor = async (
  service: Session["service"],
  { schedule: entries = [] }: Pick<AutoscalerSpec, "schedule">,
  { report }: Printer,
): Promise<readonly Calendar[]> => {
  const named = new Set(
    entries.flatMap(({ exceptFrom, suspended }) => (suspended ? [] : (exceptFrom ?? []))),
  );
  if (named.size === 0) return [];
  const calendars = (await service.calendars()).map((view) => ({
    name: view.name,
    days: view.dates.flatMap((date) => readDay(date) ?? []),
  }));
  for (const name of named)
    if (!calendars.some((calendar) => calendar.name === name))
      report(
        text`warning: there is no calendar "${name}", so that the autoscaler holds, and dates of the calendar are shown as ordinary days; run tidemark calendar put ${name} -f FILE`,
      );
  return calendars;
};

const rowOf = ({ atMs, timeZone, bounds, climb }: BoundsChange): readonly string[] => [
  `${localText(timeZone, atMs)} ${timeZone}`,
  instantText(atMs),
  String(bounds.min.replicas),
  String(bounds.max.replicas),
  climb
    ? `the floor climbs to ${climb.to} until ${localText(timeZone, climb.untilMs)}`
    : whatOf(bounds),
];

/** The entries and overrides behind the bounds; the manifest only where there is none. */
const whatOf = ({ min, max, paused, holds }: EffectiveBounds): string => {
  const named = [
    ...(min.source.kind !== "manifest" ? [`min ${sourceText(min.source)}`] : []),
    ...(max.source.kind !== "manifest" ? [`max ${sourceText(max.source)}`] : []),
    ...(paused ? [`paused ${sourceText(paused)}`] : []),
    ...holds.map((hold) => `held ${sourceText(hold)}`),
  ];
  return named.length === 0 ? sourceText({ kind: "manifest" }) : named.join(", ");
};

const changeView = ({ atMs, timeZone, bounds, climb }: BoundsChange) => ({
  at: rfc3339(atMs),
  local: localText(timeZone, atMs),
  timeZone,
  ...boundsView(bounds),
  ...(climb && { climbsTo: climb.to, climbsUntil: rfc3339(climb.untilMs) }),
});
