import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Transport, WriteAnswer } from "../../lib/stack/cluster/transport/transport.ts";
import { budgetOf, transportTo } from "./stand-in/connected.ts";
import { type Answer, json, type StandIn, standIn, status } from "./stand-in/server.ts";

/** What a server, a proxy or the network may do to one request. */
type Deed =
  | { readonly kind: "hang" | "reset" | "cut" | "garbage" | "gzip garbage" | "close" }
  | { readonly kind: "status"; readonly code: number; readonly retryAfter?: string }
  | { readonly kind: "late"; readonly afterMs: number };

const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.constantFrom<Deed>(
    { kind: "hang" },
    { kind: "reset" },
    { kind: "cut" },
    { kind: "garbage" },
    { kind: "gzip garbage" },
    { kind: "close" },
  ),
  fc.record({
    kind: fc.constant("status" as const),
    code: fc.constantFrom(200, 301, 401, 403, 404, 408, 409, 410, 429, 500, 503, 504),
  }),
  fc.record({
    kind: fc.constant("status" as const),
    code: fc.constantFrom(429, 503),
    retryAfter: fc.constantFrom("0", "1", "-1", "soon", "99999999999"),
  }),
  fc.record({ kind: fc.constant("late" as const), afterMs: fc.integer({ min: 0, max: 300 }) }),
);

const done: Record<Exclude<Deed["kind"], "status" | "late">, Answer> = {
  hang: () => undefined,
  reset: (_seen, _response, socket) => socket.destroy(),
  cut: (_seen, response, socket) =>
    void response.writeHead(200, { "content-length": "50" }).write('{"a":', () => socket.destroy()),
  garbage: (_seen, response) => response.end("{]"),
  "gzip garbage": (_seen, response) =>
    void response.writeHead(200, { "content-encoding": "gzip" }).end("\u001f\u008bnope"),
  close: (_seen, response) => void response.writeHead(200, { connection: "close" }).end("{}"),
};

const answerOf = (what: Deed): Answer => {
  if (what.kind === "status")
    return status(
      what.code,
      "Some",
      "words",
      what.retryAfter === undefined ? {} : { "retry-after": what.retryAfter },
    );
  if (what.kind === "late")
    return (...call) => setTimeout(() => json(200, {})(...call), what.afterMs);
  return done[what.kind];
};

const BUDGET_MS = 150;
/** Timers fire late on a busy machine; a call that ignores its deadline would be later by far. */
const SLACK_MS = 1_500;

let server: StandIn;
let transport: Transport;
beforeAll(async () => {
  server = await standIn();
});
afterAll(() => server.close());
beforeEach(() => {
  server.seen.length = 0;
  transport = transportTo(server);
});

const playing = (deeds: readonly Deed[]): void => {
  let at = 0;
  server.seen.length = 0;
  server.answer = (...call) => answerOf(deeds[at++ % deeds.length] ?? { kind: "hang" })(...call);
};

/**
 * On a busy machine the budget may end before the request has left: then it was refused, or its
 * outcome is unknown.
 */
const expectHonest = (answer: WriteAnswer, seen: number, what: Deed): void => {
  const good =
    (what.kind === "status" && what.code === 200) || what.kind === "close" || what.kind === "late";
  const outcome = answer.kind === "written" ? "written" : answer.sent ? "unclear" : "not sent";
  expect(
    seen === 0 ? ["unclear", "not sent"] : good ? ["written", "unclear"] : ["unclear"],
  ).toContain(outcome);
  expect(seen).toBeLessThanOrEqual(1);
};

describe("whatever a server does", () => {
  it("get() always ends in time, with a value", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 6 }), async (deeds) => {
        playing(deeds);
        const before = performance.now();
        const answer = await transport.get(
          { path: "/api/v1/pods", resource: "pods" },
          budgetOf(BUDGET_MS),
        );
        expect(performance.now() - before).toBeLessThan(BUDGET_MS + SLACK_MS);
        if (answer.kind === "failed") expect(answer.failure.message).not.toBe("");
      }),
      { numRuns: 40 },
    );
  });

  it("put() never sends twice, and never takes silence for an answer", async () => {
    await fc.assert(
      fc.asyncProperty(fc.boolean(), deed, async (warm, what) => {
        playing([{ kind: "status", code: 200 }]);
        if (warm) await transport.get({ path: "/api/v1/pods", resource: "pods" }, budgetOf());
        playing([what]);
        const before = performance.now();
        const answer = await transport.put(
          { path: "/scale", resource: "deployments.apps", body: {} },
          BUDGET_MS,
        );
        expect(performance.now() - before).toBeLessThan(BUDGET_MS + SLACK_MS);
        expectHonest(answer, server.seen.length, what);
      }),
      { numRuns: 60 },
    );
  });
});
