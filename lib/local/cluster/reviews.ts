import { isObject } from "../../model/is-object.ts";
import { badRequest, methodNotAllowed } from "./status.ts";

interface PostedReview {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** The user of the one token that the server accepts. */
const USER = { username: "tidemark", groups: ["tidemark", "system:authenticated"] };

const REVIEWS: Readonly<Record<string, { readonly kind: string; readonly status: object }>> = {
  "/apis/authentication.k8s.io/v1/selfsubjectreviews": { kind: "SelfSubjectReview", status: { userInfo: USER } },
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": { kind: "SelfSubjectAccessReview", status: { allowed: true } },
};

/** The answer to a client that asks for its user or for a right: the only user may do everything. Undefined for every other path. */
export const review = ({ method, path, body }: PostedReview): unknown => {
  const known = Object.hasOwn(REVIEWS, path) ? REVIEWS[path] : undefined;
  if (!known) return undefined;
  if (method !== "POST") throw methodNotAllowed();
  const posted = parsed(body);
  if (!isObject(posted) || posted["kind"] !== known.kind) throw badRequest(`the object provided is unrecognized: wanted a ${known.kind}`);
  return { ...posted, status: known.status };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON is refused like an object of another kind.
    return undefined;
  }
};
