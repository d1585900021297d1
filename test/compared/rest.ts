import { native } from "../policy/native/world.ts";
import {
  countsText,
  eachUses,
  hpaOf,
  type Look,
  externalOf,
  podsOf,
  type ReportGroup,
  synced,
} from "./report.ts";

const LAG = (more: object = {}) => ({
  name: "lag",
  external: { metric: "lag" },
  measure: "Average",
  target: 10,
  tolerance: { up: "0", down: "0" },
  ...more,
});
const FALLBACK = { action: "fallback", replicas: 5, afterSeconds: 60 };
const at = (atSeconds: number, lag?: number): Look => ({
  atSeconds,
  values: lag === undefined ? {} : { lag },
});

/** Faults about fallbacks, and about workloads at rest. */
export const OF_REST: readonly ReportGroup[] = [
  {
    reports: ["kedacore/keda#7411"],
    fault: "the fallback is not applied while the workload is at 0 and its only metric fails",
    verdict: "better",
    does: "The fallback wakes it when its time has come, also where another metric says that it is not in use.",
    play: () => {
      const idle = { replicas: 0, afterSeconds: 0 };
      const spec = native({
        minReplicas: 1,
        idle,
        metrics: [LAG({ activation: 0, onMissing: FALLBACK })],
      });
      const rest = synced(spec, 1, [at(0, 0), at(15), at(75), at(600)]);
      const awake = synced(spec, 1, [at(0, 5), at(15), at(75), at(90)]);
      return {
        expected: "1 → 0 → 0 → 5 → 5, 1 → 1 → 1 → 5 → 5",
        got: `${countsText(1, rest)}, ${countsText(1, awake)}`,
      };
    },
  },
  {
    reports: ["kedacore/keda#6053"],
    fault: "a fallback acts before its failure threshold",
    verdict: "better",
    does: "A fallback goes by time, and one good value begins it anew.",
    play: () => {
      const spec = native({ metrics: [LAG({ onMissing: FALLBACK })] });
      const looks = [at(0, 20), at(15), at(60), at(70, 20), at(75), at(130), at(136)];
      return {
        expected: "2 → 2 → 2 → 2 → 2 → 2 → 2 → 5",
        got: countsText(2, synced(spec, 2, looks)),
      };
    },
  },
  {
    reports: ["kedacore/keda#6659"],
    fault: "a fallback overrides a CPU trigger that asks for more",
    verdict: "better",
    does: "A fallback is the least count: what another metric asks for stays.",
    play: () => {
      const metrics = [
        LAG({ onMissing: { ...FALLBACK, afterSeconds: 0 } }),
        { name: "cpu", resource: { name: "cpu" }, target: 50 },
      ];
      const pods = podsOf(8);
      const look = { atSeconds: 0, pods, usage: eachUses(pods, 50n) };
      return { expected: "8 → 8", got: countsText(8, synced(native({ metrics }), 8, [look])) };
    },
  },
  {
    reports: ["kedacore/keda#5514"],
    fault: "a fallback flips on and off with one total and one average metric",
    verdict: "better",
    does: "It acts at its time and stays until the metric is back.",
    play: () => {
      const metrics = [
        LAG({ onMissing: { ...FALLBACK, replicas: 15 } }),
        { name: "total", external: { metric: "total" }, measure: "Total", target: 100 },
      ];
      const total = (atSeconds: number, lag?: number): Look => ({
        atSeconds,
        values: { total: 100, ...(lag !== undefined && { lag }) },
      });
      const looks = [total(0, 120), total(15), total(75), total(90), total(105)];
      return {
        expected: "12 → 12 → 12 → 15 → 15 → 15",
        got: countsText(12, synced(native({ metrics }), 12, looks)),
      };
    },
  },
  {
    reports: ["kedacore/keda#5008"],
    fault: "a scaler that is applied to running pods without load takes them to zero at once",
    verdict: "better",
    does: "The idle time counts from the first sync.",
    play: () => {
      const idle = { replicas: 0, afterSeconds: 300 };
      const spec = native({ idle, metrics: [LAG({ activation: 0 })] });
      return {
        expected: "3 → 1 → 1 → 0",
        got: countsText(3, synced(spec, 3, [at(0, 0), at(285, 0), at(300, 0)])),
      };
    },
  },
  {
    reports: ["kedacore/keda#7770"],
    fault: "the step to zero jumps past the scale-down policies from any count",
    verdict: "another way",
    does: "A PodAutoscaler does so too and says so; an HPA with `minReplicas: 0` keeps its policies to the end.",
    play: () => {
      const idle = { replicas: 0, afterSeconds: 0 };
      const policies = [{ type: "Pods", value: 1, periodSeconds: 60 }];
      const own = native({
        idle,
        metrics: [LAG({ activation: 0 })],
        scaleDown: { policies, stabilizationWindowSeconds: 0 },
      });
      const hpa = hpaOf({
        minReplicas: 0,
        metrics: [externalOf("10", "lag")],
        behavior: { scaleDown: { stabilizationWindowSeconds: 0, policies } },
      });
      return {
        expected: "5 → 0, 5 → 4 → 3",
        got: `${countsText(5, synced(own, 5, [at(0, 0)]))}, ${countsText(5, synced(hpa, 5, [at(0, 0), at(61, 0)]))}`,
      };
    },
  },
  {
    reports: ["kedacore/keda#2314"],
    fault: "an idle count other than 0 is not possible",
    verdict: "better",
    does: "`idle.replicas` is any count below `minReplicas`.",
    play: () => {
      const idle = { replicas: 1, afterSeconds: 0 };
      const spec = native({ minReplicas: 3, idle, metrics: [LAG({ activation: 0 })] });
      return {
        expected: "3 → 1 → 3",
        got: countsText(3, synced(spec, 3, [at(0, 0), at(15, 1)])),
      };
    },
  },
  {
    reports: ["kedacore/keda#2160"],
    fault: "a workload that another tool has set to 0 is woken",
    verdict: "better",
    does: "A 0 that Tidemark did not make stays (`ScalingDisabled`).",
    play: () => {
      const looks = [at(0, 20), { ...at(15, 200), setTo: 0 }, at(30, 200)];
      return {
        expected: "2 → 2 → 0 → 0",
        got: countsText(2, synced(native({ metrics: [LAG()] }), 2, looks)),
      };
    },
  },
  {
    reports: ["knative/serving#10355"],
    fault: "the first look at a running workload shrinks it without delay",
    verdict: "better",
    does: "The stabilization window begins with the count that is there.",
    play: () => {
      const spec = native({
        metrics: [LAG()],
        scaleDown: { stabilizationWindowSeconds: 300 },
      });
      return {
        expected: "8 → 8 → 8 → 2",
        got: countsText(8, synced(spec, 8, [at(0, 20), at(285, 20), at(301, 20)])),
      };
    },
  },
  {
    reports: ["knative/serving#3153", "knative/serving#9121"],
    fault: "pods that were asked for and are not ready yet are undone when the panic ends",
    verdict: "better",
    does: "Windows keep what was wanted until it is old.",
    play: () => {
      const spec = native({ metrics: [LAG()], scaleDown: { stabilizationWindowSeconds: 300 } });
      return {
        expected: "10 → 80 → 80",
        got: countsText(10, synced(spec, 10, [at(0, 800), at(60, 100)])),
      };
    },
  },
  {
    reports: [
      "kubernetes/kubernetes#61007",
      "kubernetes/kubernetes#99394",
      "kubernetes/kubernetes#105187",
      "kedacore/keda#4533",
      "kedacore/keda#5657",
    ],
    fault: "one missing metric of several stops all scaling",
    verdict: "the same, right",
    does: "The others may ask for more pods, and none for fewer.",
    play: () => {
      const spec = hpaOf({ metrics: [externalOf("10", "lag"), externalOf("10", "gone")] });
      return {
        expected: "4 → 8, 4 → 4",
        got: `${countsText(4, synced(spec, 4, [at(0, 80)]))}, ${countsText(4, synced(spec, 4, [at(0, 10)]))}`,
      };
    },
  },
  {
    reports: ["karmada-io/karmada#4109", "kubernetes/kubernetes#102405"],
    fault: "a failing autoscaler wants 0, which another controller copies",
    verdict: "better",
    does: "While nothing can be measured the wanted count is the present one.",
    play: () => {
      const all = synced(hpaOf({ metrics: [externalOf("10", "lag")] }), 4, [at(0, 80), at(15)]);
      const last = all[1]?.decision;
      const failed = last?.kind === "hold" && last.failed;
      const desired = all.map(({ windows }) => windows.status.desiredReplicas).join(" → ");
      return { expected: "failed: true, wants 8 → 8", got: `failed: ${failed}, wants ${desired}` };
    },
  },
];
