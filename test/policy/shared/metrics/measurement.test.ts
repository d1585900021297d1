import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../lib/rules/model/observation.ts";
import { groupPods } from "../../../../lib/rules/policy/shared/metrics/measurement.ts";
import type { PodSample } from "../../../../lib/rules/sources/source.ts";
import { readyPod } from "../../../observation.ts";

const NOW_MS = 10_000_000;
const READINESS = {
  nowMs: NOW_MS,
  cpuInitializationPeriodMs: 300_000,
  initialReadinessDelayMs: 30_000,
};
const SAMPLE: PodSample = { milli: 1n, timestampMs: NOW_MS - 10_000, windowMs: 30_000 };

const classOf = (
  more: Partial<Pod>,
  resource: string,
  sample: PodSample | undefined = SAMPLE,
): string => {
  const groups = groupPods(
    [readyPod("web-1", 1n, more)],
    sample ? new Map([["web-1", sample]]) : new Map(),
    resource,
    READINESS,
  );
  const names = (["unready", "missing", "ignored"] as const).filter((group) =>
    groups[group].includes("web-1"),
  );
  return groups.ready === 1 ? "ready" : names.join();
};
const withoutSample = (more: Partial<Pod>, resource: string): string => {
  const groups = groupPods([readyPod("web-1", 1n, more)], new Map(), resource, READINESS);
  return groups.missing.length + groups.ignored.length * 10 + groups.unready.length * 100 === 1
    ? "missing"
    : classOf(more, resource);
};

const { startMs: _, ready: __, ...bare } = readyPod("web-1", 1n);
const young = NOW_MS - 300_000 + 1;
const old = NOW_MS - 300_000;

describe("groupPods()", () => {
  it.each<[string, Partial<Pod>, string, string]>([
    ["being deleted", { deleting: true, phase: "Pending" }, "cpu", "ignored"],
    ["failed", { phase: "Failed" }, "memory", "ignored"],
    ["pending, though it has a sample", { phase: "Pending" }, "", "unready"],
    ["of unknown phase", { phase: "Unknown" }, "cpu", "ready"],
    ["succeeded", { phase: "Succeeded" }, "cpu", "ready"],
    ["not ready, for memory", { ready: { status: "False", transitionMs: 0 } }, "memory", "ready"],
    ["not ready, for a Pods metric", { ready: { status: "False", transitionMs: 0 } }, "", "ready"],
    [
      "young and not ready",
      { startMs: young, ready: { status: "False", transitionMs: 0 } },
      "cpu",
      "unready",
    ],
    [
      "young and ready since before the sample's window",
      { startMs: young, ready: { status: "True", transitionMs: NOW_MS - 40_000 } },
      "cpu",
      "ready",
    ],
    [
      "young and ready inside the sample's window",
      { startMs: young, ready: { status: "True", transitionMs: NOW_MS - 39_999 } },
      "cpu",
      "unready",
    ],
    [
      "just old enough, whatever the sample's window",
      { startMs: old, ready: { status: "True", transitionMs: NOW_MS } },
      "cpu",
      "ready",
    ],
    [
      "old, never ready since its start",
      { startMs: old, ready: { status: "False", transitionMs: old + 29_999 } },
      "cpu",
      "unready",
    ],
    [
      "old, fallen back after the delay",
      { startMs: old, ready: { status: "False", transitionMs: old + 30_000 } },
      "cpu",
      "ready",
    ],
    [
      "old, of unknown readiness",
      { startMs: old, ready: { status: "Unknown", transitionMs: old } },
      "cpu",
      "ready",
    ],
  ])("puts a pod into its group that is %s", (_name, more, resource, expected) => {
    expect(classOf(more, resource)).toBe(expected);
  });

  it("counts a pod without a sample as missing, and without start or readiness as unready for cpu", () => {
    expect(withoutSample({}, "cpu")).toBe("missing");
    const group = (pod: Pod, resource: string) =>
      groupPods([pod], new Map([["web-1", SAMPLE]]), resource, READINESS);
    expect(group(bare, "cpu").unready).toEqual(["web-1"]);
    expect(group({ ...bare, startMs: 0 }, "cpu").unready).toEqual(["web-1"]);
    expect(group({ ...bare, ready: { status: "True", transitionMs: 0 } }, "cpu").unready).toEqual([
      "web-1",
    ]);
    expect(group(bare, "memory").ready).toBe(1);
  });
});
