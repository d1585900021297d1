import type { ScaleAnswer, ScaleWrite } from "../../../lib/cluster/port.ts";
import { namespace } from "../../../lib/model/ids.ts";
import type { ApiFailure, ScaleReading } from "../../../lib/model/observation.ts";
import type { TargetRef } from "../../../lib/model/spec-governed.ts";
import type { WireAnswer } from "./broken-answers.ts";

/** What an API server does for a request. */
export interface ApiActs {
  readonly read: (namespace: string, target: TargetRef) => ScaleReading;
  readonly put: (write: ScaleWrite) => ScaleAnswer;
}

/** A request, once its path is understood. */
export type ApiRequest =
  | { readonly kind: "group" }
  | { readonly kind: "resources" }
  | { readonly kind: "read"; readonly namespace: string; readonly target: TargetRef; readonly scale: boolean }
  | { readonly kind: "put"; readonly write: ScaleWrite };

const CUSTOM = { group: "games.example", version: "v1", kind: "Fleet", plural: "fleets" };
const GROUP_PATH = `/apis/${CUSTOM.group}`;
const RESOURCES_PATH = `${GROUP_PATH}/${CUSTOM.version}`;
const OBJECT = /^\/apis\/([^/]+\/v1)\/namespaces\/([^/]+)\/(deployments|fleets)\/([^/]+?)(\/scale)?$/;

/** The request behind a method, a path and a body. A client that asks for anything else has a mistake. */
export const apiRequest = (method: string, path: string, body: string): ApiRequest => {
  if (path === GROUP_PATH) return { kind: "group" };
  if (path === RESOURCES_PATH) return { kind: "resources" };
  const [, apiVersion = "", inside = "", plural, name = "", scale] = OBJECT.exec(path) ?? [];
  if (plural === undefined) throw new TypeError(`the simulated API server does not know ${method} ${path}`);
  const target = { apiVersion, kind: plural === CUSTOM.plural ? CUSTOM.kind : "Deployment", name };
  if (method === "GET") return { kind: "read", namespace: inside, target, scale: scale !== undefined };
  const { metadata, spec } = JSON.parse(body) as {
    readonly metadata: { readonly uid: string; readonly resourceVersion: string };
    readonly spec: { readonly replicas: number };
  };
  const { uid: targetUid, resourceVersion } = metadata;
  return { kind: "put", write: { namespace: namespace(inside), target, targetUid, resourceVersion, replicas: spec.replicas } };
};

/** Executes a request. */
export const apiAnswer = (request: ApiRequest, acts: ApiActs): WireAnswer => {
  switch (request.kind) {
    case "group":
      return ok({ kind: "APIGroup", name: CUSTOM.group, versions: [{ version: CUSTOM.version }], preferredVersion: { version: CUSTOM.version } });
    case "resources":
      return ok({ kind: "APIResourceList", resources: [{ name: CUSTOM.plural, kind: CUSTOM.kind, namespaced: true }] });
    case "read":
      return readAnswer(request, acts.read(request.namespace, request.target));
    case "put":
      return putAnswer(request.write, acts.put(request.write));
  }
};

/** The Status object of a refusal. */
export const statusAnswer = ({ code, reason, message }: ApiFailure): WireAnswer => ({
  status: code,
  body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message }),
});

const ok = (object: object): WireAnswer => ({ status: 200, body: JSON.stringify(object) });

const readAnswer = ({ target, scale }: Extract<ApiRequest, { kind: "read" }>, reading: ScaleReading): WireAnswer => {
  if (reading.kind === "failed") return statusAnswer(reading.failure);
  const { uid, resourceVersion, generation, specReplicas, statusReplicas, selector } = reading;
  const metadata = { name: target.name, uid, resourceVersion, ...(generation !== undefined && { generation }) };
  const [label = "", value = ""] = selector.split("=");
  return scale
    ? ok({ kind: "Scale", metadata, spec: { replicas: specReplicas }, status: { replicas: statusReplicas, selector } })
    : ok({
        kind: target.kind,
        metadata,
        spec: { replicas: specReplicas, selector: { matchLabels: { [label]: value } } },
        status: { replicas: statusReplicas },
      });
};

const putAnswer = ({ target, targetUid, replicas }: ScaleWrite, answer: ScaleAnswer): WireAnswer =>
  answer.kind === "applied"
    ? ok({ kind: "Scale", metadata: { name: target.name, uid: targetUid, resourceVersion: answer.resourceVersion }, spec: { replicas } })
    : statusAnswer(answer.failure);
