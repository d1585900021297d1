import { describe, expect, it } from "vitest";
import { type RequestReport, requestLine } from "../../lib/stack/report/function-lines.ts";

const report = (status: number, more: Partial<RequestReport> = {}): RequestReport => ({
  method: "GET",
  path: "/v1/events",
  status,
  tookMs: 12,
  bytes: 34,
  requestId: "r-1",
  by: "arn:aws:iam::1:user/ada",
  ...more,
});

describe("requestLine()", () => {
  it.each([
    [200, "info"],
    [399, "info"],
    [400, "warn"],
    [499, "warn"],
    [500, "error"],
    [503, "error"],
  ])("tells %i as %s", (status, level) => {
    expect(requestLine(report(status))).toEqual({
      level,
      message: `Answered GET /v1/events with ${status}`,
      fields: {
        method: "GET",
        path: "/v1/events",
        status,
        tookMs: 12,
        bytes: 34,
        requestId: "r-1",
        by: "arn:aws:iam::1:user/ada",
      },
    });
  });

  it("has the words of a refusal, and the whole error of a failure", () => {
    const error = new Error("no such thing");
    expect(requestLine(report(404, { error })).fields).toMatchObject({ refusal: "no such thing" });
    expect(requestLine(report(500, { error })).fields["error"]).toBe(error);
    expect(requestLine(report(500, { error: "odd" })).fields["error"]).toEqual(new Error("odd"));
  });

  it("warns of an answer that repeats will not be told", () => {
    expect(requestLine(report(200, { error: new Error("history is full") }))).toMatchObject({
      level: "warn",
      fields: { unkept: "history is full" },
    });
  });

  it("cuts an unknown path short", () => {
    const { message, fields } = requestLine(report(404, { path: `/${"x".repeat(5_000)}` }));
    expect([message.length, String(fields["path"]).length]).toEqual([122, 100]);
  });
});
