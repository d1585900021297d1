import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { WireKind } from "../../../lib/stack/cluster/wire/message.ts";
import { POD_LIST } from "../../../lib/stack/cluster/read/pods.ts";
import { HPA_LIST, WORKLOAD_LISTS } from "../../../lib/stack/cluster/wire/objects.ts";

export const RECORDED_FOLDER = join(import.meta.dirname, "recorded");

/** Answers of a real kube-apiserver 1.37.1, each as JSON and as protobuf (record.ts makes them). */
export interface Recorded {
  readonly name: string;
  readonly path: string;
  readonly kind: WireKind;
}

const workloads = (resource: string): WireKind => {
  const kind = WORKLOAD_LISTS[resource];
  if (!kind) throw new RangeError(`no table for ${resource}`);
  return kind;
};

export const RECORDED: readonly Recorded[] = [
  { name: "pods", path: "/api/v1/namespaces/shop/pods", kind: POD_LIST },
  { name: "pods-page", path: "/api/v1/namespaces/shop/pods?limit=1", kind: POD_LIST },
  { name: "no-pods", path: "/api/v1/namespaces/nowhere/pods", kind: POD_LIST },
  {
    name: "deployments",
    path: "/apis/apps/v1/namespaces/shop/deployments",
    kind: workloads("deployments.apps"),
  },
  {
    name: "statefulsets",
    path: "/apis/apps/v1/namespaces/shop/statefulsets",
    kind: workloads("statefulsets.apps"),
  },
  {
    name: "replicasets",
    path: "/apis/apps/v1/namespaces/shop/replicasets",
    kind: workloads("replicasets.apps"),
  },
  {
    name: "replicationcontrollers",
    path: "/api/v1/namespaces/shop/replicationcontrollers",
    kind: workloads("replicationcontrollers"),
  },
  {
    name: "horizontalpodautoscalers",
    path: "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers",
    kind: HPA_LIST,
  },
  { name: "refused", path: "/api/v1/namespaces/shop/pods?continue=nonsense", kind: POD_LIST },
];

/** One answer, as its bytes came. */
export const recordedAnswer = ({ name }: Pick<Recorded, "name">, form: "json" | "pb"): Buffer =>
  readFileSync(join(RECORDED_FOLDER, `${name}.${form}`));
