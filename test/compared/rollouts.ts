import { labelIndex } from "../../lib/rules/model/selector.ts";
import { answersOf } from "../answers.ts";
import { NOON } from "../noon.ts";
import { podUsage, scaleRead } from "../observation.ts";
import { native } from "../policy/native/world.ts";
import {
  countsText,
  cpuOf,
  eachUses,
  externalOf,
  hpaOf,
  type Look,
  loadAt,
  OWN_CPU,
  OWN_LOAD,
  podsOf,
  type ReportGroup,
  synced,
  wpaOf,
} from "./report.ts";

const NOT_READY = { ready: { status: "False", transitionMs: 0 } } as const;

/** A look at a workload whose rollout has pods beyond its count. */
const surge = (load: number, counts: { readonly spec: number; readonly status: number }): Look => ({
  atSeconds: 0,
  values: { load },
  pods: podsOf(counts.status),
  observed: {
    scale: scaleRead(counts.spec, { selector: "app=web", statusReplicas: counts.status }),
  },
});

/** Faults about rollouts, starts of pods, and starts of the autoscaler. */
export const OF_ROLLOUTS: readonly ReportGroup[] = [
  {
    reports: [
      "kubernetes/kubernetes#138505",
      "kubernetes/kubernetes#79274",
      "argoproj/argo-rollouts#4847",
    ],
    fault: "an average within its tolerance writes the surge of a rollout into the count",
    verdict: "better",
    does: "A PodAutoscaler keeps the count. An HPA grows as in Kubernetes 1.37, and its reason says that the count is of the pods that are there.",
    play: () => {
      const look = surge(104, { spec: 10, status: 11 });
      const hpa = synced(hpaOf({ metrics: [externalOf("10")] }), 10, [look]);
      const said = hpa[0]?.decision.because.message.split("; ")[1];
      const own = synced(native({ metrics: [OWN_LOAD] }), 10, [look]);
      return {
        expected:
          "10 → 11 (within its tolerance an average takes the 11 pods of the status for the count, and the scale asks for 10), 10 → 10",
        got: `${countsText(10, hpa)} (${said}), ${countsText(10, own)}`,
      };
    },
  },
  {
    reports: [
      "kubernetes/kubernetes#72775",
      "kubernetes/kubernetes#84142",
      "kubernetes/kubernetes#87199",
    ],
    fault: "a rollout without load adds pods until the maximum is reached",
    verdict: "the same, right",
    does: "Pods that have no value yet never turn fewer pods into more.",
    play: () => {
      const old = podsOf(4);
      const crashing = podsOf(4, { ...NOT_READY, phase: "Pending" }, 4);
      const look = { atSeconds: 0, pods: [...old, ...crashing], usage: eachUses(old, 20n) };
      const own = native({ metrics: [OWN_CPU], scaleDown: { stabilizationWindowSeconds: 300 } });
      return {
        expected: "4 → 4, 4 → 4",
        got: `${countsText(4, synced(hpaOf({ metrics: [cpuOf(50)] }), 4, [look]))}, ${countsText(4, synced(own, 4, [look]))}`,
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#29989", "kubernetes/kubernetes#71255"],
    fault: "pods that use much OWN_CPU while they start bring the count to the maximum",
    verdict: "the same, right",
    does: "A pod counts once it is ready, or once its time to start is over; `explain` says how many are left out.",
    play: () => {
      const ready = podsOf(3);
      const starting = podsOf(1, NOT_READY, 3);
      const pods = [...ready, ...starting];
      const usage = { ...eachUses(ready, 50n), ...eachUses(starting, 2_000n) };
      const look = { atSeconds: 0, pods, usage };
      return {
        expected: "4 → 4, 4 → 4",
        got: `${countsText(4, synced(hpaOf({ metrics: [cpuOf(50)] }), 4, [look]))}, ${countsText(4, synced(native({ metrics: [OWN_CPU] }), 4, [look]))}`,
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#119991"],
    fault: "sidecars that are init containers are measured, and their requests are not counted",
    verdict: "the same, right",
    does: "The requests of init containers that restart count.",
    play: () => {
      const sidecar = { name: "proxy", requests: { cpu: 100n }, limits: {}, restartable: true };
      const pods = podsOf(2).map((one) => ({ ...one, containers: [...one.containers, sidecar] }));
      const look = { atSeconds: 0, pods, usage: eachUses(pods, 100n) };
      return {
        expected: "2 → 2, 2 → 2",
        got: `${countsText(2, synced(hpaOf({ metrics: [cpuOf(50)] }), 2, [look]))}, ${countsText(2, synced(native({ metrics: [OWN_CPU] }), 2, [look]))}`,
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#59888", "kubernetes/kubernetes#75247"],
    fault: "more than the maximum is wanted or there, and the count does not come to the maximum",
    verdict: "the same, right",
    does: "It comes to the maximum, also where no metric can be read.",
    play: () => {
      const spec = hpaOf({ maxReplicas: 15, metrics: [externalOf("10")] });
      const up = synced(spec, 10, [{ atSeconds: 0, values: { load: 900 } }]);
      const down = synced(spec, 16, [{ atSeconds: 0 }]);
      return {
        expected: "10 → 15, 16 → 15",
        got: `${countsText(10, up)}, ${countsText(16, down)}`,
      };
    },
  },
  {
    reports: ["knative/serving#2705", "knative/serving#2930"],
    fault: "the autoscaler is started anew, has no memory, and takes pods away at once",
    verdict: "better",
    does: "No process has a memory: each sync begins with the windows of the table, and shrinks by nothing while a metric is missing.",
    play: () => {
      const spec = native({ metrics: [OWN_LOAD], scaleDown: { stabilizationWindowSeconds: 300 } });
      return {
        expected: "10 → 10 → 10 → 10 → 1",
        got: countsText(
          10,
          synced(spec, 10, [loadAt(0, 100), loadAt(15), loadAt(30, 0), loadAt(302, 0)]),
        ),
      };
    },
  },
  {
    reports: ["kedacore/keda#5371", "kedacore/keda#5409", "kedacore/keda#5666"],
    fault: "with a formula of several triggers the fallback is multiplied, or comes and goes",
    verdict: "better",
    does: "A formula has one fallback, and it stays until each of its metrics is back.",
    play: () => {
      const part = (name: string) => ({ name, external: { metric: name }, input: true });
      const formula = {
        name: "both",
        formula: { expression: "max(first, second)" },
        measure: "Average",
        target: 1,
        onMissing: { action: "fallback", replicas: 12, afterSeconds: 60 },
      };
      const spec = native({ metrics: [part("first"), part("second"), formula] });
      const looks = [0, 15, 75, 90, 105].map((atSeconds) => ({
        atSeconds,
        values: atSeconds === 0 ? { first: 3, second: 2 } : atSeconds === 90 ? { first: 3 } : {},
      }));
      return { expected: "3 → 3 → 3 → 12 → 12 → 12", got: countsText(3, synced(spec, 3, looks)) };
    },
  },
  {
    reports: ["kedacore/keda#6475"],
    fault: "the fallback acts while a source fails, and not while the metrics API fails",
    verdict: "better",
    does: "A fallback counts the time without a value, whatever failed.",
    play: () => {
      const onMissing = { action: "fallback", replicas: 12, afterSeconds: 60 };
      const spec = native({ metrics: [{ ...OWN_LOAD, onMissing }] });
      const looks = [{ atSeconds: 0, values: { load: 30 } }, { atSeconds: 15 }, { atSeconds: 75 }];
      return { expected: "3 → 3 → 3 → 12", got: countsText(3, synced(spec, 3, looks)) };
    },
  },
  {
    reports: ["kubernetes/kubernetes#127169"],
    fault: "one pod whose container has no sample stops a metric of this container",
    verdict: "the same, right",
    does: "The pod is without a value, and the others decide.",
    play: () => {
      const pods = podsOf(4);
      const usages = pods.map(({ name }, at) =>
        podUsage(name, { cpu: 80n }, { timestampMs: NOON, ...(at === 3 && { containers: [] }) }),
      );
      const answers = answersOf({ resource: { kind: "answered", items: labelIndex(usages) } });
      const look = { atSeconds: 0, pods, observed: { answers } };
      const target = { type: "Utilization", averageUtilization: 50 };
      const containerResource = { name: "cpu", container: "app", target };
      const hpa = hpaOf({ metrics: [{ type: "ContainerResource", containerResource }] });
      const metrics = [{ containerResource: { name: "cpu", container: "app" }, target: 50 }];
      return {
        expected: "4 → 5, 4 → 5",
        got: `${countsText(4, synced(hpa, 4, [look]))}, ${countsText(4, synced(native({ metrics }), 4, [look]))}`,
      };
    },
  },
  {
    reports: ["DataDog/watermarkpodautoscaler#147"],
    fault: "below the low watermark with pods that are not ready, there are more pods than before",
    verdict: "the same, right",
    does: "It decides as the release of April 2026: not above the current count.",
    play: () => {
      const pods = [...podsOf(5), ...podsOf(2, NOT_READY, 5)];
      const marks = { highWatermark: "400", lowWatermark: "150" };
      const external = { metricName: "lag", metricSelector: {}, ...marks };
      const spec = wpaOf({ scaleDownLimitFactor: 15, metrics: [{ type: "External", external }] });
      const looks = [0, 400].map((atSeconds) => ({ atSeconds, pods, values: { lag: 50 } }));
      return { expected: "7 → 7 → 7", got: countsText(7, synced(spec, 7, looks)) };
    },
  },
  {
    reports: ["kedacore/keda#7475", "kedacore/keda#3065", "kedacore/keda#2944"],
    fault: "a query that answers NaN, null or nothing counts as 0, and pods are taken away",
    verdict: "better",
    does: "Such a metric is missing, so that nothing shrinks; `whenEmpty: 0` says where nothing means 0.",
    test: "test/sources/prometheus.test.ts",
  },
  {
    reports: ["kedacore/keda#5526", "kedacore/keda#6982", "kedacore/keda#6421"],
    fault: "a workload stays paused after its pause was taken away",
    verdict: "better",
    does: "Each sync reads the pause anew, and a pause may have an end.",
    play: () => {
      const pausedUntil = new Date(NOON + 60_000).toISOString();
      const paused = native({ metrics: [OWN_LOAD], pausedUntil });
      return {
        expected: "2 → 2 → 2 → 8",
        got: countsText(
          2,
          synced(
            paused,
            2,
            [0, 59, 60].map((seconds) => loadAt(seconds, 80)),
          ),
        ),
      };
    },
  },
  {
    reports: ["karmada-io/karmada#7183"],
    fault: "a scale of 0 omits its count, and nothing wakes the workload",
    verdict: "the same, right",
    does: "A scale without a count is read as 0.",
    test: "test/cluster/read/read.test.ts",
  },
  {
    reports: ["DataDog/watermarkpodautoscaler#152"],
    fault: "of two metrics one is within its watermarks, and the other scales nothing",
    verdict: "the same, right",
    does: "The other one scales.",
    play: () => {
      const external = (metricName: string) => ({
        type: "External",
        external: { metricName, metricSelector: {}, highWatermark: "400", lowWatermark: "150" },
      });
      const spec = wpaOf({ metrics: [external("high"), external("calm")] });
      const looks = [0, 400].map((atSeconds) => ({ atSeconds, values: { high: 600, calm: 300 } }));
      return { expected: "4 → 6 → 9", got: countsText(4, synced(spec, 4, looks)) };
    },
  },
];
