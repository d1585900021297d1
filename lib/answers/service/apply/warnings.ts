import { placeOfField } from "../../../rules/manifest/errors.ts";
import { dayText } from "../../../rules/model/time-text.ts";
import { namespace } from "../../../rules/model/ids.ts";
import type { Calendar, ScheduleEntry } from "../../../rules/model/schedule.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import type { TargetRef } from "../../../rules/model/spec-common.ts";
import { localDay } from "../../../rules/model/time-zone.ts";
import { unknownCalendars } from "../../../rules/policy/bounds/effective-bounds.ts";
import { type OutlookFinding, outlookOf } from "../../../rules/policy/bounds/outlook.ts";
import { askDialect } from "../../../rules/policy/dialects.ts";
import type { AutoscalerItem } from "../../../stack/store/records/autoscalers.ts";
import { workloadKey } from "../../../stack/sync/load/open-intents.ts";
import { readableSpec } from "../stored-spec.ts";
import type { ManifestDocument } from "../../../rules/manifest/documents.ts";

export const namesCalendar = ({ schedule = [] }: Pick<AutoscalerSpec, "schedule">): boolean =>
  schedule.some(({ exceptFrom }) => exceptFrom !== undefined);

interface Known {
  readonly calendars: readonly Calendar[];
  readonly nowMs: number;
}

/**
 * What an apply says of a schedule after a look 400 days ahead: lines of a refusal, and warnings,
 * each with its field.
 */
export const scheduleOutlook = (
  input: Pick<ManifestDocument, "where" | "lineOf">,
  spec: AutoscalerSpec,
  { calendars, nowMs }: Known,
) => {
  if (!spec.schedule) return { refused: [], warnings: [] };
  const { refused, warnings } = outlookOf(spec, calendars, nowMs);
  const at = (field: string): string => `${placeOfField(input, field)}: ${field}`;
  const atEntry = ({ index, message }: OutlookFinding): string =>
    `${at(`spec.schedule[${index}]`)}: ${message}`;
  const atCalendar = ({ index, message }: OutlookFinding): string =>
    `${at(`spec.schedule[${index}].exceptFrom`)}: ${message}`;
  const [unknown, ended] = [
    unknownFindings(spec, calendars),
    endedCalendars(spec.schedule, { calendars, nowMs }),
  ];
  return {
    refused: [...unknown.map(atCalendar), ...refused.map(atEntry)].map(
      (words) => `Cannot accept ${words}`,
    ),
    warnings: [...ended.map(atCalendar), ...warnings.map(atEntry)],
  };
};

/** A name without a calendar is a slip of the pen more often than a calendar to come. */
const unknownFindings = (
  spec: AutoscalerSpec,
  calendars: readonly Calendar[],
): readonly OutlookFinding[] =>
  unknownCalendars(spec, calendars).map(({ index, name }) => {
    const names = calendars.map((calendar) => calendar.name).join(", ");
    const known = names === "" ? "the fleet has none" : `the fleet has ${names}`;
    const message = `there is no calendar "${name}", and ${known}; correct the name, or run tidemark calendar put ${name} -f FILE first`;
    return { index, message };
  });

/**
 * A calendar whose dates are all past excepts nothing any more, and nobody looks at a calendar that
 * once worked.
 */
const endedCalendars = (
  schedule: readonly ScheduleEntry[],
  { calendars, nowMs }: Known,
): readonly OutlookFinding[] =>
  schedule.flatMap(({ exceptFrom, timeZone, suspended }, index) => {
    const last = calendars.find(({ name }) => name === exceptFrom)?.days.at(-1);
    if (suspended || last === undefined || last >= localDay(timeZone, nowMs)) return [];
    return [
      {
        index,
        message: `the last date of calendar "${exceptFrom}" is ${dayText(last)}, which is past; put later dates`,
      },
    ];
  });

const rulesOf = (spec: AutoscalerSpec) =>
  askDialect(spec, ({ name, keeps }, own) => ({ name, ...keeps(own) }));

type BeforeAndAfter = readonly [boolean, boolean];
const keptText = ([before, after]: BeforeAndAfter, what: string): readonly string[] =>
  before && after ? [what] : [];
const first = ([before, after]: BeforeAndAfter, what: string): readonly string[] =>
  before && !after ? [what] : [];
const second = ([before, after]: BeforeAndAfter, what: string): readonly string[] =>
  !before && after ? [what] : [];

/**
 * What a change of rules does with the stored windows; undefined when the rules stay.
 * docs/pod-autoscaler.md says the same.
 */
export const rulesChange = (before: AutoscalerSpec, after: AutoscalerSpec): string | undefined => {
  const [from, to] = [rulesOf(before), rulesOf(after)];
  if (from.name === to.name) return undefined;
  const recommendations = [from.recommendations, to.recommendations] as const;
  const events = [from.scaleEvents, to.scaleEvents] as const;
  const kept = [
    "the time of the last scale",
    ...keptText(recommendations, "recommendations"),
    ...keptText(events, "scale events of the policies"),
  ];
  const restarted = [
    ...second(recommendations, "stabilization, from the current count"),
    ...second(events, "what counts against policies"),
    "breaches and whatever else must last",
  ];
  const gone = [
    ...first(recommendations, "recommendations"),
    ...first(events, "scale events of the policies"),
  ];
  const forgotten = gone.length > 0 ? `; forgotten: ${gone.join(", ")}` : "";
  return `the rules change from ${from.name} to ${to.name}: kept: ${kept.join(", ")}; begins anew: ${restarted.join(", ")}${forgotten}`;
};

export interface ScaleTarget {
  readonly namespace: string;
  readonly name: string;
  readonly target: TargetRef;
  /** A dry run writes nothing, so it can share its workload. */
  readonly dryRun: boolean;
}

const keyOf = ({ namespace: inside, target }: ScaleTarget): string =>
  workloadKey(namespace(inside), target);

/**
 * Warns of autoscalers that share their workload with another stored or applied one: both would
 * hold (lib/stack/report/holds.ts). Dry runs do not count. `stored` has the records of their
 * namespaces.
 */
export const sharedTargets = (
  applied: readonly ScaleTarget[],
  stored: readonly AutoscalerItem[],
): ReadonlyMap<ScaleTarget, string> => {
  const writing = applied.filter(({ dryRun }) => !dryRun);
  const all = Map.groupBy([...storedBeside(applied, stored), ...writing], keyOf);
  const warned = writing.map(
    (aimed) =>
      [aimed, (all.get(keyOf(aimed)) ?? []).filter(({ name }) => name !== aimed.name)] as const,
  );
  return new Map(
    warned
      .filter(([, others]) => others.length > 0)
      .map(([aimed, others]) => [aimed, warningOf(aimed, others)]),
  );
};

const storedBeside = (
  applied: readonly ScaleTarget[],
  stored: readonly AutoscalerItem[],
): readonly ScaleTarget[] => {
  const replaced = new Set(applied.map(pathOf));
  return stored.flatMap(aimedBy).filter((aimed) => !aimed.dryRun && !replaced.has(pathOf(aimed)));
};

const pathOf = (aimed: ScaleTarget): string => `${aimed.namespace}/${aimed.name}`;

/** A manifest that cannot be read has no known target. */
const aimedBy = (item: AutoscalerItem): readonly ScaleTarget[] => {
  if (item.kind === "unreadable") return [];
  const spec = readableSpec(item.record);
  return spec
    ? [
        {
          namespace: item.record.namespace,
          name: item.record.name,
          target: spec.target,
          dryRun: spec.dryRun ?? false,
        },
      ]
    : [];
};

/**
 * Autoscalers that a warning names. Without a limit, a thousand with one target would name each
 * other a million times.
 */
const NAMED_MAX = 5;

const warningOf = (
  { namespace: inside, name, target }: ScaleTarget,
  others: readonly ScaleTarget[],
): string => {
  const named = others.slice(0, NAMED_MAX).map((other) => `"${inside}/${other.name}"`);
  const more = others.length > NAMED_MAX ? [`${others.length - NAMED_MAX} more`] : [];
  return `${target.kind} "${target.name}" is also the target of ${[...named, ...more].join(", ")}: "${inside}/${name}" and they hold until only one of them has this target`;
};
