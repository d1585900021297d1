import { describe, expect, it } from "vitest";
import type { MetricOutcome, MetricPods } from "../../lib/rules/model/decision.ts";
import { podRemarks } from "../../lib/stack/report/objects/pod-remarks.ts";

const metric = (pods: MetricPods): MetricOutcome => ({
  ...{ name: "cpu", type: "Resource", kind: "measured", value: "41%", target: "60%", proposal: 3 },
  pods,
});
const of = (pods: MetricPods, ownOnly = false) => podRemarks({ metrics: [metric(pods)] }, ownOnly);

describe("what is said of the pods behind a metric", () => {
  it("is nothing where all pods are the target's, run, and have young samples", () => {
    expect(of({ matched: 4, owned: 4, counted: 4, oldestSeconds: 180 })).toEqual([]);
    // Who owns them cannot be said.
    expect(of({ matched: 4 })).toEqual([]);
    expect(podRemarks({ metrics: [] }, false)).toEqual([]);
  });

  it.each<[string, MetricPods, boolean, string]>([
    [
      "ForeignPods",
      { matched: 6, owned: 2 },
      false,
      "6 pods match the selector and 2 belong to the target: the rules do not leave out the others",
    ],
    [
      "ForeignPods",
      { matched: 6, owned: 2 },
      true,
      "6 pods match the selector and 2 belong to the target: the others do not count",
    ],
    [
      "FinishedPods",
      { matched: 10, owned: 10, finished: 6 },
      false,
      "6 of 10 pods that match the selector have ended: the rules do not leave them out",
    ],
    [
      "FinishedPods",
      { matched: 5, owned: 5, finished: 1 },
      true,
      "1 of 5 pods that match the selector has ended: they do not count",
    ],
    [
      "OldSamples",
      { matched: 12, owned: 12, counted: 12, oldestSeconds: 181 },
      false,
      "the oldest sample of 12 pods is 181 s old, and counts",
    ],
    [
      "OldSamples",
      { matched: 4, owned: 4, counted: 2, missing: 2, stale: 2, oldestSeconds: 10 },
      true,
      "2 pods have samples older than maxAgeSeconds, and count as without one",
    ],
    [
      "RolloutUnderWay",
      { matched: 13, owned: 13, otherRevision: 3 },
      true,
      "3 of 13 pods have another revision than most: a rollout is under way",
    ],
  ])("%s: %o, own pods only: %s", (reason, pods, ownOnly, message) => {
    expect(of(pods, ownOnly)).toEqual([{ reason, message }]);
  });

  it("is nothing of ended pods that the rules have left out", () => {
    expect(of({ matched: 10, owned: 10, finished: 6, leftOut: 6 })).toEqual([]);
  });

  it("is each thing once, whichever metric shows it", () => {
    const metrics = [
      metric({ matched: 2, owned: 2 }),
      metric({ matched: 6, owned: 2, finished: 1 }),
    ];
    const reasons = podRemarks({ metrics: [...metrics, ...metrics] }, false).map(
      ({ reason }) => reason,
    );
    expect(reasons).toEqual(["ForeignPods", "FinishedPods"]);
  });

  it("is first that the cluster refuses pods, with the words of the workload's controller", () => {
    const podsRefused = { reason: "FailedCreate", message: "exceeded quota: shop" };
    const metrics = [metric({ matched: 6, owned: 2 })];
    expect(podRemarks({ metrics, podsRefused }, true)).toEqual([
      {
        reason: "PodsRefused",
        message: "the cluster refuses pods of the target (FailedCreate): exceeded quota: shop",
      },
      expect.objectContaining({ reason: "ForeignPods" }),
    ]);
  });
});
