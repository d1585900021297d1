import { describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/model/ids.ts";
import type { Intent } from "../../lib/model/records.ts";
import { completeBeforeMs } from "../../lib/service/series/scaled-totals.ts";
import type { Head } from "../../lib/store/head/head.ts";

const intent = (decidedMs: number): Intent => ({
  id: `uid-1:${decidedMs}`,
  uid: autoscalerUid("uid-1"),
  namespace: namespace("shop"),
  name: autoscalerName("web"),
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  from: 1,
  to: 2,
  targetUid: "u",
  resourceVersion: "1",
  decidedMs,
  deadlineMs: decidedMs + 1,
  specGeneration: 1,
  because: { reason: "R", message: "m" },
  metrics: [],
  steps: [],
});

const head = (nowMs: number, decided: readonly number[] = [], unreadable: Head["unreadable"] = []): Head => ({
  epoch: 1,
  releasedEpoch: 1,
  protocol: 1,
  leaseUntilMs: 0,
  dueDoneMs: 0,
  evaluatedMs: nowMs,
  nowMs,
  specVersion: 1,
  writeNumber: 1,
  token: "",
  pageGeneration: 1,
  pages: [1],
  intents: decided.map(intent),
  uncounted: [],
  unreadable,
});

describe("completeBeforeMs()", () => {
  it.each([
    ["one partition", [head(500)], 500],
    ["the partition that is furthest behind", [head(500), head(300), head(400)], 300],
    ["the oldest open intent", [head(500, [450, 200, 350]), head(300)], 200],
    ["a partition that never synced", [head(500), undefined], 0],
    ["an intent that cannot be read", [head(500, [], [{ id: "uid-1:1", body: new Uint8Array(), message: "it is damaged" }])], 0],
  ])("follows %s", (_, heads, ms) => {
    expect(completeBeforeMs(heads)).toBe(ms);
  });
});
