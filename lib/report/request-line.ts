import type { LogLine } from "./log-lines.ts";

/** One answered request, as the log tells it: which route, never what was given to it. */
export interface RequestReport {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly tookMs: number;
  readonly bytes: number;
  readonly by?: string;
  readonly requestId: string;
  /** What was refused or failed: where we failed with its stack, for the log alone. */
  readonly error?: unknown;
}

const FIRST_REFUSAL = 400;
const FIRST_FAILURE = 500;
/** Of a path that nobody has, which may be anything. */
const PATH_CHARACTERS_MAX = 100;

/** The line of one request: an error where we failed, a warning where the caller was refused, or where an answer could not be kept for repeats. */
export const requestLine = ({ path, error, ...report }: RequestReport): LogLine => {
  const level = report.status >= FIRST_FAILURE ? "error" : report.status >= FIRST_REFUSAL || error !== undefined ? "warn" : "info";
  const shown = path.slice(0, PATH_CHARACTERS_MAX);
  return {
    level,
    message: `Answered ${report.method} ${shown} with ${report.status}`,
    fields: { ...report, path: shown, ...wordsOf(report.status, error) },
  };
};

const wordsOf = (status: number, error: unknown): LogLine["fields"] => {
  if (error === undefined) return {};
  const thrown = error instanceof Error ? error : new Error(String(error));
  if (status >= FIRST_FAILURE) return { error: thrown };
  return status >= FIRST_REFUSAL ? { refusal: thrown.message } : { unkept: thrown.message };
};
