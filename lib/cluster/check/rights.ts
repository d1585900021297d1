import { foreignText } from "../../model/foreign-text.ts";
import type { ApiFailure } from "../../model/observation.ts";
import { asObject, asText } from "../../model/read/json.ts";
import { CHECK_NAMESPACES_MAX } from "../request-limits.ts";
import type { Asker } from "./ask.ts";

/** One right, as a SelfSubjectAccessReview names it. */
export interface Right {
  readonly group: string;
  /** The plural, with a subresource behind a slash: "deployments/scale". */
  readonly resource: string;
  readonly verb: string;
}

/** `allowed` says in which namespaces not; `unknown` is a question without an answer. */
export type RightAnswer =
  | { readonly kind: "allowed" }
  | { readonly kind: "refused"; readonly namespaces?: readonly string[]; readonly reason: string }
  | { readonly kind: "unknown"; readonly failure: ApiFailure };

/** Asks for rights in the whole cluster, and in each of the namespaces where the whole cluster is refused. */
export type AskRight = (right: Right) => Promise<RightAnswer>;

export const rightsAsker =
  ({ ask }: Asker, namespaces: readonly string[] | undefined): AskRight =>
  async (right) => {
    const whole = await reviewed(ask, right, undefined);
    if (whole.kind !== "refused" || namespaces === undefined) return whole;
    const answers = await Promise.all(
      namespaces.slice(0, CHECK_NAMESPACES_MAX).map(async (namespace) => ({ namespace, answer: await reviewed(ask, right, namespace) })),
    );
    const unknown = answers.find(({ answer }) => answer.kind === "unknown");
    if (unknown) return unknown.answer;
    const refused = answers.filter(({ answer }) => answer.kind === "refused").map(({ namespace }) => namespace);
    return refused.length === 0 ? { kind: "allowed" } : { ...whole, namespaces: refused };
  };

const REVIEW = "selfsubjectaccessreviews.authorization.k8s.io";

const reviewed = async (ask: Asker["ask"], right: Right, namespace: string | undefined): Promise<RightAnswer> => {
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes: attributes(right, namespace) } };
  const outcome = await ask({ path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", resource: REVIEW, body });
  if (outcome.kind === "failed") return { kind: "unknown", failure: outcome.failure };
  const { allowed, reason } = asObject(outcome.reply.body["status"]);
  return allowed === true ? { kind: "allowed" } : { kind: "refused", reason: foreignText(asText(reason)) };
};

const attributes = ({ group, resource, verb }: Right, namespace: string | undefined) => {
  const [plural, subresource] = resource.split("/");
  return { group, resource: plural, verb, ...(subresource !== undefined && { subresource }), ...(namespace !== undefined && { namespace }) };
};

/** "update deployments/scale.apps" */
export const rightText = ({ group, resource, verb }: Right): string => `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
