import * as z from "zod";
import { isObject } from "../../../rules/model/json.ts";
import { type PathTarget, type ServedRequest, asksForDryRun, parseJson } from "../api-request.ts";
import { MAX_REPLICAS } from "../definition.ts";
import { scale } from "../kube-objects.ts";
import type { ServedWorld } from "../served-resources.ts";
import type { SimulatedWorkload } from "../simulation.ts";
import { badRequest, conflictStatus, invalidScale, notFound } from "../status.ts";
import type { ClusterEvents } from "./events.ts";
import { type ObjectStore, writeObject } from "./object-requests.ts";

/** Where autoscalers and Events are kept. */
interface Kept {
  readonly store: ObjectStore;
  readonly events: ClusterEvents;
}

/**
 * Carries out a write to an autoscaler that is kept in the cluster, or to an Event. Undefined for
 * every other request.
 */
export const writeKept = (
  { store, events }: Kept,
  world: ServedWorld,
  target: PathTarget,
  request: ServedRequest,
): unknown => {
  if (
    request.method === "GET" ||
    (target.kind !== "list" && target.kind !== "object" && target.kind !== "status")
  )
    return undefined;
  const { custom, group } = target.resource;
  const { namespace } = target;
  if (namespace === undefined || (!custom && group !== "events.k8s.io")) return undefined;
  if (!world.workloads.some(({ model }) => model.namespace === namespace))
    throw notFound({ group: "", resource: "namespaces" }, namespace);
  const { isDryRun, ...body } = bodyOf(request);
  const { method, contentType, query } = request;
  const name = target.kind === "list" ? {} : { name: target.name };
  const write = { ...name, ...body, method, contentType, namespace, nowMs: world.nowMs };
  if (custom)
    return writeObject(store, {
      ...write,
      query,
      of: custom,
      isStatus: target.kind === "status",
      isDryRun,
    });
  if (isDryRun) throw badRequest("dryRun: this server carries out no dry run of an Event");
  return events.write(write);
};

/**
 * The object of a write. A DELETE has options instead, or nothing: its preconditions are compared
 * as a write's are.
 */
const bodyOf = ({
  method,
  query,
  body,
}: ServedRequest): { readonly body: unknown; readonly isDryRun: boolean } => {
  if (method !== "DELETE") return { body: parseJson(body), isDryRun: asksForDryRun(query) };
  const options = body === "" ? {} : parseJson(body);
  if (!isObject(options))
    throw badRequest("the options of a delete are unrecognized: wanted a JSON object");
  return {
    body: { metadata: options["preconditions"] },
    isDryRun: asksForDryRun(query, options["dryRun"]),
  };
};

const DEPLOYMENTS = { group: "apps", resource: "deployments" } as const;

/**
 * As sent by a client: whatever is left out is its zero value, so that a Scale without
 * `spec.replicas` asks for none.
 */
const Scale = z.object({
  apiVersion: z.literal("autoscaling/v1").default("autoscaling/v1"),
  kind: z.literal("Scale").default("Scale"),
  metadata: z
    .object({
      name: z.string().default(""),
      namespace: z.string().default(""),
      uid: z.string().default(""),
      resourceVersion: z.string().default(""),
    })
    .prefault({}),
  spec: z.object({ replicas: z.int32().default(0) }).prefault({}),
});

/**
 * The count that a PUT of a Scale asks for, after every check of the real API server in its order.
 * Throws the refusal.
 */
export const replicasToPut = (workload: SimulatedWorkload, body: unknown): number => {
  const parsed = Scale.safeParse(body);
  if (!parsed.success)
    throw badRequest(
      `Scale in version "v1" cannot be handled as a Scale: ${z.prettifyError(parsed.error)}`,
    );
  const { metadata, spec } = parsed.data;
  const { model, state } = workload;
  if (metadata.name !== "" && metadata.name !== model.name)
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${model.name})`,
    );
  if (metadata.namespace !== "" && metadata.namespace !== model.namespace)
    throw badRequest(
      `the namespace of the object (${metadata.namespace}) does not match the namespace on the URL (${model.namespace})`,
    );
  checkCount(model.name, spec.replicas);
  const uid = model.deploymentUid;
  if (metadata.uid !== "" && metadata.uid !== uid)
    throw conflictStatus(
      DEPLOYMENTS,
      model.name,
      `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`,
    );
  if (metadata.resourceVersion !== "" && metadata.resourceVersion !== String(state.version))
    throw conflictStatus(
      DEPLOYMENTS,
      model.name,
      "the object has been modified; please apply your changes to the latest version and try again",
    );
  return spec.replicas;
};

/**
 * The count that a merge patch asks for: the patch is laid over the Scale as it is, which is then
 * written under the version it has, unless the patch names one.
 */
export const replicasToPatch = (workload: SimulatedWorkload, patch: unknown): number => {
  const current = scale(workload);
  const Patch = z.object({
    metadata: z.record(z.string(), z.unknown()).default({}),
    spec: z.record(z.string(), z.unknown()).default({}),
  });
  const parsed = Patch.safeParse(patch);
  if (!parsed.success) throw badRequest(`error decoding patch: ${z.prettifyError(parsed.error)}`);
  return replicasToPut(workload, {
    metadata: { ...current.metadata, ...parsed.data.metadata },
    spec: { ...current.spec, ...parsed.data.spec },
  });
};

const checkCount = (name: string, replicas: number): void => {
  if (replicas < 0)
    throw invalidScale(
      name,
      "spec.replicas",
      `Invalid value: ${replicas}: must be greater than or equal to 0`,
    );
  // A real server takes any number and never finds room for the pods; this one would hold them all
  // in memory.
  if (replicas > MAX_REPLICAS)
    throw invalidScale(
      name,
      "spec.replicas",
      `Invalid value: ${replicas}: must be less than or equal to ${MAX_REPLICAS}`,
    );
};
