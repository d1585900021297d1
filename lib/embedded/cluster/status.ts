/**
 * A Status object, the body of every failure of the Kubernetes API. Throwing one ends a request
 * with it.
 */
export interface StatusBody {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Failure";
  readonly message: string;
  readonly reason: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly causes?: readonly {
    readonly reason: string;
    readonly message: string;
    readonly field?: string;
  }[];
  readonly retryAfterSeconds?: number;
}

/** What a request is refused with. It is an outcome, not a failure of the server. */
export class ServerRefusal extends Error {
  readonly body: StatusBody;

  constructor(
    code: number,
    reason: string,
    message: string,
    extra: { readonly details?: StatusDetails; readonly continue?: string } = {},
  ) {
    super(message);
    this.name = "Refusal";
    const metadata = extra.continue === undefined ? {} : { continue: extra.continue };
    this.body = {
      kind: "Status",
      apiVersion: "v1",
      metadata,
      status: "Failure",
      message,
      reason,
      ...(extra.details && { details: extra.details }),
      code,
    };
  }
}

/** Names a kind in messages: "deployments.apps", or "pods" in the core group. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

const qualified = ({ group, resource }: ResourceName): string =>
  group === "" ? resource : `${resource}.${group}`;

const detailsOf = ({ group, resource }: ResourceName, name: string): StatusDetails => ({
  name,
  ...(group !== "" && { group }),
  kind: resource,
});

export const unauthorized = (): ServerRefusal =>
  new ServerRefusal(401, "Unauthorized", "Unauthorized");

export const badRequest = (message: string): ServerRefusal =>
  new ServerRefusal(400, "BadRequest", message);

export const notFound = (resource: ResourceName, name: string): ServerRefusal =>
  new ServerRefusal(404, "NotFound", `${qualified(resource)} "${name}" not found`, {
    details: detailsOf(resource, name),
  });

export const metricNotFound = (metric: string, describes: string): ServerRefusal =>
  new ServerRefusal(
    404,
    "NotFound",
    `the server could not find the metric ${metric} for ${describes}`,
  );

/** `reason`: "AlreadyExists" for a name that is taken. */
export const conflictStatus = (
  resource: ResourceName,
  name: string,
  why: string,
  reason = "Conflict",
): ServerRefusal =>
  new ServerRefusal(
    409,
    reason,
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    { details: detailsOf(resource, name) },
  );

export const methodNotAllowed = (
  what = "the server does not allow this method on the requested resource",
): ServerRefusal => new ServerRefusal(405, "MethodNotAllowed", what);
export const tooLargeStatus = (limitBytes: number): ServerRefusal =>
  new ServerRefusal(
    413,
    "RequestEntityTooLarge",
    `Request entity too large: limit is ${limitBytes}`,
  );

export const unsupportedMediaType = (accepted: readonly string[]): ServerRefusal =>
  new ServerRefusal(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );

export const expired = (fresh: string): ServerRefusal =>
  new ServerRefusal(
    410,
    "Expired",
    "The provided continue parameter is too old to display a consistent list: start a new one, or go on inconsistently with the continue token of this answer",
    { continue: fresh },
  );

/** A 410: the client lists again. */
export const expiredVersion = (version: number): ServerRefusal =>
  new ServerRefusal(410, "Expired", `too old resource version: ${version}`);

export const tooManyWatches = (limit: number): ServerRefusal =>
  new ServerRefusal(
    429,
    "TooManyRequests",
    `too many watches: limit is ${limit}; end one of them`,
    {
      details: { retryAfterSeconds: 1 },
    },
  );

/** A 422 for fields of an object. */
export const invalidObject = (
  { group, kind, name }: { readonly group: string; readonly kind: string; readonly name: string },
  problems: readonly { readonly field: string; readonly detail: string; readonly fix: string }[],
): ServerRefusal => {
  const causes = problems.map(({ field, detail, fix }) => ({
    reason: "FieldValueInvalid",
    message: detail || fix,
    field,
  }));
  const text = causes.map(({ field, message }) => `${field}: ${message}`).join(", ");
  return new ServerRefusal(422, "Invalid", `${kind}.${group} "${name}" is invalid: ${text}`, {
    details: { name, group, kind, causes },
  });
};

/** A 422 for one field of a Scale. */
export const invalidScale = (name: string, field: string, problem: string): ServerRefusal =>
  invalidObject({ group: "autoscaling", kind: "Scale", name }, [
    { field, detail: problem, fix: "" },
  ]);

export const internalError = (message: string): ServerRefusal =>
  new ServerRefusal(500, "InternalError", `Internal error occurred: ${message}`);
