import { expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import type { Observation } from "../../lib/rules/model/observation.ts";
import { evaluationOf } from "../../lib/stack/sync/decide/evaluation.ts";
import { observationOf, readyPods, scaleRead } from "../observation.ts";
import type { Verdict, After } from "../../lib/stack/sync/hand-over.ts";

const AFTER: After = {
  entries: new Map(),
  eventsOf: () => undefined,
  gaugesOf: () => undefined,
  metricsOf: ({ decision }) => decision.metrics,
  slowOf: () => [],
  refused: new Map(),
  contestedOf: () => undefined,
};

const readyIn = (observation: Observation): number | undefined => {
  const verdict = {
    kind: "hold",
    autoscaler: {
      kind: "ready",
      record: { uid: autoscalerUid("u-1"), namespace: "shop", name: "web", generation: 1 },
    },
    because: { reason: "WithinTarget", message: "" },
    decision: { metrics: [], steps: [] },
    input: { observation, spec: { minReplicas: 1, maxReplicas: 9 } },
  };
  return evaluationOf(verdict as unknown as Verdict, AFTER)?.ready;
};

it("An evaluation counts ready pods only where pods were read: nobody asks for them for metrics from outside the cluster", () => {
  const scale = { ...scaleRead(2), selector: "app=web" };
  const pods = readyPods(2).map((pod) => ({ ...pod, labels: { app: "web" } }));
  expect(readyIn(observationOf({ scale, pods }))).toBe(2);
  expect(readyIn(observationOf({ scale }))).toBe(0);
  expect(readyIn(observationOf({ scale, podsUnread: true }))).toBeUndefined();
});
