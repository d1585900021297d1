import { readPod } from "../../../lib/stack/cluster/read/pods.ts";
import { watermarkSpecOf } from "../../../lib/rules/manifest/watermark/spec.ts";
import { parseSelector } from "../../../lib/rules/model/selector-text.ts";
import {
  countReady,
  countedPods,
  noneReady,
  ownerMatches,
} from "../../../lib/rules/policy/watermark/metrics/pods.ts";
import { differences } from "../differences.ts";
import type { CaseRunner } from "../registry.ts";
import { numberOf, only, podsOf, type Raw, rawOf, specFrom, textOf, timeOf } from "./raw.ts";

const rulesOf = (input: Raw) => ({
  target: { name: textOf(input["targetName"]) },
  readinessDelaySeconds: numberOf(input["readinessDelaySeconds"]),
  skipOwnerCheck: input["skipOwnerCheck"] === true,
  minAvailableReplicaPercentage: 0,
});

export const readyPodsKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  const selector = parseSelector(textOf(input["selector"]));
  if (selector.kind === "invalid") throw new RangeError(selector.message);
  const pods = podsOf(input["pods"]).select(selector.selector);
  const { ready, wrong } = countReady(pods, rulesOf(input), timeOf(input["now"]));
  const failed = ready === 0;
  const actual = {
    ready,
    incorrectTarget: wrong,
    ...("errorAny" in expect
      ? { errorAny: failed }
      : { error: failed ? noneReady(pods.length) : undefined }),
  };
  return differences(
    expect,
    only({ ...expect, ...("errorAny" in expect ? {} : { error: expect["error"] }) }, actual),
  );
};

export const groupPodsKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const withMetrics = new Set(input["podsWithMetrics"] as readonly string[]);
  if ("remove" in input) {
    const removed = new Set(input["remove"] as readonly string[]);
    return differences(vector["expect"], {
      remainingCount: [...withMetrics].filter((pod) => !removed.has(pod)).length,
    });
  }
  const { ready, ignored } = countedPods(
    podsOf(input["pods"]).all,
    (pod) => withMetrics.has(pod),
    textOf(input["resource"]),
    rulesOf(input),
  );
  return differences(vector["expect"], { readyCount: ready, ignored: [...ignored].sort() });
};

export const podHelpersKind: CaseRunner = (vector) => {
  const input = rawOf(vector["input"]);
  const expect = rawOf(vector["expect"]);
  switch (input["function"]) {
    case "find-pod-condition": {
      // Only Ready is ever looked for; that it is found among others, at its place, is what a pod's
      // reading shows.
      const types = (input["conditionTypes"] ?? []) as readonly string[];
      const pod = readPod({
        status: { conditions: types.map((type, index) => ({ type, status: String(index) })) },
      });
      if (input["wanted"] !== "Ready") return [];
      return differences(expect, {
        index: pod.ready === undefined ? -1 : Number(pod.ready.status),
        type: pod.ready === undefined ? null : "Ready",
      });
    }
    case "owner-matches-target":
      return differences(expect, {
        match: ownerMatches(
          input["ownerReferences"] as readonly { kind: string; name: string }[],
          textOf(input["targetName"]),
        ),
      });
    case "skip-owner-check": {
      const annotations = (input["annotations"] ?? {}) as Readonly<Record<string, string>>;
      const spec = watermarkSpecOf(specFrom({}), annotations, {
        skipNotScalingEvents: false,
        clusterName: "",
      });
      return differences(expect, { skip: spec.skipOwnerCheck });
    }
    default:
      throw new RangeError(`Unknown function "${String(input["function"])}"`);
  }
};
