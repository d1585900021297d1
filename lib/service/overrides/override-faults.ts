import { TidemarkError } from "../../model/errors.ts";
import { LATEST_MS } from "../../model/instant.ts";
import {
  BOUNDS_MS_MAX,
  MIN_FACTOR_MAX,
  NAMESPACE_OVERRIDES_MAX,
  NAMESPACES_OVERRIDES_MAX,
  OVERRIDE_REPLICAS_MAX,
  OVERRIDES_MAX,
  type Override,
  REASON_CHARACTERS_MAX,
} from "../../model/override.ts";
import { isPrintable } from "../../model/printable.ts";
import { rfc3339 } from "../views/rfc3339.ts";
import type { NewOverride } from "./requests.ts";

/** Every fault of a new override, each with what to do; empty where there is none. */
export const overrideFaults = (wanted: NewOverride, nowMs: number): readonly string[] => [
  ...setFaults(wanted),
  ...timeFaults(wanted, nowMs),
  ...reasonFaults(wanted.reason),
];

const setFaults = ({ hold, min, max, minFactor }: NewOverride): readonly string[] => {
  const bounds = [min, max, minFactor].filter((value) => value !== undefined);
  if (hold === undefined && bounds.length === 0) return ["it sets nothing: give min, max, minFactor or hold"];
  return [
    ...(hold === false ? ["hold is false: an override holds or it is absent; clear the one that holds"] : []),
    ...(hold !== undefined && bounds.length > 0 ? ["it holds and sets bounds: give two overrides"] : []),
    ...(min !== undefined && minFactor !== undefined ? ["min and minFactor both set the minimum: give one of them"] : []),
    ...countFault("min", min),
    ...countFault("max", max),
    ...(min !== undefined && max !== undefined && min > max ? [`min is ${min}, above max, which is ${max}`] : []),
    ...(minFactor !== undefined && !(minFactor >= LEAST_FACTOR && minFactor <= MIN_FACTOR_MAX)
      ? [`minFactor is ${minFactor}: give a number from ${LEAST_FACTOR} to ${MIN_FACTOR_MAX}`]
      : []),
  ];
};

/** Stored in thousandths. */
const LEAST_FACTOR = 0.001;

/** Zero is no bound: it would stop the workload for good, because no bound wakes a workload that was stopped. */
const countFault = (field: string, value: number | undefined): readonly string[] =>
  value === undefined || (Number.isInteger(value) && value >= 1 && value <= OVERRIDE_REPLICAS_MAX)
    ? []
    : [`${field} is ${value}: give a whole number from 1 to ${OVERRIDE_REPLICAS_MAX}`];

const timeFaults = ({ hold, fromMs, untilMs }: Pick<NewOverride, "hold" | "fromMs" | "untilMs">, nowMs: number): readonly string[] => {
  if (untilMs === undefined) return hold ? [] : ["it has no end: give until, because bounds without an end are forgotten; only a hold may have none"];
  return [
    ...endFaults({ hold: hold === true, untilMs }, nowMs),
    ...(fromMs !== undefined && fromMs >= untilMs ? [`it ends at ${rfc3339(untilMs)}, not after it begins at ${rfc3339(fromMs)}`] : []),
  ];
};

/** The faults of an end. */
export const endFaults = ({ hold, untilMs }: { readonly hold: boolean; readonly untilMs: number }, nowMs: number): readonly string[] => {
  if (untilMs <= nowMs) return [`its end ${rfc3339(untilMs)} has passed: it is ${rfc3339(nowMs)}`];
  const latestMs = hold ? LATEST_MS : nowMs + BOUNDS_MS_MAX;
  if (untilMs > latestMs)
    return [`its end is later than ${rfc3339(latestMs)}${hold ? "" : ": bounds last at most 30 days; extend them later, or use a schedule"}`];
  return [];
};

const reasonFaults = (reason: string): readonly string[] => {
  if (reason.trim() === "") return ["the reason is empty: say why, for the people who meet it"];
  if (reason.length > REASON_CHARACTERS_MAX) return [`the reason has ${reason.length} characters: give at most ${REASON_CHARACTERS_MAX}`];
  return isPrintable(reason) ? [] : ["the reason has characters that do not print, such as a line break: write it in one line"];
};

/** Why the item has no room for another override, or undefined. `others` are without the new one and without expired ones. */
export const roomFault = (others: readonly Override[], namespace: string | undefined): string | undefined => {
  const advice = "clear one that is not needed: tidemark override list";
  if (others.length >= OVERRIDES_MAX) return `it has ${others.length} overrides, the most that are stored; ${advice}`;
  if (namespace === undefined) return undefined;
  const own = others.filter((other) => other.namespace === namespace).length;
  if (own >= NAMESPACE_OVERRIDES_MAX) return `namespace "${namespace}" has ${own} overrides, the most that one namespace may have; ${advice}`;
  const ofNamespaces = others.filter((other) => other.namespace !== undefined).length;
  return ofNamespaces >= NAMESPACES_OVERRIDES_MAX
    ? `the namespaces of the cluster have ${ofNamespaces} overrides, the most that they may have together; ${advice}`
    : undefined;
};

export const invalidOverride = (action: string, faults: readonly string[]): TidemarkError =>
  new TidemarkError("service.invalid", `Cannot ${action}: ${faults.join("; ")}`, { faults });
