import type { Exchange } from "./exchange.ts";

/** What a read does after an exchange. PUTs are never repeated. */
export type NextStep =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly afterMs: number; readonly because: "stale" | "unauthorized" | "retry-after" };

export interface Tried {
  readonly stale: number;
  readonly unauthorized: number;
  readonly waits: number;
}

export const NOTHING_TRIED: Tried = { stale: 0, unauthorized: 0, waits: 0 };

const DONE: NextStep = { kind: "done" };

/**
 * A read is repeated when its idle connection was closed by the server (once), when its token was refused (once, with a new one), and after 429 or 5xx with
 * Retry-After, if the remaining time allows it.
 */
export const afterRead = (outcome: Exchange, tried: Tried, limits: { readonly remainingMs: number; readonly maxWaits: number }): NextStep => {
  if (outcome.kind === "broken") {
    const stale = outcome.because === "network" && outcome.reused && !outcome.answering && tried.stale === 0;
    return stale ? { kind: "again", afterMs: 0, because: "stale" } : DONE;
  }
  if (outcome.status === 401) return tried.unauthorized === 0 ? { kind: "again", afterMs: 0, because: "unauthorized" } : DONE;
  if (outcome.status !== 429 && outcome.status < 500) return DONE;
  const afterMs = retryAfterMs(outcome.headers["retry-after"]);
  if (afterMs === undefined || tried.waits >= limits.maxWaits || afterMs >= limits.remainingMs) return DONE;
  return { kind: "again", afterMs, because: "retry-after" };
};

/** Milliseconds of Retry-After. Kubernetes only sends whole seconds. The date form of HTTP is ignored, because it needs the clock of the server. */
const retryAfterMs = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
