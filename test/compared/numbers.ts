import { scaleRead } from "../observation.ts";
import { native } from "../policy/native/world.ts";
import type { AppliedSync } from "../policy/applied-sync.ts";
import {
  countsText,
  cpuOf,
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
  wpaOf,
} from "./report.ts";

type Settings = NonNullable<Look["settings"]>;

const RELEASES = ["1.37", "1.38"] as const;
/** The same by the rules of both releases: "10 → 1 and 10 → 20". */
const inBoth = (play: (settings: Settings) => string): string =>
  RELEASES.map((hpaVersion) => play({ hpaVersion })).join(" and ");

const messageOf = (all: readonly AppliedSync[]): string =>
  all.at(-1)?.decision.because.message ?? "";

const NOT_READY = { ready: { status: "False", transitionMs: 0 } } as const;

/** Faults about numbers, and about pods that are on their way out. */
export const OF_NUMBERS: readonly ReportGroup[] = [
  {
    reports: ["kubernetes/kubernetes#141397", "kubernetes/kubernetes#126892"],
    fault:
      "a huge value leaves 32 bits, and the workload shrinks to its minimum under extreme load",
    verdict: "better",
    does: "A PodAutoscaler and a cluster with `--hpa-version 1.38` stop at the largest count. With 1.37 it decides as Kubernetes 1.37 does, and the reason says that the number was wrapped.",
    play: () => {
      const target = { type: "AverageValue", averageValue: "100m" };
      const object = {
        metric: { name: "load" },
        describedObject: { apiVersion: "v1", kind: "Service", name: "web" },
        target,
      };
      const spec = hpaOf({ maxReplicas: 20, metrics: [{ type: "Object", object }] });
      const looks = (settings: Settings) =>
        [0, 301].map((seconds) => ({ ...loadAt(seconds, 3e8), settings }));
      const hpa = inBoth((settings) => countsText(10, synced(spec, 10, looks(settings))));
      const said = messageOf(synced(spec, 10, looks({})))
        .split("; ")
        .at(-1);
      const own = native({ maxReplicas: 20, metrics: [{ ...OWN_LOAD, target: "100m" }] });
      return {
        expected:
          "10 → 10 → 1 and 10 → 20 → 20 (Kubernetes 1.37 wraps what is beyond 64 bits in a sum and beyond 32 bits in a count, and 1.38 does not), 10 → 20 → 20",
        got: `${hpa} (${said}), ${countsText(10, synced(own, 10, looks({})))}`,
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#142154"],
    fault:
      "the overhead of a sandbox is added to the request of a pod, so that its percentage is too low",
    verdict: "better",
    does: "A PodAutoscaler leaves it out, and so does a cluster with `--hpa-version 1.38`.",
    play: () => {
      const pods = podsOf(4, { podRequests: { cpu: 100n }, overhead: { cpu: 50n } });
      const look = { atSeconds: 0, pods, usage: eachUses(pods, 75n) };
      const spec = hpaOf({ metrics: [cpuOf(50)] });
      const hpa = inBoth((settings) => countsText(4, synced(spec, 4, [{ ...look, settings }])));
      const own = countsText(4, synced(native({ metrics: [OWN_CPU] }), 4, [look]));
      return { expected: "4 → 4 and 4 → 6, 4 → 6", got: `${hpa}, ${own}` };
    },
  },
  {
    reports: ["kubernetes/kubernetes#140956"],
    fault: "an average without pods is shown as -9223372036854775808m",
    verdict: "better",
    does: "`explain` and the reason say the whole value, which no pod shares; the status of an HPA has the number of its release.",
    play: () => {
      const scaleDown = { stabilizationWindowSeconds: 0 };
      const spec = hpaOf({
        minReplicas: 0,
        metrics: [externalOf("10")],
        behavior: { scaleDown },
      });
      const scale = scaleRead(0, { selector: "app=web", statusReplicas: 0 });
      const looks = [loadAt(0, 0), { ...loadAt(15, 25), observed: { scale } }];
      const all = synced(spec, 1, looks);
      return {
        expected: "1 → 0 → 3, load 25 of 10 asks for 3",
        got: `${countsText(1, all)}, ${messageOf(all)}`,
      };
    },
  },
  {
    reports: ["kubernetes/website#43970", "kubernetes/kubernetes#83561"],
    fault:
      "pods that are being deleted count as ready for a value of all pods together, so that a value below its target adds pods",
    verdict: "better",
    does: "A PodAutoscaler adds none below its target. An HPA grows as in Kubernetes, and its reason says what value ÷ target was multiplied by.",
    play: () => {
      const pods = [...podsOf(1), ...podsOf(9, { deleting: true }, 1)];
      const look = { ...loadAt(0, 30), pods };
      const external = { metric: { name: "load" }, target: { type: "Value", value: "60" } };
      const hpa = synced(hpaOf({ metrics: [{ type: "External", external }] }), 1, [look]);
      const said = messageOf(hpa).split("; ").at(-1);
      const own = native({ metrics: [{ ...OWN_LOAD, measure: "Total", target: 60 }] });
      return {
        expected:
          "1 → 4 (value ÷ target is multiplied by the pods that are ready, and not by the count of 1), 1 → 1",
        got: `${countsText(1, hpa)} (${said}), ${countsText(1, synced(own, 1, [look]))}`,
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#86297", "llm-d/llm-d-autoscaling#368"],
    fault: "values of pods that are gone count, and the workload grows without load",
    verdict: "better",
    does: "A PodAutoscaler leaves them out. By the rules of an HPA they count in an average, and `explain` and `PodsCounted` say how many.",
    play: () => {
      const pods = podsOf(2);
      const usage = { ...eachUses(pods, 20n), ...eachUses(podsOf(4, {}, 2), 90n) };
      const target = { type: "AverageValue", averageValue: "50m" };
      const hpa = hpaOf({ metrics: [{ type: "Resource", resource: { name: "cpu", target } }] });
      const own = native({ metrics: [{ ...OWN_CPU, measure: "Average", target: "50m" }] });
      const [grown, stays] = [hpa, own].map((spec) =>
        countsText(2, synced(spec, 2, [{ atSeconds: 0, pods, usage }])),
      );
      return { expected: "2 → 3, 2 → 1", got: `${grown}, ${stays}` };
    },
  },
  {
    reports: ["DataDog/watermarkpodautoscaler#278"],
    fault: "evicted pods count as pods that are not available, and nothing scales",
    verdict: "the same, right",
    does: "Failed pods are left out of `minAvailableReplicaPercentage`, as in the release of April 2026.",
    play: () => {
      const pods = [...podsOf(4), ...podsOf(6, { phase: "Failed", ...NOT_READY }, 4)];
      const marks = { highWatermark: "10", lowWatermark: "5" };
      const external = { metricName: "load", metricSelector: {}, ...marks };
      const spec = wpaOf({
        minAvailableReplicaPercentage: 80,
        metrics: [{ type: "External", external }],
      });
      return {
        expected: "4 → 6",
        got: countsText(4, synced(spec, 4, [{ ...loadAt(0, 30), pods }])),
      };
    },
  },
  {
    reports: ["volcano-sh/kthena#1751"],
    fault: "a policy in percent of few pods is less than one pod, and nothing moves",
    verdict: "the same, right",
    does: "On the way up a percentage is rounded up, and on the way down the rest is cut off: each allows a pod.",
    play: () => {
      const policies = [{ type: "Percent", value: 10, periodSeconds: 60 }];
      const rules = { policies, stabilizationWindowSeconds: 0 };
      const looks = [loadAt(0, 90), loadAt(61, 1), loadAt(122, 1)];
      const hpa = hpaOf({
        metrics: [externalOf("10")],
        behavior: { scaleUp: rules, scaleDown: rules },
      });
      const own = native({ metrics: [OWN_LOAD], scaleUp: rules, scaleDown: rules });
      const [first, second] = [hpa, own].map((spec) => countsText(3, synced(spec, 3, looks)));
      return { expected: "3 → 4 → 3 → 2, 3 → 4 → 3 → 2", got: `${first}, ${second}` };
    },
  },
  {
    reports: ["kubernetes/kubernetes#142155"],
    fault:
      "during a resize in place the requests of the spec count, before the pod has them or though it never gets them",
    verdict: "missing",
    does: "Requests are read from the spec, as Kubernetes reads them; `of: limit` has the same weakness. A metric that is no percentage does not have it.",
  },
];
