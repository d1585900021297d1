import { metricsInDetail } from "../../lib/rules/policy/decide.ts";
import { admit } from "../../lib/rules/manifest/admit.ts";
import { native } from "../policy/native/world.ts";
import {
  countsText,
  cpuOf,
  eachUses,
  externalOf,
  hpaOf,
  loadAt as at,
  OWN_LOAD,
  podsOf,
  type ReportGroup,
  synced,
} from "./report.ts";

const LOAD = externalOf("10");

/** Faults about windows, rates, tolerance and rounding. */
export const OF_LIMITS: readonly ReportGroup[] = [
  {
    reports: ["kubernetes/kubernetes#98174", "kubernetes/kubernetes#78712"],
    fault: "all metrics are below their targets, the count goes up, and the reason is empty",
    verdict: "better",
    does: "An HPA without `behavior` grows as in Kubernetes, and the reason (`WantedBefore`) says what was wanted when; a PodAutoscaler does not grow.",
    play: () => {
      const looks = [at(0, 160), at(15, 50)];
      const hpa = synced(hpaOf({ metrics: [LOAD] }), 4, looks);
      const own = native({
        metrics: [OWN_LOAD],
        scaleUp: { policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] },
        scaleDown: { stabilizationWindowSeconds: 300 },
      });
      return {
        expected: "4 → 8 → 16 WantedBefore, 4 → 8 → 8",
        got: `${countsText(4, hpa)} ${hpa[1]?.decision.because.reason}, ${countsText(4, synced(own, 4, looks))}`,
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#105655"],
    fault: "scaleDown is Disabled, and pods are lost",
    verdict: "better",
    does: "Nothing shrinks.",
    play: () => {
      const behavior = { scaleDown: { selectPolicy: "Disabled" } };
      const spec = hpaOf({ metrics: [LOAD], behavior });
      return {
        expected: "8 → 8 → 8",
        got: countsText(8, synced(spec, 8, [at(0, 10), at(900, 10)])),
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#97420"],
    fault: "a policy of 200 pods in 600 s never binds, and no warning says so",
    verdict: "better",
    does: "`apply` warns of the policy, and `doctor` finds `policy-never-binds`.",
    play: () => {
      const policies = [{ type: "Pods", value: 200, periodSeconds: 600 }];
      const document = {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "web", namespace: "shop" },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          maxReplicas: 200,
          behavior: { scaleUp: { policies } },
        },
      };
      return {
        expected: "spec.behavior.scaleUp.policies[0]",
        got: admit(document)
          .warnings.map(({ field }) => field)
          .join(", "),
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#97473"],
    fault: "which of two policies holds, and when",
    verdict: "the same, right",
    does: "The larger one holds (`Max`), and each step names the limit that cut it.",
    play: () => {
      const policies = [
        { type: "Pods", value: 2, periodSeconds: 60 },
        { type: "Percent", value: 10, periodSeconds: 60 },
      ];
      const behavior = { scaleUp: { policies, stabilizationWindowSeconds: 0 } };
      const spec = hpaOf({ metrics: [LOAD], behavior });
      const all = synced(spec, 4, [at(0, 900), at(61, 900)]);
      return { expected: "4 → 6 → 8", got: countsText(4, all) };
    },
  },
  {
    reports: ["kubernetes/kubernetes#106247", "kubernetes/autoscaler#1741"],
    fault: "87 % of 80 %, or 46 % of 50 %: why does it not scale?",
    verdict: "better",
    does: "`explain` says the value from which the count turns, found by the rules with tolerance and rounding.",
    play: () => {
      const pods = podsOf(2);
      const [state] = synced(hpaOf({ metrics: [cpuOf(60)] }), 2, [
        { atSeconds: 0, pods, usage: eachUses(pods, 39n) },
      ]);
      const [metric] = state ? metricsInDetail(state.decision, state.input) : [];
      const below = metric?.kind === "measured" ? metric.turns?.below : undefined;
      return { expected: "below 30.6% for fewer", got: `below ${below?.value} for ${below?.asks}` };
    },
  },
  {
    reports: ["kubernetes/kubernetes#95762"],
    fault: "`400Mib` is accepted somewhere and never met",
    verdict: "better",
    does: "`apply` refuses it with the line.",
    play: () => {
      const target = { type: "AverageValue", averageValue: "400Mib" };
      const metrics = [{ type: "Resource", resource: { name: "memory", target } }];
      return { expected: "refused", got: refused(() => hpaOf({ metrics })) };
    },
  },
  {
    reports: ["kubernetes/kubernetes#32389", "kubernetes/kubernetes#76187"],
    fault: "pods that can never be scheduled keep the count up",
    verdict: "the same, right",
    does: "They count as 0 on the way down, after the window.",
    play: () => {
      const running = podsOf(5);
      const pending = podsOf(
        15,
        { phase: "Pending", ready: { status: "False", transitionMs: 0 } },
        5,
      );
      const pods = [...running, ...pending];
      const look = (atSeconds: number) => ({ atSeconds, pods, usage: eachUses(running, 25n) });
      const spec = hpaOf({ metrics: [cpuOf(50)] });
      return {
        expected: "20 → 20 → 3",
        got: countsText(20, synced(spec, 20, [look(0), look(301)])),
      };
    },
  },
  {
    reports: ["kubernetes/kubernetes#85206"],
    fault: "a mean that is given as the value of an object",
    verdict: "the same, right",
    does: "The count grows by the ratio, and is steady at the target.",
    play: () => {
      const metric = { name: "rate" };
      const describedObject = { apiVersion: "v1", kind: "Service", name: "web" };
      const target = { type: "Value", value: "10" };
      const spec = hpaOf({
        metrics: [{ type: "Object", object: { metric, describedObject, target } }],
      });
      const looks = [
        { atSeconds: 0, values: { rate: 40 } },
        { atSeconds: 15, values: { rate: 10 } },
      ];
      return { expected: "1 → 4 → 4", got: countsText(1, synced(spec, 1, looks)) };
    },
  },
  {
    reports: [
      "kubernetes-sigs/cluster-proportional-autoscaler#99",
      "argoproj/argo-cd#5105",
      "karmada-io/karmada#1273",
      "karmada-io/karmada#386",
      "uberswe/createmod.com#1097",
    ],
    fault: "another program sets the count again and again, and nobody learns which",
    verdict: "better",
    does: "Each change is an event that names who made it; after four of them `status` is unhealthy, and `doctor` says what to do about this program.",
    test: "test/sync/contested.test.ts",
  },
  {
    reports: ["Amazon ECS, target tracking"],
    fault: "no scale-in while a deployment is under way, which users of Kubernetes wish for",
    verdict: "another way",
    does: "A PodAutoscaler goes on to scale: the surge of a rollout raises no count, and load that is spread over it takes none away; the condition `PodsCounted` says that it is under way.",
    test: "test/policy/native/pods.test.ts",
  },
];

const refused = (read: () => unknown): string => {
  try {
    read();
    return "accepted";
  } catch {
    return "refused";
  }
};
