import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Drawn } from "./scene.ts";

/** The version of KEDA whose counts are recorded; build.sh compiles it. */
export const KEDA_VERSION = "2.21.0";

const FILE = join(import.meta.dirname, `recorded-${KEDA_VERSION}.json.gz`);

export interface Recorded extends Drawn {
  readonly family: string;
  /** The count of KEDA and of its HPA after each step. */
  readonly keda: readonly number[];
}

/** What stays the same from step to step is stored once, with the number of its steps. */
type Spells = readonly (readonly [steps: number, value: unknown])[];

const spellsOf = (values: readonly unknown[]): Spells =>
  values.reduce<[number, unknown][]>((all, value) => {
    const last = all.at(-1);
    if (last && JSON.stringify(last[1]) === JSON.stringify(value)) last[0]++;
    else all.push([1, value]);
    return all;
  }, []);

const stepsOf = (spells: Spells): unknown[] =>
  spells.flatMap(([steps, value]) => Array<unknown>(steps).fill(value));

export const writeRecorded = (all: readonly Recorded[]): void =>
  writeFileSync(
    FILE,
    gzipSync(
      all
        .map((one) =>
          JSON.stringify({ ...one, values: spellsOf(one.values), keda: spellsOf(one.keda) }),
        )
        .join("\n"),
      { level: 9 },
    ),
  );

export const readRecorded = (): readonly Recorded[] =>
  gunzipSync(readFileSync(FILE))
    .toString()
    .split("\n")
    .map((line) => {
      const { values, keda, ...one } = JSON.parse(line);
      return { ...one, values: stepsOf(values), keda: stepsOf(keda) };
    });
