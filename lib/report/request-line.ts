import type { LogLine } from "./log-lines.ts";

/** One answered request. The log has its route and never its input. */
export interface RequestReport {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly tookMs: number;
  readonly bytes: number;
  readonly by?: string;
  readonly requestId: string;
  /** The refusal or the failure. The log of a failure includes its stack. */
  readonly error?: unknown;
}

const FIRST_REFUSAL = 400;
const FIRST_FAILURE = 500;
/** Limit for the path, because an unknown path may be anything. */
const PATH_CHARACTERS_MAX = 100;

/** The log line of one request: an error for our own failure, a warning for a refusal or for an answer that could not be stored for repeats. */
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
