import { POD_METRICS } from "../../sources/resource.ts";
import { newestOf } from "../observe/list-base.ts";
import { inNamespace } from "../paths.ts";
import type { Asker } from "./ask.ts";
import type { RightsContext } from "./check-resources.ts";
import { type CheckedPoint, passed, skipped, warning } from "./report.ts";
import { type Right, rightText } from "./rights.ts";

interface MetricsApi {
  readonly group: string;
  /** Newest first. */
  readonly versions: readonly string[];
  readonly right: Right;
  /** The manifests that need it. */
  readonly needed: string;
  /** Where it is missing. An API that most clusters have warns; the others are named. */
  readonly missing: (check: string, message: string) => CheckedPoint;
  /** What a call that changes nothing and answers little asks for. */
  readonly probe: (base: string, namespace: string | undefined) => { readonly path: string; readonly query?: Readonly<Record<string, string>> };
}

/** No pod has this label, so that the answer is an empty list. */
const NO_POD = "tidemark.dev/check=none";

const APIS: readonly MetricsApi[] = [
  {
    group: "metrics.k8s.io",
    versions: POD_METRICS.versions,
    right: { group: "metrics.k8s.io", resource: "pods", verb: "list" },
    needed: "metrics of CPU and memory",
    missing: (check, message) => warning(check, message, "install metrics-server where manifests name CPU or memory"),
    probe: (base, namespace) => ({ path: `${base}${inNamespace(namespace)}/pods`, query: { labelSelector: NO_POD } }),
  },
  {
    group: "custom.metrics.k8s.io",
    versions: ["v1beta2", "v1beta1"],
    right: { group: "custom.metrics.k8s.io", resource: "*", verb: "get" },
    needed: "metrics of the types Pods and Object",
    missing: skipped,
    probe: (path) => ({ path }),
  },
  {
    group: "external.metrics.k8s.io",
    versions: ["v1beta1"],
    right: { group: "external.metrics.k8s.io", resource: "*", verb: "list" },
    needed: "metrics of the type External",
    missing: skipped,
    probe: (path) => ({ path }),
  },
];

/** Whether each metrics API is served, may be read and answers. None is necessary: a manifest may do without it, and a metric that is missing lets nothing shrink. */
export const checkMetrics = (asker: Asker, context: RightsContext, namespaces: readonly string[] | undefined): Promise<readonly CheckedPoint[]> =>
  Promise.all(APIS.map((api) => checkApi(asker, context, { api, namespace: namespaces?.[0] })));

const checkApi = async (
  { ask }: Asker,
  { groups, askRight, fix }: RightsContext,
  { api, namespace }: { readonly api: MetricsApi; readonly namespace: string | undefined },
): Promise<CheckedPoint> => {
  const { group, versions, right, needed, missing, probe } = api;
  const version = groups === undefined ? versions.at(-1) : newestOf(versions, groups.get(group) ?? []);
  if (version === undefined) return missing(group, `not served: only ${needed} need it`);
  const allowed = await askRight(right);
  if (allowed.kind === "refused") return warning(group, `not allowed: ${rightText(right)}; ${needed} fail without it`, fix);
  const outcome = await ask({ ...probe(`/apis/${group}/${version}`, namespace), resource: right.resource === "*" ? group : `pods.${group}` });
  if (outcome.kind === "answered") return passed(group, `${version} answers`);
  // A list of thousands of metrics is longer than a check reads. It was answered all the same.
  if (outcome.failure.reason === "AnswerTooLarge") return passed(group, `${version} answers with more than a check reads`);
  return warning(
    group,
    `${version} is served and does not answer: ${outcome.failure.message}; ${needed} fail`,
    `look at the API: kubectl get apiservice ${version}.${group}`,
  );
};
