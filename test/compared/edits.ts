import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { NOON } from "../noon.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import type { AppliedSync } from "../policy/applied-sync.ts";
import { native, sync } from "../policy/native/world.ts";
import {
  countsText,
  eachUses,
  externalOf,
  hpaOf,
  loadAt,
  type Look,
  OWN_CPU,
  OWN_LOAD,
  podsOf,
  type ReportGroup,
  synced,
} from "./report.ts";

/** Syncs of one workload, each by the manifest that is applied by then. */
const edited = (
  replicas: number,
  steps: readonly (readonly [AutoscalerSpec, Look])[],
): readonly AppliedSync[] => {
  let state: AppliedSync | undefined;
  return steps.map(([spec, { atSeconds, ...seen }]) => {
    state = sync(spec, {
      ...seen,
      replicas: state?.count ?? replicas,
      nowMs: NOON + atSeconds * 1_000,
      windows: state?.windows ?? NEW_WINDOWS,
    });
    return state;
  });
};

const ACTIVE = { ...OWN_LOAD, activation: 0 };
const NOW = { replicas: 0, afterSeconds: 0 };
const LATER = { replicas: 0, afterSeconds: 300 };
const SLOWLY = { scaleDown: { stabilizationWindowSeconds: 300 } };

/** Faults about edits of a manifest, and about bounds. */
export const OF_EDITS: readonly ReportGroup[] = [
  {
    reports: ["kubernetes/kubernetes#110278"],
    fault:
      "the minimum is raised from 0 to 1 while the workload is at 0, and it stays at 0 for ever",
    verdict: "better",
    does: "A rest that the autoscaler made itself ends with the edit, by both rules; only a 0 that others made stays.",
    play: () => {
      const scaleDown = { stabilizationWindowSeconds: 0 };
      const hpa = (minReplicas: number) =>
        hpaOf({ minReplicas, metrics: [externalOf("10")], behavior: { scaleDown } });
      const rests = native({ idle: NOW, metrics: [ACTIVE] });
      const steps = (before: AutoscalerSpec, after: AutoscalerSpec) =>
        [
          [before, loadAt(0, 0)],
          [after, loadAt(15, 0)],
        ] as const;
      return {
        expected: "1 → 0 → 1, 1 → 0 → 1",
        got: `${countsText(1, edited(1, steps(hpa(0), hpa(1))))}, ${countsText(1, edited(1, steps(rests, native({ metrics: [ACTIVE] }))))}`,
      };
    },
  },
  {
    reports: ["kedacore/keda#5321"],
    fault: "a shorter time without use is written, and the old one goes on",
    verdict: "better",
    does: "The next sync decides by the new time, counted from when the use ended.",
    play: () => {
      const spec = (idle: object) => native({ idle, metrics: [ACTIVE] });
      const steps = [
        [spec(LATER), loadAt(0, 0)],
        [spec(LATER), loadAt(60, 0)],
        [spec({ ...LATER, afterSeconds: 75 }), loadAt(75, 0)],
      ] as const;
      return { expected: "3 → 1 → 1 → 0", got: countsText(3, edited(3, steps)) };
    },
  },
  {
    reports: ["kedacore/keda#4578"],
    fault: "the target is edited, and all pods that were scaled are taken away",
    verdict: "better",
    does: "The windows stay with the autoscaler: what was wanted before the edit holds until it is old.",
    play: () => {
      const spec = (target: number) => native({ metrics: [{ ...OWN_LOAD, target }], ...SLOWLY });
      const steps = [
        [spec(10), loadAt(0, 100)],
        [spec(20), loadAt(15, 100)],
        [spec(20), loadAt(310, 100)],
      ] as const;
      return { expected: "10 → 10 → 10 → 5", got: countsText(10, edited(10, steps)) };
    },
  },
  {
    reports: ["kubernetes/kubernetes#49028"],
    fault: "without load the count swings between 1 and the minimum",
    verdict: "the same, right",
    does: "The minimum is the least that is written.",
    play: () => {
      const spec = hpaOf({ minReplicas: 15, maxReplicas: 60, metrics: [externalOf("10")] });
      const looks = [0, 15, 400, 415].map((seconds) => loadAt(seconds, 0));
      return { expected: "15 → 15 → 15 → 15 → 15", got: countsText(15, synced(spec, 15, looks)) };
    },
  },
  {
    reports: [
      "kubernetes/kubernetes#115162",
      "kubernetes/kubernetes#65097",
      "knative/serving#4993",
      "estafette/estafette-k8s-hpa-scaler#3",
    ],
    fault: "after a quiet moment nearly all pods go in one step",
    verdict: "the same",
    does: "An HPA has the default of Kubernetes. `scaleDown.policies` of both manifests limit each step, and `replay` shows what another policy would have done.",
    play: () => {
      const policies = [{ type: "Percent", value: 25, periodSeconds: 60 }];
      const scaleDown = { policies, stabilizationWindowSeconds: 0 };
      const looks = [0, 61, 122].map((seconds) => loadAt(seconds, 10));
      const fast = hpaOf({
        metrics: [externalOf("10")],
        behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
      });
      const slow = native({ metrics: [OWN_LOAD], scaleDown });
      return {
        expected: "100 → 1 → 1 → 1, 100 → 75 → 56 → 42",
        got: [fast, slow].map((spec) => countsText(100, synced(spec, 100, looks))).join(", "),
      };
    },
  },
  {
    reports: ["kedacore/keda#6450"],
    fault: "a fallback takes pods away from a workload that has more",
    verdict: "better",
    does: "A fallback is the least count, and nothing shrinks while a metric is missing.",
    play: () => {
      const onMissing = { action: "fallback", replicas: 5, afterSeconds: 60 };
      const spec = native({ metrics: [{ ...OWN_LOAD, onMissing }] });
      const looks = [loadAt(0, 200), loadAt(15), loadAt(90), loadAt(600)];
      return { expected: "20 → 20 → 20 → 20 → 20", got: countsText(20, synced(spec, 20, looks)) };
    },
  },
  {
    reports: ["kedacore/keda#4591", "kedacore/keda#6414", "kedacore/keda#6863"],
    fault: "a CPU trigger beside another one keeps the workload from 0",
    verdict: "better",
    does: "Only metrics with `activation` decide whether it is in use, and a metric of pods needs no pods at rest.",
    play: () => {
      const spec = native({ idle: NOW, metrics: [ACTIVE, { name: "cpu", ...OWN_CPU }] });
      const pods = podsOf(3);
      const looks = [
        { ...loadAt(0, 0), pods, usage: eachUses(pods, 30n) },
        { ...loadAt(15, 0), pods: [] },
        { ...loadAt(30, 5), pods: [] },
      ];
      return { expected: "3 → 0 → 0 → 1", got: countsText(3, synced(spec, 3, looks)) };
    },
  },
  {
    reports: ["kedacore/keda#4995"],
    fault:
      "a workload with a minimum of 2 and an idle count of 0 goes to 0, which its documentation denies",
    verdict: "another way",
    does: "It goes to 0 here too: `minReplicas` holds while the workload is in use, and the idle count while it is not.",
    play: () => {
      const spec = native({ minReplicas: 2, idle: NOW, metrics: [ACTIVE] });
      const looks = [loadAt(0, 0), loadAt(15, 1)];
      return { expected: "2 → 0 → 2", got: countsText(2, synced(spec, 2, looks)) };
    },
  },
  {
    reports: ["kedacore/keda#523", "kedacore/keda#3052"],
    fault: "a workload that was created with 0 replicas is not raised to its minimum",
    verdict: "another way",
    does: "It stays, as with an HPA: who made the 0 is not known, and it may be a stop. The reason (`ScalingDisabled`) says so; with an idle count it wakes.",
    play: () => {
      const looks = [loadAt(0, 50)];
      const plain = countsText(0, synced(native({ metrics: [OWN_LOAD] }), 0, looks));
      const idle = native({ idle: NOW, metrics: [ACTIVE] });
      return {
        expected: "0 → 0, 0 → 1",
        got: `${plain}, ${countsText(0, synced(idle, 0, looks))}`,
      };
    },
  },
];
