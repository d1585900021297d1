import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { RunClock } from "../../../lib/embedded/engine/clock.ts";
import { liveView } from "../../../lib/embedded/view/live.ts";
import type { StackReader } from "../../../lib/embedded/view/reader.ts";
import type { AutoscalerView } from "../../../lib/answers/views/autoscaler.ts";
import type { EventView } from "../../../lib/answers/views/event.ts";

const autoscaler = (name: string): AutoscalerView => ({
  cluster: "real",
  namespace: "shop",
  name,
  uid: name,
  generation: 1,
  dialect: "hpa",
  state: "active",
  currentReplicas: 4,
  desiredReplicas: 4,
  metrics: [],
  conditions: [],
  createdAt: "2026-03-01T12:00:00.000Z",
  updatedAt: "2026-03-01T12:00:00.000Z",
  updatedBy: "ada",
  manifest: {},
});

it("The live view draws nothing while nothing has changed", async () => {
  const stream = Object.assign(new PassThrough(), { columns: 120, rows: 40, isTTY: true });
  const chunks: string[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  let nowMs = Date.parse("2026-03-01T12:00:00Z");
  const clock: RunClock = {
    now: () => nowMs,
    until: async () => {},
    pace: () => ({ wanted: 1, reached: 1, behind: false }),
  };
  const reader: StackReader = {
    autoscalers: async () => [],
    total: () => 0,
    newEvents: async () => [],
    eventsSince: async () => [],
    seen: () => [],
  };
  const view = liveView({ stream: stream as never, reader, clock, startMs: nowMs, dataOption: "" });
  await view.refresh();
  const drawn = chunks.length;
  expect(drawn).toBeGreaterThan(0);
  await view.refresh();
  expect(chunks).toHaveLength(drawn);
  nowMs += 1_000;
  await view.refresh();
  expect(chunks.length).toBeGreaterThan(drawn);
});

it("The live view reads no more autoscalers than its screen shows, and tells how many others there are", async () => {
  const stream = Object.assign(new PassThrough(), { columns: 120, rows: 20, isTTY: true });
  let drawn = "";
  stream.on("data", (chunk: Buffer) => {
    drawn += chunk.toString();
  });
  const asked: (number | undefined)[] = [];
  const view = (most = 0): AutoscalerView[] =>
    Array.from({ length: most }, (_, at) => autoscaler(`web-${at}`));
  const reader: StackReader = {
    autoscalers: async (most) => {
      asked.push(most);
      return view(most);
    },
    total: () => 1_000,
    newEvents: async () => [],
    eventsSince: async () => [],
    seen: () => [],
  };
  const nowMs = Date.parse("2026-03-01T12:00:00Z");
  const clock: RunClock = {
    now: () => nowMs,
    until: async () => {},
    pace: () => ({ wanted: 1, reached: 1, behind: false }),
  };
  const live = liveView({ stream: stream as never, reader, clock, startMs: nowMs, dataOption: "" });
  await live.refresh();
  expect(asked).toHaveLength(1);
  expect(asked[0]).toBeLessThan(20);
  const shown = new Set(drawn.match(/web-\d+/g)).size;
  expect(shown).toBeGreaterThan(1);
  expect(drawn).toContain(`and ${1_000 - shown} more`);
  stream.rows = 40;
  await live.refresh();
  expect(asked[1]).toBeGreaterThan(asked[0] ?? 0);
});

it("The live view keeps the scales of each autoscaler, however many others have since", async () => {
  const stream = Object.assign(new PassThrough(), { columns: 120, rows: 40, isTTY: true });
  let drawn = "";
  stream.on("data", (chunk: Buffer) => {
    drawn += chunk.toString();
  });
  const nowMs = Date.parse("2026-03-01T12:00:00Z");
  const scaled = (uid: string, id: number): EventView =>
    ({
      id: `${uid}:${id}`,
      uid,
      at: "2026-03-01T11:55:00.000Z",
      namespace: "shop",
      name: uid,
      from: 2,
      to: 4,
      reason: "ScaleUp",
      message: "",
      outcome: "applied",
    }) as Partial<EventView> as EventView;
  const waves = [[scaled("web", 1)], Array.from({ length: 300 }, (_, at) => scaled("api", at))];
  const seen: AutoscalerView = { ...autoscaler("web"), syncedAt: "2026-03-01T11:55:00.000Z" };
  const reader: StackReader = {
    autoscalers: async () => [{ ...seen }],
    total: () => 2,
    newEvents: async () => waves.shift() ?? [],
    eventsSince: async () => [],
    seen: () => [],
  };
  const clock: RunClock = {
    now: () => nowMs,
    until: async () => {},
    pace: () => ({ wanted: 1, reached: 1, behind: false }),
  };
  const live = liveView({
    stream: stream as never,
    reader,
    clock,
    startMs: nowMs - 600_000,
    dataOption: "",
  });
  await live.refresh();
  await live.refresh();
  drawn = "";
  stream.columns = 119;
  await live.refresh();
  expect(drawn).toMatch(/held by[^\n]*▲/);
});
