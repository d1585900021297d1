import { lengthMs } from "../../../lib/command/options/time-options.ts";
import { type ControllerSettings, DEFAULT_SETTINGS } from "../../../lib/rules/model/spec-common.ts";

export interface CaseSettings extends ControllerSettings {
  /** Only warnings of admission depend on it. */
  readonly syncPeriodMs: number;
}

const DEFAULTS: CaseSettings = { ...DEFAULT_SETTINGS, syncPeriodMs: 15_000 };
const SECOND_MS = 1000;

const LENGTHS = [
  "downscaleStabilization",
  "cpuInitializationPeriod",
  "initialReadinessDelay",
  "syncPeriod",
] as const;

/**
 * The settings of the cluster, by the names of its record (`downscaleStabilizationMs`), with
 * seconds in place of milliseconds (`downscaleStabilizationSeconds`), or by the names of the
 * command's options and the controller's flags (`downscale-stabilization: 5m`). An unknown name is
 * refused: a case must not pass with a setting that had no effect.
 */
export const readSettings = (given: Readonly<Record<string, unknown>>): CaseSettings => {
  const known = Object.entries(given).filter(([, value]) => value !== null);
  return Object.assign(
    {},
    DEFAULTS,
    ...known.map(([name, value]) => settingOf(name, plainName(name), value)),
  );
};

/**
 * "--horizontal-pod-autoscaler-sync-period" → "syncPeriod"; "period" is what the command calls it.
 */
const plainName = (name: string): string => {
  const words = name.replace(/^-+/, "").replace(/^horizontal-pod-autoscaler-/, "");
  const camel = words.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return camel === "period" ? "syncPeriod" : camel.replace("StabilizationWindow", "Stabilization");
};

const settingOf = (name: string, plain: string, value: unknown): Partial<CaseSettings> => {
  if (plain === "tolerance") return { tolerance: numberOf(name, value) };
  const length = LENGTHS.find(
    (known) => plain === known || plain === `${known}Ms` || plain === `${known}Seconds`,
  );
  if (length === undefined)
    throw new RangeError(
      `Unknown setting "${name}": known are tolerance, ${LENGTHS.map((known) => `${known}Ms`).join(", ")}`,
    );
  return {
    [`${length}Ms`]: plain.endsWith("Ms") ? numberOf(name, value) : durationMs(name, value),
  };
};

/** A text with a unit, or a number of seconds. */
const durationMs = (name: string, value: unknown): number =>
  typeof value === "string" && /[a-z]$/i.test(value)
    ? lengthMs(name, value, 0)
    : numberOf(name, value) * SECOND_MS;

const numberOf = (name: string, value: unknown): number => {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !(number >= 0))
    throw new RangeError(
      `The setting "${name}" must be a number of at least 0, not ${JSON.stringify(value)}`,
    );
  return number;
};
