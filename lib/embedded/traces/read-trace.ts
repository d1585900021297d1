import { createReadStream } from "node:fs";
import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { type Info, parse } from "csv-parse";
import * as z from "zod";
import { TidemarkError } from "../../rules/model/errors.ts";
import { printable } from "../../rules/model/foreign-text.ts";
import { readInstant } from "../../rules/model/time-text.ts";
import { systemReason } from "../host/failure-text.ts";
import { isSystemError } from "../host/whole-file.ts";
import type { ShippedTrace, Trace, TracePoint } from "./trace.ts";

/** Two years of minutes; more is a mistake, and would not stay small in memory. */
const MAX_POINTS = 1_100_000;
const SECONDS_MAX = 100_000_000_000;
/** More is no load of a workload, and its product with a number of pods would not be exact. */
const VALUE_MAX = 1e15;
const DEFAULT_UNIT = "units";
/** A trace of one sample has no distance to measure. */
const DEFAULT_STEP_MS = 60_000;

/** The JSON of a range query is read whole. */
const JSON_BYTES_MAX = 64 * 2 ** 20;

/**
 * Reads a trace by what it looks like: the JSON of a range query of Prometheus with one series, or
 * a CSV, which is streamed: an optional first line `# …; unit: …; …`, an optional header of two
 * names, the second of which is the unit where no line says it, then rows of a time and a value
 * that is not negative. A time is seconds or milliseconds since 1970, RFC 3339, or a date and time
 * without a zone, which is UTC; times strictly rise. Commas, semicolons or tabs divide, and a cell
 * may be quoted, as Grafana and spreadsheets write. A row without a value is left out, and is a gap
 * where the next one is late. Throws TidemarkError "trace.unreadable" or "trace.invalid" with the
 * line.
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

const errorSchema = z.object({ status: z.literal("error"), error: z.string() });

/** Why some JSON is not the answer of a range query. */
const notRangeWords = (parsed: unknown): string => {
  const { data } = errorSchema.safeParse(parsed);
  return data
    ? `it is an error of Prometheus, "${printable(data.error)}": mend the query, and ask again`
    : "it begins as JSON and is not the answer of a range query of Prometheus (resultType matrix)";
};

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
  if (!answer.success) throw invalid(notRangeWords(parsed));
  const { result } = answer.data.data;
  const [series] = result;
  if (!series)
    throw invalid("it has no series: the query found nothing in its time; mend the query");
  if (result.length !== 1)
    throw invalid(`it has ${result.length} series, and one is played: make the query a sum(…)`);
  const points = (series.values ?? [])
    .map(([seconds, value]) => ({ atMs: Math.round(seconds * 1_000), value: Number(value) }))
    .filter(({ value }) => Number.isFinite(value));
  const bad = points.find(
    ({ value, atMs }, at) =>
      value < 0 || value > VALUE_MAX || atMs <= (points[at - 1]?.atMs ?? Number.NEGATIVE_INFINITY),
  );
  if (bad)
    throw invalid(
      `the sample at ${bad.atMs / 1_000} is negative, above ${VALUE_MAX}, or not after the one before it`,
    );
  if (points.length === 0) throw invalid("it has no samples");
  if (points.length > MAX_POINTS) throw invalid(`at most ${MAX_POINTS} samples are read`);
  return { points, unit: series.metric["__name__"] ?? DEFAULT_UNIT, stepMs: usualStepMs(points) };
};

/** What dashboards and spreadsheets write where there was no sample. */
const NO_VALUE: ReadonlySet<string> = new Set(["", "nan", "null", "undefined", "n/a"]);

/** A date and a time of day without a zone, as dashboards export them. */
const WITHOUT_ZONE = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?$/;

class TraceReading {
  readonly #path: string;
  readonly #points: TracePoint[] = [];
  #unit: string | undefined;
  #lines = 0;
  #last = { atMs: Number.NEGATIVE_INFINITY, text: "" };

  constructor(path: string) {
    this.#path = path;
  }

  take(text: string, line: number): void {
    if (text.startsWith("#")) {
      this.#unit = /(?:^|;)\s*unit: ([^;]+)/.exec(text)?.[1]?.trim() ?? this.#unit;
      return;
    }
    const [time, value] = this.#cells(text, line);
    // A header names a time and what is measured: neither cell is data.
    const isHeader = this.#lines++ === 0 && !/^\d/.test(time) && !/^\d/.test(value);
    if (!isHeader) this.#row(time, value, line);
    else if (value !== "value" && value !== "") this.#unit ??= value;
  }

  trace(): Trace {
    if (this.#points.length === 0) throw this.#invalid(1, "it has no samples");
    const unit = this.#unit ?? DEFAULT_UNIT;
    return { points: this.#points, unit, stepMs: usualStepMs(this.#points) };
  }

  /** The name of a series may hold commas: then its cell is quoted, and is the last one. */
  #cells(text: string, line: number): readonly [time: string, value: string] {
    const at = text.search(/[,;\t]/);
    if (at < 0) throw this.#invalid(line, `expected a time, a comma and a value, found "${text}"`);
    const value = text.slice(at + 1).trim();
    const isQuoted = /^".*"$/.test(value) && !/"\s*[,;\t]\s*"/.test(value);
    const others = isQuoted ? [] : value.split(text.charAt(at)).slice(1);
    if (others.some((cell) => cell.trim() !== ""))
      throw this.#invalid(
        line,
        `expected 2 columns, found ${others.length + 2}; one series is played: keep the time and one column`,
      );
    const first = isQuoted ? value : (value.split(text.charAt(at))[0] ?? "");
    return [unquoted(text.slice(0, at)), unquoted(first)];
  }

  #row(time: string, value: string, line: number): void {
    if (this.#points.length >= MAX_POINTS)
      throw this.#invalid(line, `at most ${MAX_POINTS} samples are read`);
    const atMs = this.#timeMs(time, line);
    if (atMs <= this.#last.atMs)
      throw this.#invalid(
        line,
        `timestamp ${time} is not after ${this.#last.text}${WITHOUT_ZONE.test(time) ? "; a time without a zone is read as UTC, where no hour comes twice: export it in UTC" : "; sort the lines by time, and keep one of each time"}`,
      );
    this.#last = { atMs, text: time };
    if (NO_VALUE.has(value.toLowerCase())) return;
    this.#points.push({ atMs, value: this.#number(value, "value", line) });
  }

  /**
   * RFC 3339, a date and time of UTC, or a number since 1970: from this one on it cannot be seconds
   * (the year 5138), and is milliseconds.
   */
  #timeMs(text: string, line: number): number {
    const [, day, minute, second = ":00"] = WITHOUT_ZONE.exec(text) ?? [];
    const instant = readInstant(day ? `${day}T${minute}${second}Z` : text.toUpperCase());
    if (instant !== undefined) return instant;
    if (!/^\d+(\.\d+)?$/.test(text))
      throw this.#invalid(
        line,
        `timestamp "${text}" is no time: write RFC 3339, such as 2026-03-01T12:00:00Z, or seconds or milliseconds since 1970`,
      );
    const number = Number(text);
    return Math.round(number < SECONDS_MAX ? number * 1_000 : number);
  }

  #number(text: string, column: string, line: number): number {
    if (!/^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text))
      throw this.#invalid(
        line,
        `${column} "${text}" is not a number of at least 0: write it such as 218.69, without a unit`,
      );
    const number = Number(text);
    if (number > VALUE_MAX)
      throw this.#invalid(line, `${column} "${text}" is above ${VALUE_MAX}, the most that is read`);
    return number;
  }

  #invalid(line: number, what: string): TidemarkError {
    return new TidemarkError(
      "trace.invalid",
      `Cannot read trace "${this.#path}", line ${line}: ${what}`,
      { path: this.#path, line },
    );
  }
}

const unquoted = (cell: string): string => {
  const trimmed = cell.trim();
  const [, inside] = /^"(.*)"$/.exec(trimmed) ?? [];
  return inside === undefined ? trimmed : inside.replaceAll('""', '"').trim();
};

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
