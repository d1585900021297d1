import { admit } from "../../../rules/manifest/admit.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { isObject, type Json } from "../../../rules/model/json.ts";
import {
  badRequest,
  conflictStatus,
  invalidObject,
  methodNotAllowed,
  notFound,
  ServerRefusal,
  unsupportedMediaType,
} from "../status.ts";
import type { CustomObject, CustomObjects, KeptKind, ObjectWrite } from "./custom-objects.ts";

/** A write to one object, or to a list for a new one. */
export interface ObjectRequest {
  readonly method: string;
  readonly contentType: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly of: KeptKind;
  readonly namespace: string;
  /** Absent for a POST to the list. */
  readonly name?: string;
  readonly isStatus: boolean;
  /** Checks everything and changes nothing. */
  readonly isDryRun?: boolean;
  readonly nowMs: number;
}

/** Where the objects lie, and how they are made durable. */
export interface ObjectStore {
  readonly objects: CustomObjects;
  readonly save: () => void;
}

const APPLY = "application/apply-patch+yaml";
const MERGE = "application/merge-patch+json";

/**
 * Carries out a write as an API server does, and gives the object as it is then. The store is made
 * durable for what people write; a status is made again by the next sync.
 */
export const writeObject = (kept: ObjectStore, request: ObjectRequest): Json => {
  const store = request.isDryRun ? { objects: kept.objects.copy(), save: () => {} } : kept;
  const before =
    request.name === undefined
      ? undefined
      : store.objects.find({ ...request, kind: request.of.kind, name: request.name });
  if (request.method === "DELETE") return deleted(store, request, existing(before, request));
  const wanted = wantedObject(request, before);
  const name = nameOf(request, wanted);
  refuseOther(request, before, wanted);
  const write = writeOf(request, name);
  if (request.isStatus)
    return asAnswer(
      request.of,
      store.objects.storeStatus(
        write,
        existing(before, request),
        wantedStatus(request, before, wanted),
      ),
    );
  refuseTwin(store, request, write);
  const fields = fieldsOf(request, before, wanted);
  refuseInvalid(request.of, {
    apiVersion: request.of.apiVersion,
    kind: request.of.kind,
    metadata: { name, namespace: request.namespace },
    spec: fields.spec,
  });
  const stored = store.objects.store(write, fields);
  store.save();
  return asAnswer(request.of, stored);
};

/**
 * An apply from inside the process, without a request. Throws `local.object-refused` where the API
 * server would refuse it.
 */
export const putObject = (
  store: ObjectStore,
  nowMs: number,
  of: KeptKind,
  document: unknown,
): void => {
  const { name = "", namespace = "default" } =
    isObject(document) && isObject(document["metadata"]) ? document["metadata"] : {};
  const query = new URLSearchParams({ fieldManager: "npm-start" });
  const write = {
    method: "PATCH",
    contentType: APPLY,
    query,
    body: document,
    isStatus: false,
    nowMs,
  };
  try {
    writeObject(store, { ...write, of, namespace: String(namespace), name: String(name) });
  } catch (error) {
    if (!(error instanceof ServerRefusal)) throw error;
    const where = `${of.kind} "${String(namespace)}/${String(name)}"`;
    throw new TidemarkError(
      "local.object-refused",
      `Cannot put ${where} into the simulated cluster: ${error.body.message}`,
      { where },
    );
  }
};

const asAnswer = ({ apiVersion }: KeptKind, object: CustomObject): Json => ({
  ...object,
  apiVersion,
});

const deleted = (store: ObjectStore, request: ObjectRequest, object: CustomObject): Json => {
  const { of, isStatus, body } = request;
  if (isStatus) throw methodNotAllowed();
  refuseOther(request, object, isObject(body) ? body : {});
  store.objects.delete(object);
  store.save();
  return asAnswer(of, object);
};

/**
 * The object as the client wants it: its body, or what its merge patch makes of the present object.
 */
const wantedObject = (
  { method, contentType, body, of, name }: ObjectRequest,
  before: CustomObject | undefined,
): Json => {
  if (!isObject(body))
    throw badRequest("the object provided is unrecognized: wanted a JSON object");
  if (method === "POST" || method === "PUT") {
    if (contentType !== "application/json") throw unsupportedMediaType(["application/json"]);
    return body;
  }
  if (method !== "PATCH") throw methodNotAllowed();
  if (contentType === APPLY) return body;
  if (contentType !== MERGE) throw unsupportedMediaType([APPLY, MERGE]);
  if (!before) throw notFound(resourceOf(of), name ?? "");
  return mergePatched(before, body) as Json;
};

const resourceOf = ({ group, plural }: KeptKind) => ({ group, resource: plural });

const nameOf = ({ name, of }: ObjectRequest, { metadata }: Json): string => {
  const written = isObject(metadata) ? metadata["name"] : undefined;
  if (name !== undefined && (written === undefined || written === name)) return name;
  if (name === undefined && typeof written === "string" && written !== "") return written;
  throw name === undefined
    ? invalidObject({ ...of, name: "" }, [
        { field: "metadata.name", detail: "", fix: "a name is required" },
      ])
    : badRequest(
        `the name of the object (${String(written)}) does not match the name on the URL (${name})`,
      );
};

/** Preconditions: a uid and a resourceVersion that a client sends must match the object. */
const refuseOther = (
  { of, name = "", method }: ObjectRequest,
  before: CustomObject | undefined,
  { kind, metadata }: Json,
): void => {
  if (kind !== undefined && kind !== of.kind)
    throw badRequest(
      `the object provided is unrecognized: wanted a ${of.kind}, not a ${String(kind)}`,
    );
  const { uid, resourceVersion } = isObject(metadata) ? metadata : ({} as Json);
  if (!before) {
    if (method === "PUT" || (uid !== undefined && uid !== "")) throw notFound(resourceOf(of), name);
    return;
  }
  if (uid !== undefined && uid !== "" && uid !== before.metadata.uid)
    throw conflictStatus(
      resourceOf(of),
      name,
      `Precondition failed: UID in precondition: ${String(uid)}, UID in object meta: ${before.metadata.uid}`,
    );
  if (
    resourceVersion !== undefined &&
    resourceVersion !== "" &&
    resourceVersion !== before.metadata.resourceVersion
  )
    throw conflictStatus(
      resourceOf(of),
      name,
      "the object has been modified; please apply your changes to the latest version and try again",
    );
};

/** A POST never replaces an object. */
const refuseTwin = (
  { objects }: ObjectStore,
  { method, of }: ObjectRequest,
  write: ObjectWrite,
): void => {
  if (method === "POST" && objects.find(write))
    throw conflictStatus(resourceOf(of), write.name, "it exists already", "AlreadyExists");
};

const existing = (
  object: CustomObject | undefined,
  { of, name = "" }: ObjectRequest,
): CustomObject => {
  if (!object) throw notFound(resourceOf(of), name);
  return object;
};

const writeOf = (
  { of, namespace, query, contentType, nowMs }: ObjectRequest,
  name: string,
): ObjectWrite => ({
  kind: of.kind,
  namespace,
  name,
  manager: query.get("fieldManager") || "unknown",
  operation: contentType === APPLY ? "Apply" : "Update",
  nowMs,
});

/**
 * An apply leaves the labels and annotations that it does not name, and the spec where it has none.
 * Which manager owns which field is not kept, so an apply with a spec replaces the spec whole, and
 * no apply meets a conflict of managers.
 */
const fieldsOf = (
  { contentType }: ObjectRequest,
  before: CustomObject | undefined,
  { metadata, spec }: Json,
) => {
  const written = isObject(metadata) ? metadata : ({} as Json);
  const [labels, annotations] = ["labels", "annotations"].map((field) => {
    const own = isObject(written[field]) ? written[field] : {};
    const old = before?.metadata[field];
    return contentType === APPLY && isObject(old) ? { ...old, ...own } : own;
  });
  const kept = contentType === APPLY && spec === undefined ? before?.["spec"] : spec;
  const owners =
    written["ownerReferences"] ??
    (contentType === APPLY ? before?.metadata["ownerReferences"] : undefined);
  return {
    spec: kept,
    labels: labels ?? {},
    annotations: annotations ?? {},
    ownerReferences: Array.isArray(owners) ? owners : [],
  };
};

/** An apply of a status leaves the fields that it does not name. */
const wantedStatus = (
  { contentType }: ObjectRequest,
  before: CustomObject | undefined,
  { status }: Json,
): Json => {
  const wanted = isObject(status) ? status : {};
  const old = before?.["status"];
  return contentType === APPLY && isObject(old) ? { ...old, ...wanted } : wanted;
};

/**
 * The kinds that an API server checks by itself: an HPA, and a PodAutoscaler by the rules of its
 * definition. The definitions of the others have none, and their controllers say on the object what
 * is wrong.
 */
const CHECKED: ReadonlySet<string> = new Set(["PodAutoscaler", "HorizontalPodAutoscaler"]);

const refuseInvalid = (of: KeptKind, document: Json): void => {
  if (!isObject(document["spec"]))
    throw invalidObject({ ...of, name: "" }, [
      { field: "spec", detail: "", fix: "a spec is required" },
    ]);
  if (!CHECKED.has(of.kind)) return;
  const admission = admit(document, { validation: "strict" });
  if (!admission.ok)
    throw invalidObject(
      { ...of, name: String((document["metadata"] as Json)["name"]) },
      admission.problems,
    );
};

/** Applies a JSON merge patch (RFC 7386): null removes a member, and a list is replaced whole. */
export const mergePatched = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatched(merged.get(name), value));
  }
  return Object.fromEntries(merged);
};
