/** The numbers of a policy that are searched. */
export interface Settings {
  /** Of every target, in percent of what it is now. */
  readonly targetPercent: number;
  readonly toleranceUp: number;
  readonly toleranceDown: number;
  readonly upWindowSeconds: number;
  readonly downWindowSeconds: number;
  /** Percent of the count that may be added in 15 s, and taken away in a minute. */
  readonly upPercent: number;
  readonly downPercent: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/** A policy that keeps its policies of that direction. */
export const AS_IT_IS = 110;

/** Between which values a number is searched, in steps that a person would write. */
export interface SettingRange {
  readonly now: number;
  readonly least: number;
  readonly most: number;
  readonly step: number;
}

export type SettingRanges = { readonly [Name in keyof Settings]: SettingRange };

/** The words of `--keep`, and the numbers that each keeps as they are. */
export const KEPT_BY: Readonly<Record<string, readonly (keyof Settings)[]>> = {
  target: ["targetPercent"],
  tolerances: ["toleranceUp", "toleranceDown"],
  windows: ["upWindowSeconds", "downWindowSeconds"],
  policies: ["upPercent", "downPercent"],
  min: ["minReplicas"],
  max: ["maxReplicas"],
};

const NAMES: readonly (keyof Settings)[] = Object.values(KEPT_BY).flat();

/** The numbers that are searched: those with more than one value, in their order. */
export const searchedOf = (
  ranges: SettingRanges,
  kept: ReadonlySet<keyof Settings>,
): readonly (keyof Settings)[] =>
  NAMES.filter((name) => !kept.has(name) && ranges[name].most > ranges[name].least);

/** The settings of a point of the unit cube, which has a side for each number that is searched. */
export const settingsAt = (
  ranges: SettingRanges,
  searched: readonly (keyof Settings)[],
  genes: readonly number[],
): Settings => {
  const now = settingsNow(ranges);
  return Object.fromEntries(
    NAMES.map((name) => {
      const at = searched.indexOf(name);
      return [name, at < 0 ? now[name] : valueAt(ranges[name], genes[at] ?? 0)];
    }),
  ) as unknown as Settings;
};

export const settingsNow = (ranges: SettingRanges): Settings =>
  Object.fromEntries(NAMES.map((name) => [name, ranges[name].now])) as unknown as Settings;

/** The point of the settings as they are now; on the nearest side where they are outside. */
export const genesNow = (
  ranges: SettingRanges,
  searched: readonly (keyof Settings)[],
): readonly number[] =>
  searched.map((name) => {
    const { now, least, most } = ranges[name];
    return Math.min(1, Math.max(0, (now - least) / (most - least)));
  });

const valueAt = ({ least, most, step }: SettingRange, gene: number): number => {
  const steps = Math.round((gene * (most - least)) / step);
  return Math.min(most, rounded(least + steps * step));
};

/** A sum of steps such as 0.05 is not exact. */
const rounded = (value: number): number => Number(value.toFixed(6));
