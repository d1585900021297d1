import { native } from "../policy/native/world.ts";
import {
  countsText,
  cpuOf,
  eachUses,
  hpaOf,
  OWN_CPU,
  podsOf,
  type ReportGroup,
  synced,
  wpaOf,
} from "./report.ts";

/** Faults about which pods count, and for how much. */
export const OF_PODS: readonly ReportGroup[] = [
  {
    reports: ["kubernetes/kubernetes#141298", "kubernetes/kubernetes#129866"],
    fault:
      "pods that have ended count as pods without a value, so that the count follows the load in neither direction",
    verdict: "better",
    does: "A PodAutoscaler leaves them out, and so does a cluster with `--hpa-version 1.38`; with 1.37 it decides as Kubernetes 1.37 does, and `doctor` names the ended pods (`finished-pods`).",
    play: () => {
      const running = podsOf(4);
      const pods = [...running, ...podsOf(6, { phase: "Succeeded" }, 4)];
      const spec = hpaOf({ metrics: [cpuOf(50)] });
      const as = (hpaVersion: "1.37" | "1.38") => {
        const usage = eachUses(running, 75n);
        return countsText(
          4,
          synced(spec, 4, [{ atSeconds: 0, pods, usage, settings: { hpaVersion } }]),
        );
      };
      return { expected: "4 → 4 and 4 → 6", got: `${as("1.37")} and ${as("1.38")}` };
    },
  },
  {
    reports: ["kubernetes/kubernetes#60648", "kubernetes/kubernetes#55630"],
    fault: "evicted pods were taken for pods that are not ready, and slowed the way up",
    verdict: "the same, right",
    does: "Failed pods are left out.",
    play: () => {
      const running = podsOf(4);
      const pods = [...running, ...podsOf(6, { phase: "Failed" }, 4)];
      const look = { atSeconds: 0, pods, usage: eachUses(running, 75n) };
      return {
        expected: "4 → 6",
        got: countsText(4, synced(hpaOf({ metrics: [cpuOf(50)] }), 4, [look])),
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#120875", "kubernetes/kubernetes#78761"],
    fault:
      "pods of another workload in the selector hold the count at the maximum, and nothing shows it",
    verdict: "better",
    does: "A PodAutoscaler leaves them out. By the rules of an HPA they count, and `explain`, `doctor` and the condition `PodsCounted` say how many belong to the target.",
    play: () => {
      const own = podsOf(2);
      const others = podsOf(4, { owners: [{ kind: "ReplicaSet", name: "api-1" }] }, 2);
      const usage = { ...eachUses(own, 20n), ...eachUses(others, 90n) };
      const look = { atSeconds: 0, pods: [...own, ...others], usage };
      return {
        expected: "2 → 1",
        got: countsText(2, synced(native({ metrics: [OWN_CPU] }), 2, [look])),
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#108920", "kubernetes-sigs/metrics-server#989"],
    fault: "a container without a request stops CPU scaling, and the message does not say which",
    verdict: "better",
    does: "The message names container and pod, `doctor` the field to write, and a metric of one container scales.",
    play: () => {
      const sidecar = { name: "proxy", requests: {}, limits: {}, restartable: false };
      const pods = podsOf(2).map((one) => ({ ...one, containers: [...one.containers, sidecar] }));
      const [whole] = synced(hpaOf({ metrics: [cpuOf(50)] }), 2, [
        { atSeconds: 0, pods, usage: eachUses(pods, 75n) },
      ]);
      const message = whole?.decision.because.message ?? "";
      const one = hpaOf({
        metrics: [
          {
            type: "ContainerResource",
            containerResource: {
              name: "cpu",
              container: "app",
              target: { type: "Utilization", averageUtilization: 50 },
            },
          },
        ],
      });
      const scaled = synced(one, 2, [{ atSeconds: 0, pods, usage: eachUses(pods, 75n) }]);
      return {
        expected: "in container proxy of Pod web-0, 2 → 3",
        got: `${/in container \S+ of Pod \S+/.exec(message)?.[0]}, ${countsText(2, scaled)}`,
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#64088"],
    fault: "all pods lose readiness under the load, and nothing scales",
    verdict: "the same, right",
    does: "Pods that were ready once count while they are not ready.",
    play: () => {
      const pods = podsOf(5, { ready: { status: "False", transitionMs: 3_600_000 } });
      const look = { atSeconds: 0, pods, usage: eachUses(pods, 100n) };
      return {
        expected: "5 → 10",
        got: countsText(5, synced(hpaOf({ metrics: [cpuOf(50)] }), 5, [look])),
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#30471"],
    fault: "one pod without a value blocks the whole workload",
    verdict: "the same, right",
    does: "On the way up a pod without a value counts as 0, and the others decide.",
    play: () => {
      const pods = podsOf(20);
      const look = { atSeconds: 0, pods, usage: eachUses(pods.slice(1), 70n) };
      return {
        expected: "20 → 27",
        got: countsText(20, synced(hpaOf({ metrics: [cpuOf(50)] }), 20, [look])),
      };
    },
  },
  {
    reports: ["karmada-io/karmada#3922", "kubernetes/kubernetes#117845"],
    fault: "a ratio of exactly 1 with pods that have no value moves the count",
    verdict: "the same, right",
    does: "The count stays.",
    play: () => {
      const pods = podsOf(6);
      const look = { atSeconds: 0, pods, usage: eachUses(pods.slice(2), 50n) };
      return {
        expected: "6 → 6",
        got: countsText(6, synced(hpaOf({ metrics: [cpuOf(50)] }), 6, [look])),
      };
    },
  },
  {
    reports: [
      "kubernetes/kubernetes#72811",
      "kubernetes/autoscaler#2939",
      "kubernetes/autoscaler#6060",
    ],
    fault: "a VerticalPodAutoscaler lowers the requests, and the percentages of them explode",
    verdict: "better",
    does: "A PodAutoscaler can measure in percent of the limit (`of: limit`), which stays.",
    play: () => {
      const pods = podsOf(2).map((one) => ({
        ...one,
        containers: one.containers.map((each) => ({ ...each, requests: { cpu: 10n } })),
      }));
      const spec = native({
        metrics: [{ name: "cpu", resource: { name: "cpu", of: "limit" }, target: 50 }],
      });
      const look = { atSeconds: 0, pods, usage: eachUses(pods, 200n) };
      return { expected: "2 → 2", got: countsText(2, synced(spec, 2, [look])) };
    },
  },
  {
    reports: ["DataDog/watermarkpodautoscaler#121"],
    fault:
      "above the high watermark with pods that are not ready, there are fewer pods than before",
    verdict: "the same, right",
    does: "It decides as the release of April 2026: not below the current count.",
    play: () => {
      const pods = [...podsOf(4), ...podsOf(6, { ready: { status: "False", transitionMs: 0 } }, 4)];
      const marks = { highWatermark: "400", lowWatermark: "150" };
      const external = { metricName: "lag", metricSelector: {}, ...marks };
      const spec = wpaOf({ metrics: [{ type: "External", external }] });
      const at = (lag: number) =>
        countsText(
          10,
          synced(
            spec,
            10,
            [0, 60].map((atSeconds) => ({ atSeconds, pods, values: { lag } })),
          ),
        );
      return { expected: "10 → 10 → 10, 10 → 15 → 20", got: `${at(500)}, ${at(2_000)}` };
    },
  },
  {
    reports: ["DataDog/watermarkpodautoscaler#119"],
    fault: "one watermark alone",
    verdict: "the same, right",
    does: "It is decided as by the controller: with a high one only, nothing asks for fewer pods.",
    play: () => {
      const external = { metricName: "lag", metricSelector: {}, highWatermark: "400" };
      const spec = wpaOf({ metrics: [{ type: "External", external }] });
      const pods = podsOf(4);
      const looks = [{ atSeconds: 0, pods, values: { lag: 0 } }];
      return { expected: "4 → 4", got: countsText(4, synced(spec, 4, looks)) };
    },
  },
  {
    reports: ["zalando-incubator/kube-metrics-adapter#597", "kubernetes/kubernetes#119788"],
    fault: "a metric source stands still, and its last value is shown and used",
    verdict: "better",
    does: "A PodAutoscaler takes a sample older than `maxAgeSeconds`, 180 by default, for none, and does not shrink on it; by other rules `explain`, `doctor` and `PodsCounted` say its age.",
    test: "test/policy/native/pods.test.ts",
  },
];
