import { createReadStream } from "node:fs";
import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { type Info, parse } from "csv-parse";
import * as z from "zod";
import { TidemarkError } from "../../rules/model/errors.ts";
import { readInstant } from "../../rules/model/time-text.ts";
import { systemReason } from "../host/failure-text.ts";
import { isSystemError } from "../host/whole-file.ts";
import type { ShippedTrace, Trace, TracePoint } from "./trace.ts";

/** Two years of minutes; more is a mistake, and would not stay small in memory. */
const MAX_POINTS = 1_100_000;
const SECONDS_MAX = 100_000_000_000;
const DEFAULT_UNIT = "units";
/** A trace of one sample has no distance to measure. */
const DEFAULT_STEP_MS = 60_000;

/** The JSON of a range query is read whole. */
const JSON_BYTES_MAX = 64 * 2 ** 20;

/**
 * Reads a trace by what it looks like: the JSON of a range query of Prometheus with one series, or
 * a CSV, which is streamed: an optional first line `# …; unit: …; …`, then `timestamp,value`, then
 * rows of a time (seconds or milliseconds since 1970, or RFC 3339; strictly rising) and a value
 * that is not negative. Throws TidemarkError "trace.unreadable" or "trace.invalid" with the line.
 */
export const readTrace = async (path: string): Promise<Trace> => {
  if (await isJson(path)) return readRangeQuery(path);
  const reading = new TraceReading(path);
  // Quotes and commas occur in the comment of the first line and mean nothing there. So a line is
  // one column here: the parser makes an error, with its stack, of each row that has not as many
  // columns as the first.
  const rows = parse({
    delimiter: "\0",
    quote: null,
    relaxColumnCount: true,
    skipEmptyLines: true,
    trim: true,
    info: true,
    bom: true,
  });
  try {
    await pipeline(
      createReadStream(path),
      rows,
      async (parsed: AsyncIterable<{ record: string[]; info: Info }>) => {
        for await (const { record, info } of parsed) reading.take(record.join(","), info.lines);
      },
    );
  } catch (cause) {
    if (cause instanceof TidemarkError) throw cause;
    throw unreadable(path, cause);
  }
  return reading.trace();
};

const unreadable = (path: string, cause: unknown): TidemarkError => {
  const why = isSystemError(cause) ? systemReason(cause.code) : String(cause);
  return new TidemarkError(
    "trace.unreadable",
    `Cannot read trace "${path}": ${why}`,
    { path },
    { cause },
  );
};

const isJson = async (path: string): Promise<boolean> => {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(64), length: 64 });
    return /^\uFEFF?\s*\{/.test(buffer.toString("utf8", 0, bytesRead));
  } catch (cause) {
    throw unreadable(path, cause);
  } finally {
    await file?.close();
  }
};

/** The answer of `/api/v1/query_range`: https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries */
const rangeQuerySchema = z.object({
  status: z.literal("success"),
  data: z.object({
    resultType: z.literal("matrix"),
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        values: z.array(z.tuple([z.number(), z.string()])).optional(),
      }),
    ),
  }),
});

/**
 * Values that are no number (`NaN`, `+Inf`) are left out, and are a gap where the next one is late.
 */
const readRangeQuery = async (path: string): Promise<Trace> => {
  const invalid = (what: string): TidemarkError =>
    new TidemarkError("trace.invalid", `Cannot read trace "${path}": ${what}`, { path });
  const { size } = await stat(path);
  if (size > JSON_BYTES_MAX)
    throw invalid(`it has ${size} bytes; JSON is read up to ${JSON_BYTES_MAX}; write it as CSV`);
  let parsed: unknown;
  try {
    parsed = JSON.parse((await readFile(path, "utf8")).replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw invalid(`it is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  const answer = rangeQuerySchema.safeParse(parsed);
  if (!answer.success)
    throw invalid(
      "it begins as JSON and is not the answer of a range query of Prometheus (resultType matrix)",
    );
  const { result } = answer.data.data;
  const [series] = result;
  if (result.length !== 1 || !series)
    throw invalid(`it has ${result.length} series, and one is played: make the query a sum(…)`);
  const points = (series.values ?? [])
    .map(([seconds, value]) => ({ atMs: Math.round(seconds * 1_000), value: Number(value) }))
    .filter(({ value }) => Number.isFinite(value));
  const bad = points.find(
    ({ value, atMs }, at) =>
      value < 0 || atMs <= (points[at - 1]?.atMs ?? Number.NEGATIVE_INFINITY),
  );
  if (bad)
    throw invalid(`the sample at ${bad.atMs / 1_000} is negative, or not after the one before it`);
  if (points.length === 0) throw invalid("it has no samples");
  if (points.length > MAX_POINTS) throw invalid(`at most ${MAX_POINTS} samples are read`);
  return { points, unit: series.metric["__name__"] ?? DEFAULT_UNIT, stepMs: usualStepMs(points) };
};

class TraceReading {
  readonly #path: string;
  readonly #points: TracePoint[] = [];
  #unit = DEFAULT_UNIT;
  #headed = false;

  constructor(path: string) {
    this.#path = path;
  }

  take(text: string, line: number): void {
    const columns = text.split(",").map((column) => column.trim());
    if (text.startsWith("#"))
      this.#unit = /(?:^|;)\s*unit: ([^;]+)/.exec(text)?.[1]?.trim() ?? this.#unit;
    else if (this.#headed) this.#points.push(this.#point(columns, line));
    else if (columns.join(",") === "timestamp,value") this.#headed = true;
    else
      throw this.#invalid(
        line,
        `expected the header "timestamp,value", found "${columns.join(",")}"`,
      );
  }

  trace(): Trace {
    if (this.#points.length === 0) throw this.#invalid(1, "it has no samples");
    return { points: this.#points, unit: this.#unit, stepMs: usualStepMs(this.#points) };
  }

  #point(record: readonly string[], line: number): TracePoint {
    const [timestamp = "", text = ""] = record;
    if (record.length !== 2)
      throw this.#invalid(line, `expected 2 columns, found ${record.length}`);
    if (this.#points.length >= MAX_POINTS)
      throw this.#invalid(line, `at most ${MAX_POINTS} samples are read`);
    const atMs = this.#timeMs(timestamp, line);
    const lastMs = this.#points.at(-1)?.atMs;
    if (lastMs !== undefined && atMs <= lastMs)
      throw this.#invalid(line, `timestamp ${timestamp} is not after ${lastMs / 1000}`);
    return { atMs, value: this.#number(text, "value", line) };
  }

  /**
   * RFC 3339, or a number since 1970: from this one on it cannot be seconds (the year 5138), and is
   * milliseconds.
   */
  #timeMs(text: string, line: number): number {
    const instant = readInstant(text.toUpperCase());
    if (instant !== undefined) return instant;
    if (/^\d{4}-\d{2}-\d{2}/.test(text))
      throw this.#invalid(
        line,
        `timestamp "${text}" has no zone: write RFC 3339, such as 2026-03-01T12:00:00Z, or seconds since 1970`,
      );
    if (!/^\d+(\.\d+)?$/.test(text))
      throw this.#invalid(
        line,
        `timestamp "${text}" is no time: write RFC 3339, such as 2026-03-01T12:00:00Z, or seconds or milliseconds since 1970`,
      );
    const number = Number(text);
    return Math.round(number < SECONDS_MAX ? number * 1_000 : number);
  }

  #number(text: string, column: string, line: number): number {
    if (!/^\d+(\.\d+)?$/.test(text))
      throw this.#invalid(line, `${column} "${text}" is not a number of at least 0`);
    return Number(text);
  }

  #invalid(line: number, what: string): TidemarkError {
    return new TidemarkError(
      "trace.invalid",
      `Cannot read trace "${this.#path}", line ${line}: ${what}`,
      { path: this.#path, line },
    );
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

export const shippedTracePath = (name: ShippedTrace): string =>
  fileURLToPath(new URL(`./${name}.csv`, import.meta.url));

export const readShippedTrace = (name: ShippedTrace): Promise<Trace> =>
  readTrace(shippedTracePath(name));
