import { describe, expect, it } from "vitest";
import type { Exchange } from "../../lib/stack/cluster/transport/exchange.ts";
import {
  afterRead,
  NOTHING_TRIED,
  type Tried,
} from "../../lib/stack/cluster/transport/transport.ts";

const answered = (status: number, retryAfter?: string): Exchange => ({
  kind: "answered",
  status,
  headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
  bytes: Buffer.alloc(0),
  wireBytes: 0,
});
const broken = (more: object = {}): Exchange => ({
  kind: "broken",
  because: "network",
  error: new Error("reset"),
  sent: true,
  reused: true,
  answering: false,
  wireBytes: 0,
  cut: { headers: {}, chunks: [] },
  ...more,
});
const LIMITS = { remainingMs: 2_000, maxWaits: 3 };
const after = (outcome: Exchange, tried: Partial<Tried> = {}) => {
  const next = afterRead(outcome, { ...NOTHING_TRIED, ...tried }, LIMITS);
  return next.kind === "done" ? "done" : `${next.because} after ${next.afterMs}`;
};

describe("afterRead()", () => {
  it.each<[string, Exchange, Partial<Tried>, string]>([
    ["an answer", answered(200), {}, "done"],
    ["a refusal", answered(404), {}, "done"],
    ["a 401", answered(401), {}, "unauthorized after 0"],
    ["a second 401", answered(401), { unauthorized: 1 }, "done"],
    ["a 429 with Retry-After", answered(429, "1"), {}, "retry-after after 1000"],
    ["a 429 without", answered(429), {}, "done"],
    ["a 503 with Retry-After", answered(503, "0"), {}, "retry-after after 0"],
    ["a 500 without", answered(500), {}, "done"],
    ["a 404 with Retry-After", answered(404, "1"), {}, "done"],
    [
      "a Retry-After just inside the time left",
      answered(429, "1"),
      { waits: 2 },
      "retry-after after 1000",
    ],
    ["a Retry-After that would use up the time left", answered(429, "2"), {}, "done"],
    ["a fourth wait", answered(429, "0"), { waits: 3 }, "done"],
    ["a Retry-After that is a date", answered(429, "Fri, 01 May 2026 12:00:00 GMT"), {}, "done"],
    ["an idle connection found closed", broken(), {}, "stale after 0"],
    ["a second one", broken(), { stale: 1 }, "done"],
    ["a new connection that broke", broken({ reused: false }), {}, "done"],
    ["a connection that broke inside the answer", broken({ answering: true }), {}, "done"],
    ["a timeout on an idle connection", broken({ because: "timeout" }), {}, "done"],
  ])("decides what comes after %s", (_name, outcome, tried, next) => {
    expect(after(outcome, tried)).toBe(next);
  });
});
