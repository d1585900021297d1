import { asList, asObject, type Json, present } from "../../../model/json.ts";
import type { Detail } from "../finding.ts";
import { passOver } from "../ledger.ts";
import {
  changed,
  writtenCount,
  type Entry,
  entriesOf,
  floorWithin,
  isUnread,
  lost,
  writtenNamespace,
  type OwnBounds,
  type Timed,
  textOf,
  withoutEffect,
  cronTimes,
  spansBeforeEnds,
  spansBetween,
  type WeekMinute,
  weeklyWindows,
} from "./timed.ts";

/*
 * Karmada and AWS say what to set at an instant, and the last one counts until the next. So each
 * action becomes windows from its instants to the next instant of any action that sets the same
 * bound. Nothing depends any more on whether one of them was missed.
 */

/** "floor": what is set once and goes on to move from there. */
type Bound = "minReplicas" | "maxReplicas" | "floor";

interface Action extends Readonly<Partial<Record<Bound, number>>> {
  readonly of: string;
  readonly name: string;
  readonly timeZone: string;
  readonly times: readonly WeekMinute[];
}

type Read = Action | { readonly detail: Detail };

const BOUNDS: Readonly<Record<Bound, { readonly suffix: string; readonly field: string }>> = {
  minReplicas: { suffix: "min", field: "minReplicas" },
  maxReplicas: { suffix: "max", field: "maxReplicas" },
  floor: { suffix: "floor", field: "minReplicas" },
};

const entriesOfActions = (read: readonly Read[]): Omit<Timed, "for"> => {
  const actions = read.flatMap((each) => ("detail" in each ? [] : [each]));
  const details = read.flatMap((each) => ("detail" in each ? [each.detail] : []));
  const zones = [...new Set(actions.map(({ timeZone }) => timeZone))];
  if (zones.length > 1)
    return {
      entries: [],
      details: [
        ...details,
        lost(
          "timeZone",
          `its actions follow the clocks of ${zones.join(" and ")}; write entries by hand`,
        ),
      ],
    };
  const entries = (Object.keys(BOUNDS) as readonly Bound[]).flatMap((bound) => {
    const setting = actions.filter((action) => action[bound] !== undefined);
    const ends = setting.flatMap(({ times }) => times);
    return setting.map((action) => ({
      action,
      bound,
      windows: weeklyWindows(spansBetween(action.times, ends)),
    }));
  });
  const unread = entries.flatMap(({ action, windows }) =>
    isUnread(windows) ? [lost(action.of, windows.unread)] : [],
  );
  const carried = entries.flatMap(({ action, bound, windows }) => {
    if (isUnread(windows)) return [];
    const { suffix, field } = BOUNDS[bound];
    const base = { name: `${action.name}-${suffix}`, timeZone: action.timeZone };
    return [{ bound, entries: entriesOf(windows, { ...base, [field]: action[bound] }) }];
  });
  const of = (isFloor: boolean) =>
    carried.flatMap((one) => ((one.bound === "floor") === isFloor ? one.entries : []));
  return { entries: of(false), floors: of(true), details: [...details, ...unread] };
};

/**
 * A CronFederatedHPA of Karmada: rules with `targetReplicas` for a workload, or with bounds for a
 * FederatedHPA.
 */
export const cronFederatedHpa = (raw: Json): Timed => {
  const spec = asObject(raw["spec"]);
  const { apiVersion: _any, kind, name } = asObject(spec["scaleTargetRef"]);
  const rules = asList(spec["rules"]).map((rule, index) =>
    karmadaRule(asObject(rule), `spec.rules[${index}]`),
  );
  const target = { namespace: writtenNamespace(raw), name: String(name) };
  const whom =
    kind === "FederatedHPA"
      ? ({ kind: "autoscaler", ...target } as const)
      : ({ kind: "workload", workload: String(kind), ...target } as const);
  const { details, ...entries } = entriesOfActions(rules);
  return { for: whom, ...entries, details: [...details, ...rules.flatMap(setOnce)] };
};

/** Karmada sets a count and leaves it: whatever scales the workload by metrics goes on from there. */
const setOnce = (read: Read): readonly Detail[] =>
  "detail" in read || read.floor === undefined
    ? []
    : [
        changed(
          `${read.of}.targetReplicas`,
          `Karmada sets the count once, and metrics go on from there; here ${read.floor} is a floor within the bounds of the autoscaler, until the next rule sets a count`,
        ),
      ];

const karmadaRule = (rule: Json, of: string): Read => {
  passOver([rule["successfulHistoryLimit"], rule["failedHistoryLimit"]]);
  if (rule["suspend"] === true) {
    passOver(rule);
    return { detail: withoutEffect(of, "it is suspended") };
  }
  const times = cronTimes(String(rule["schedule"]));
  if (isUnread(times)) return { detail: lost(of, times.unread) };
  const timeZone = textOf(rule["timeZone"]);
  if (timeZone === undefined)
    return {
      detail: lost(
        of,
        "it has no timeZone, and follows the clock of the machine of Karmada; add the zone that is meant",
      ),
    };
  const [exact, min, max] = [
    writtenCount(rule["targetReplicas"]),
    writtenCount(rule["targetMinReplicas"]),
    writtenCount(rule["targetMaxReplicas"]),
  ];
  return action(
    { of, name: String(rule["name"]), timeZone, times },
    { floor: exact, minReplicas: min, maxReplicas: max },
  );
};

const action = (
  base: Omit<Action, Bound>,
  bounds: Readonly<Partial<Record<Bound, number | undefined>>>,
): Read => {
  if (Object.values(bounds).includes(0))
    return {
      detail: lost(
        base.of,
        "it scales to 0, and a bound of a schedule is 1 at least; pause the workload by another way",
      ),
    };
  return { ...base, ...present(bounds) };
};

/**
 * Scheduled actions as `aws application-autoscaling describe-scheduled-actions` prints them. They
 * name no workload of a cluster.
 */
export const scheduledActions = (raw: Json): Timed => {
  const read = asList(raw["ScheduledActions"]).map((each, index) =>
    awsAction(asObject(each), `ScheduledActions[${index}]`),
  );
  const once = read.flatMap((each) => ("once" in each ? [each.once] : []));
  passOver(
    asList(raw["ScheduledActions"]).map((each) => NAMES.map((name) => asObject(each)[name])),
  );
  const { entries, details } = entriesOfActions(
    read.flatMap((each) => ("once" in each ? [] : [each])),
  );
  const resources = [
    ...new Set(asList(raw["ScheduledActions"]).map((each) => String(asObject(each)["ResourceId"]))),
  ];
  const several =
    resources.length > 1
      ? [
          lost(
            "ScheduledActions",
            `they are for ${resources.length} resources; convert the actions of one resource at a time`,
          ),
        ]
      : [];
  return { for: { kind: "only one" }, entries, details: [...details, ...once, ...several] };
};

/** What AWS calls an action and its target; no count depends on it. */
const NAMES = ["ScheduledActionARN", "ServiceNamespace", "ScalableDimension", "CreationTime"];

const awsAction = (raw: Json, of: string): Read | { readonly once: Detail } => {
  const schedule = String(raw["Schedule"]);
  const named = `${of} (${String(raw["ScheduledActionName"])})`;
  const [, minute, hour, dayOfMonth, month, dayOfWeek, year = "*"] =
    /^cron\((\S+) (\S+) (\S+) (\S+) (\S+)(?: (\S+))?\)$/.exec(schedule) ?? [];
  if (minute === undefined)
    return {
      once: lost(
        named,
        `"${schedule}" is not read, only cron(…): what at(…) and rate(…) set depends on the actions before and after; write an entry with dates`,
      ),
    };
  if (year !== "*")
    return { once: lost(named, `"${schedule}" names a year; write an entry with dates`) };
  if (raw["StartTime"] !== undefined || raw["EndTime"] !== undefined)
    return { once: lost(named, "it has a StartTime or an EndTime; write an entry with dates") };
  const times = cronTimes([minute, hour, dayOfMonth, month, dayOfWeek].join(" "), 1);
  if (isUnread(times)) return { detail: lost(named, times.unread) };
  const { MinCapacity: min, MaxCapacity: max } = asObject(raw["ScalableTargetAction"]);
  const timeZone = textOf(raw["Timezone"]) ?? "Etc/UTC";
  const name = String(raw["ScheduledActionName"]).toLowerCase();
  return action(
    { of: named, name, timeZone, times },
    { minReplicas: writtenCount(min), maxReplicas: writtenCount(max) },
  );
};

const withinText = (replicas: number, { least, most }: OwnBounds): string => {
  if (replicas > most) return `; maxReplicaCount ${most} counts instead of ${replicas}`;
  return replicas < least ? `; minReplicaCount ${least} counts instead of ${replicas}` : "";
};

/** Names of fixed offsets in the zone database, and an area that has the offset all year. */
const FIXED_ZONES: Readonly<Record<string, string>> = {
  UTC: "Etc/UTC",
  UCT: "Etc/UTC",
  Universal: "Etc/UTC",
  Zulu: "Etc/UTC",
  GMT: "Etc/UTC",
  EST: "America/Panama",
  MST: "America/Phoenix",
  HST: "Pacific/Honolulu",
};

/** KEDA takes every name of the zone database. One that stands for no fixed offset stays. */
export const zoneOfKeda = (timezone: unknown): string =>
  FIXED_ZONES[String(timezone)] ?? String(timezone);

/**
 * A trigger `cron` of KEDA: a floor until each end, from the last start before it. Outside its
 * windows it asks for nothing.
 */
export const kedaCron = (
  trigger: Json,
  { index, least, most }: OwnBounds & { readonly index: number },
): { readonly entries: readonly Entry[]; readonly detail: Detail } => {
  const of = `spec.triggers[${index}] (cron)`;
  const { timezone, start, end, desiredReplicas } = asObject(trigger["metadata"]);
  const [starts, ends, replicas] = [
    cronTimes(String(start)),
    cronTimes(String(end)),
    writtenCount(desiredReplicas),
  ];
  if (isUnread(starts)) return { entries: [], detail: lost(of, starts.unread) };
  if (isUnread(ends)) return { entries: [], detail: lost(of, ends.unread) };
  if (replicas === undefined || replicas < 1)
    return {
      entries: [],
      detail: lost(of, `desiredReplicas "${String(desiredReplicas)}" is no floor`),
    };
  const windows = weeklyWindows(spansBeforeEnds(starts, ends));
  if (isUnread(windows)) return { entries: [], detail: lost(of, windows.unread) };
  const name = `cron-${index}`;
  const floor = floorWithin(
    { name, timeZone: zoneOfKeda(timezone), minReplicas: replicas },
    { least, most },
  );
  const minReplicas = Number(floor["minReplicas"]);
  const entries = entriesOf(windows, floor);
  const capped = withinText(replicas, { least, most });
  return {
    entries,
    detail: changed(
      of,
      `it is the entry "cron-${index}" of the schedule: a floor of ${minReplicas}, without KEDA${capped}; it holds at once, where the HPA of KEDA goes there by its rates, windows and tolerance`,
    ),
  };
};
