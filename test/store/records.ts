import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { type IntentBodies, intentBodies } from "../../lib/stack/store/head/intent-codec.ts";
import { NOON } from "../noon.ts";
import type { Intent, ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";

export const PARTITION = { cluster: clusterName("eu-1"), partition: WHOLE_CLUSTER };
export const REF = {
  cluster: clusterName("eu-1"),
  namespace: namespace("shop"),
  name: autoscalerName("web"),
};

export const intent = (parts: Partial<Intent> = {}): Intent => ({
  id: "uid-web:5",
  uid: autoscalerUid("uid-web"),
  namespace: REF.namespace,
  name: REF.name,
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  from: 2,
  to: 5,
  targetUid: "b2f0",
  resourceVersion: "41",
  targetGeneration: 7,
  decidedMs: 1_000_000,
  deadlineMs: 1_039_000,
  specGeneration: 3,
  because: { reason: "MetricAboveTarget", message: "cpu resource utilization above target" },
  metrics: [],
  steps: [],
  ...parts,
});

/** The entries of a head with nothing but these open intents. */
export const bodiesOf = (...intents: readonly Intent[]): IntentBodies =>
  intentBodies({ intents, uncounted: [], unreadable: [] });

export const event = (parts: Partial<ScaleEventRecord> = {}): ScaleEventRecord => ({
  ...REF,
  id: "uid-web:5",
  uid: autoscalerUid("uid-web"),
  partition: WHOLE_CLUSTER,
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  atMs: NOON,
  settledMs: NOON,
  from: 2,
  to: 5,
  reason: "MetricAboveTarget",
  message: "cpu resource utilization above target",
  metrics: [],
  steps: [],
  specGeneration: 3,
  outcome: "applied",
  ...parts,
});
