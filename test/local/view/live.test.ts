import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { RunClock } from "../../../lib/local/engine/clock.ts";
import { liveView } from "../../../lib/local/view/live.ts";
import type { StackReader } from "../../../lib/local/view/reader.ts";

it("The live view draws nothing while nothing has changed", async () => {
  const stream = Object.assign(new PassThrough(), { columns: 120, rows: 40, isTTY: true });
  const chunks: string[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  let nowMs = Date.parse("2026-03-01T12:00:00Z");
  const clock: RunClock = { now: () => nowMs, until: async () => {}, pace: () => ({ asked: 1, reached: 1, behind: false }) };
  const reader: StackReader = { autoscalers: async () => [], newEvents: async () => [], seen: () => [] };
  const view = liveView({ stream: stream as never, reader, readings: () => [], clock, startMs: nowMs, dataOption: "" });
  await view.refresh();
  const drawn = chunks.length;
  expect(drawn).toBeGreaterThan(0);
  await view.refresh();
  expect(chunks).toHaveLength(drawn);
  nowMs += 1_000;
  await view.refresh();
  expect(chunks.length).toBeGreaterThan(drawn);
});
