import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { type Info, parse } from "csv-parse";
import { TidemarkError } from "../../model/errors.ts";
import { reasonOf } from "../folder/failure-text.ts";
import { isSystemError } from "../folder/whole-file.ts";
import type { Trace, TracePoint } from "./trace.ts";

/** Two years of minutes; more is a mistake, and would not stay small in memory. */
const MAX_POINTS = 1_100_000;
const DEFAULT_UNIT = "units";
/** A trace of one sample has no distance to measure. */
const DEFAULT_STEP_MS = 60_000;

/**
 * Reads a CSV trace: an optional first line `# …; unit: …; …`, then `timestamp,value`, then rows of unix seconds (strictly rising) and a value that is not negative.
 * The file is streamed. Throws TidemarkError "trace.unreadable" or "trace.invalid" with the line.
 */
export const readTrace = async (path: string): Promise<Trace> => {
  const reading = new TraceReading(path);
  // Quotes and commas occur in the comment of the first line and mean nothing there.
  const rows = parse({ quote: null, relaxColumnCount: true, skipEmptyLines: true, trim: true, info: true, bom: true });
  try {
    await pipeline(createReadStream(path), rows, async (parsed: AsyncIterable<{ record: string[]; info: Info }>) => {
      for await (const { record, info } of parsed) reading.take(record, info.lines);
    });
  } catch (cause) {
    if (cause instanceof TidemarkError) throw cause;
    const why = isSystemError(cause) ? reasonOf(cause.code) : String(cause);
    throw new TidemarkError("trace.unreadable", `Cannot read trace "${path}": ${why}`, { path }, { cause });
  }
  return reading.trace();
};

class TraceReading {
  readonly #path: string;
  readonly #points: TracePoint[] = [];
  #unit = DEFAULT_UNIT;
  #headed = false;

  constructor(path: string) {
    this.#path = path;
  }

  take(record: readonly string[], line: number): void {
    const [first = ""] = record;
    if (first.startsWith("#")) this.#unit = /(?:^|;)\s*unit: ([^;]+)/.exec(record.join(","))?.[1]?.trim() ?? this.#unit;
    else if (this.#headed) this.#points.push(this.#point(record, line));
    else if (record.join(",") === "timestamp,value") this.#headed = true;
    else throw this.#invalid(line, `expected the header "timestamp,value", found "${record.join(",")}"`);
  }

  trace(): Trace {
    if (this.#points.length === 0) throw this.#invalid(1, "it has no samples");
    return { points: this.#points, unit: this.#unit, stepMs: usualStepMs(this.#points) };
  }

  #point(record: readonly string[], line: number): TracePoint {
    const [timestamp = "", text = ""] = record;
    if (record.length !== 2) throw this.#invalid(line, `expected 2 columns, found ${record.length}`);
    if (this.#points.length >= MAX_POINTS) throw this.#invalid(line, `at most ${MAX_POINTS} samples are read`);
    const atMs = Math.round(this.#number(timestamp, "timestamp", line) * 1000);
    const lastMs = this.#points.at(-1)?.atMs;
    if (lastMs !== undefined && atMs <= lastMs) throw this.#invalid(line, `timestamp ${timestamp} is not after ${lastMs / 1000}`);
    return { atMs, value: this.#number(text, "value", line) };
  }

  #number(text: string, column: string, line: number): number {
    if (!/^\d+(\.\d+)?$/.test(text)) throw this.#invalid(line, `${column} "${text}" is not a number of at least 0`);
    return Number(text);
  }

  #invalid(line: number, what: string): TidemarkError {
    return new TidemarkError("trace.invalid", `Cannot read trace "${this.#path}", line ${line}: ${what}`, { path: this.#path, line });
  }
}

/** The most frequent distance; of several equally frequent, the shortest. */
const usualStepMs = (points: readonly TracePoint[]): number => {
  const counts = new Map<number, number>();
  for (let index = 1; index < points.length; index++) {
    const distance = (points[index]?.atMs ?? 0) - (points[index - 1]?.atMs ?? 0);
    counts.set(distance, (counts.get(distance) ?? 0) + 1);
  }
  const [usual] = [...counts].sort(([a, often], [b, seldom]) => seldom - often || a - b);
  return usual?.[0] ?? DEFAULT_STEP_MS;
};

/** The recorded workloads of Tidemark. NOTICE in this folder names their authors and licences. */
export const SHIPPED_TRACES = [
  "azurefn-diurnal-1m",
  "azurefn-ramps-zero-1m",
  "azurefn-squarewave-1m",
  "azurefn-steps-1m",
  "nab-ec2-cpu-noisy-5m",
  "nasa-http-launch-week-1m",
] as const;

export type ShippedTrace = (typeof SHIPPED_TRACES)[number];

export const shippedTracePath = (name: ShippedTrace): string => fileURLToPath(new URL(`./${name}.csv`, import.meta.url));

export const readShippedTrace = (name: ShippedTrace): Promise<Trace> => readTrace(shippedTracePath(name));
