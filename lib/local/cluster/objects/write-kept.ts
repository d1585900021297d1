import { isObject } from "../../../model/is-object.ts";
import type { Target } from "../api-path.ts";
import { type ApiRequest, asksForDryRun, parseJson } from "../request-parts.ts";
import type { World } from "../served-resources.ts";
import { badRequest, notFound } from "../status.ts";
import type { ClusterEvents } from "./events.ts";
import { type ObjectStore, writeObject } from "./object-requests.ts";

/** Where autoscalers and Events are kept. */
interface Kept {
  readonly store: ObjectStore;
  readonly events: ClusterEvents;
}

/** Carries out a write to an autoscaler that is kept in the cluster, or to an Event. Undefined for every other request. */
export const writeKept = ({ store, events }: Kept, world: World, target: Target, request: ApiRequest): unknown => {
  if (request.method === "GET" || (target.kind !== "list" && target.kind !== "object" && target.kind !== "status")) return undefined;
  const { custom, group } = target.resource;
  const { namespace } = target;
  if (namespace === undefined || (!custom && group !== "events.k8s.io")) return undefined;
  if (!world.workloads.some(({ model }) => model.namespace === namespace)) throw notFound({ group: "", resource: "namespaces" }, namespace);
  const { isDryRun, ...body } = bodyOf(request);
  const { method, contentType, query } = request;
  const name = target.kind === "list" ? {} : { name: target.name };
  const write = { ...name, ...body, method, contentType, namespace, nowMs: world.nowMs };
  if (custom) return writeObject(store, { ...write, query, of: custom, isStatus: target.kind === "status", isDryRun });
  if (isDryRun) throw badRequest("dryRun: this server carries out no dry run of an Event");
  return events.write(write);
};

/** The object of a write. A DELETE has options instead, or nothing: its preconditions are compared as those of a write are. */
const bodyOf = ({ method, query, body }: ApiRequest): { readonly body: unknown; readonly isDryRun: boolean } => {
  if (method !== "DELETE") return { body: parseJson(body), isDryRun: asksForDryRun(query) };
  const options = body === "" ? {} : parseJson(body);
  if (!isObject(options)) throw badRequest("the options of a delete are unrecognized: wanted a JSON object");
  return { body: { metadata: options["preconditions"] }, isDryRun: asksForDryRun(query, options["dryRun"]) };
};
