import type { Json } from "../../fields/json.ts";
import { isObject } from "../../model/json.ts";
import type { TargetRef } from "../../model/spec-common.ts";
import type { KubeApi } from "../cluster/api.ts";
import type { KeptKind } from "../cluster/objects/custom-objects.ts";
import { groupVersion, RESOURCES } from "../cluster/served-resources.ts";

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** What a controller of the simulated cluster sends to its API server, from inside the process. Each call throws the Refusal of the server. */
export interface ClusterCalls {
  readonly list: (of: KeptKind) => Promise<readonly Json[]>;
  /** Makes or changes an object by a server-side apply. */
  readonly apply: (of: KeptKind, place: Place, body: Json) => Promise<void>;
  readonly status: (of: KeptKind, place: Place, status: Json) => Promise<void>;
  readonly remove: (of: KeptKind, place: Place) => Promise<void>;
  readonly scale: (namespace: string, target: TargetRef, to: { readonly replicas: number; readonly resourceVersion: string }) => Promise<void>;
}

const JSON_TYPE = "application/json";

/** `manager`: the name under which the writes are recorded. */
export const clusterCalls = (call: KubeApi, manager: string): ClusterCalls => {
  const send = (method: string, path: string, body?: Json, contentType = JSON_TYPE): Promise<unknown> =>
    call({
      method,
      path,
      query: new URLSearchParams(method === "GET" ? {} : { fieldManager: manager }),
      contentType,
      accept: JSON_TYPE,
      body: body === undefined ? "" : JSON.stringify(body),
    });
  return {
    list: async (of) => {
      const answer = await send("GET", `/apis/${of.apiVersion}/${of.plural}`);
      return isObject(answer) && Array.isArray(answer["items"]) ? answer["items"] : [];
    },
    apply: async (of, place, body) => void (await send("PATCH", pathOf(of, place), body, "application/apply-patch+yaml")),
    status: async (of, place, status) => void (await send("PATCH", `${pathOf(of, place)}/status`, { status }, "application/merge-patch+json")),
    remove: async (of, place) => void (await send("DELETE", pathOf(of, place))),
    scale: async (namespace, { kind, name }, { replicas, resourceVersion }) => {
      const body = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name, namespace, resourceVersion }, spec: { replicas } };
      await send("PUT", `${workloadsPath(kind, namespace)}/${name}/scale`, body);
    },
  };
};

const pathOf = ({ apiVersion, plural }: KeptKind, { namespace, name }: Place): string =>
  `/apis/${apiVersion}/namespaces/${namespace}/${plural}/${name}`;

const workloadsPath = (kind: string, namespace: string): string => {
  const served = RESOURCES.find((resource) => resource.scalable && resource.kind === kind);
  if (!served) throw new RangeError(`The simulated cluster has no workloads of kind ${kind}`);
  return `/${served.group === "" ? "api" : "apis"}/${groupVersion(served)}/namespaces/${namespace}/${served.resource}`;
};
