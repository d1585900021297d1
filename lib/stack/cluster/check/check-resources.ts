import { WATCHED_OBJECTS_MIN } from "../request-limits.ts";
import type { SpecKind } from "../../../rules/model/spec.ts";
import {
  BUILT_IN_KINDS,
  customKindRules,
  OBSERVE_RULES,
  type RbacRule,
  SCALE_RULES,
  type ScalableKind,
  STATUS_RULES,
} from "../rights/rules.ts";
import { builtInPath, listPath } from "../discovery.ts";
import { type Asker, type AskRight, type Right, type RightAnswer, rightText } from "./ask.ts";
import {
  type WantedWorkload,
  type CheckedPoint,
  failed,
  passed,
  skipped,
  warning,
} from "./report.ts";

export interface RightsContext {
  readonly askRight: AskRight;
  /** API groups with their versions; undefined where the list could not be read. */
  readonly groups: ReadonlyMap<string, readonly string[]> | undefined;
  readonly kinds: readonly ScalableKind[];
  /** Kinds of autoscalers that are read from the cluster. */
  readonly specKinds: readonly SpecKind[];
  /** What to do where a right is missing. */
  readonly fix: string;
}

interface AskedRight {
  readonly right: Right;
  readonly answer: RightAnswer;
}

const rightsOf = (rules: readonly RbacRule[]): readonly Right[] =>
  rules.flatMap(({ group, resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb }))),
  );

const resourceName = (group: string, resource: string): string =>
  group === "" ? resource : `${resource}.${group}`;

/** Asks for every right of the rules in parallel. */
const askAll = (askRight: AskRight, rights: readonly Right[]): Promise<readonly AskedRight[]> =>
  Promise.all(rights.map(async (right) => ({ right, answer: await askRight(right) })));

/**
 * The kinds that are scaled. At least one must be readable and scalable: without any, no sync could
 * do its work, and that fails. Beside one that works, the others only warn, because a cluster may
 * grant just the kinds that its manifests name.
 */
export const checkKinds = async ({
  askRight,
  kinds,
  fix,
}: RightsContext): Promise<readonly CheckedPoint[]> => {
  const custom = customKindRules(kinds);
  const rules = [...OBSERVE_RULES, ...SCALE_RULES, ...custom.observe, ...custom.scale];
  const kindChecks = await Promise.all(
    [...BUILT_IN_KINDS, ...kinds].map(async ({ group, plural }) => {
      const own = rightsOf(rules).filter(
        (right) =>
          right.group === group &&
          (right.resource === plural || right.resource === `${plural}/scale`),
      );
      return {
        check: resourceName(group, plural),
        missing: missingOf(await askAll(askRight, own)),
      };
    }),
  );
  const anyWorks = kindChecks.some(({ missing }) =>
    missing.every(({ answer }) => answer.kind === "unknown"),
  );
  return kindChecks.map(({ check, missing }) => {
    if (missing.length === 0) return passed(check, "can be read and scaled");
    return (anyWorks ? warning : failed)(
      check,
      missingText(missing),
      missing.some(({ answer }) => answer.kind === "refused") ? fix : ASK_AGAIN,
    );
  });
};

export const ASK_AGAIN = "check again: the API server did not answer the question";

const missingOf = (rights: readonly AskedRight[]): readonly AskedRight[] =>
  rights.filter(({ answer }) => answer.kind !== "allowed");

/** "not allowed: list pods, in namespace shop" */
const missingText = (missing: readonly AskedRight[]): string => {
  const refused = missing.flatMap(({ right, answer }) =>
    answer.kind === "refused" ? [{ right, answer }] : [],
  );
  const [unknown] = missing.flatMap(({ answer }) =>
    answer.kind === "unknown" ? [answer.failure.message] : [],
  );
  const [first] = refused;
  if (first === undefined) return `could not be asked: ${unknown ?? ""}`;
  const places = [...new Set(refused.flatMap(({ answer }) => answer.namespaces ?? []))];
  const where =
    places.length === 0
      ? ""
      : `, in ${places.length === 1 ? "namespace" : "namespaces"} ${places.join(", ")}`;
  const why = first.answer.reason === "" ? "" : ` (${first.answer.reason})`;
  return `not allowed: ${refused.map(({ right }) => rightText(right)).join("; ")}${where}${why}`;
};

/**
 * Pods are counted for every metric: without them nothing is decided, so that this fails. Without
 * the right to watch them all are listed in each sync, which only costs.
 */
export const checkPods = async ({ askRight, fix }: RightsContext): Promise<CheckedPoint> => {
  const rights = rightsOf(OBSERVE_RULES).filter(
    ({ group, resource }) => group === "" && resource === "pods",
  );
  const missing = missingOf(await askAll(askRight, rights));
  if (missing.length === 0) return passed("pods", "can be listed");
  if (missing.every(({ answer }) => answer.kind === "unknown"))
    return warning("pods", missingText(missing), ASK_AGAIN);
  if (missing.every(({ right }) => right.verb === "watch"))
    return warning(
      "pods",
      `${missingText(missing)}; where there are more than ${WATCHED_OBJECTS_MIN}, each sync lists them all`,
      fix,
    );
  return failed("pods", `${missingText(missing)}; every metric would fail without it`, fix);
};

/** What is looked for only to hold beside it. An API that is not installed needs no right. */
const BESIDE = [
  "horizontalpodautoscalers",
  "scaledobjects",
  "watermarkpodautoscalers",
  "datadogpodautoscalers",
  "datadogmonitors",
];

export const checkOthers = async ({
  askRight,
  groups,
  specKinds,
  fix,
}: RightsContext): Promise<readonly CheckedPoint[]> => {
  const isRead = new Set(specKinds.map(({ plural }) => plural));
  const rights = rightsOf(OBSERVE_RULES).filter(
    ({ resource }) => BESIDE.includes(resource) && !isRead.has(resource),
  );
  return Promise.all(
    rights.map(async (right) => {
      const check = resourceName(right.group, right.resource);
      if (groups !== undefined && !groups.has(right.group))
        return skipped(check, "not installed, so none is looked for");
      const missing = missingOf(await askAll(askRight, [right]));
      if (missing.length === 0) return passed(check, "can be listed");
      return warning(
        check,
        `${missingText(missing)}; ${OUTCOME[right.resource] ?? "another autoscaler of the same target is not seen, and both would scale it"}`,
        fix,
      );
    }),
  );
};

/**
 * The kinds that hold the specs themselves. A missing one warns, because autoscalers of the other
 * kinds still work.
 */
export const checkSpecs = async ({
  askRight,
  groups,
  specKinds,
  fix,
}: RightsContext): Promise<readonly CheckedPoint[]> =>
  Promise.all(
    specKinds.map(async ({ group, plural, kind }) => {
      const check = resourceName(group, plural);
      if (groups !== undefined && !groups.has(group))
        return warning(
          check,
          `not installed, so that no ${kind} is read, and those that were read before hold`,
          INSTALL[kind],
        );
      const missing = missingOf(
        await askAll(askRight, [{ group, resource: plural, verb: "list" }]),
      );
      if (missing.length === 0)
        return passed(check, "can be listed, and autoscalers are read from it");
      return warning(check, `${missingText(missing)}; every ${kind} holds without it`, fix);
    }),
  );

/**
 * The rights of the role `tidemark-status`, where the cluster holds specs. The role is optional:
 * without it every scale is decided and written as with it, and only the objects do not say what
 * was done.
 */
export const checkStatus = async ({
  askRight,
  specKinds,
}: RightsContext): Promise<readonly CheckedPoint[]> => {
  if (specKinds.length === 0) return [];
  const statuses = new Set(specKinds.map(({ plural }) => `${plural}/status`));
  const rights = rightsOf(STATUS_RULES).filter(
    ({ resource }) => !resource.endsWith("/status") || statuses.has(resource),
  );
  const missing = missingOf(await askAll(askRight, rights));
  if (missing.length === 0)
    return [passed(STATUS_ROLE, "the status of the objects and Events about them can be written")];
  return [skipped(STATUS_ROLE, `${missingText(missing)}; ${WITHOUT_STATUS}`)];
};

const STATUS_ROLE = "tidemark-status";
const WITHOUT_STATUS =
  "optional: without it the objects show no status and have no Events; tidemark cluster rbac --status prints the role";

const INSTALL: Readonly<Record<SpecKind["kind"], string>> = {
  PodAutoscaler: "install the definition: tidemark crd | kubectl apply -f -",
  WatermarkPodAutoscaler:
    "install the definition of the Watermark Pod Autoscaler, without its controller",
};

const OUTCOME: Readonly<Record<string, string>> = {
  datadogmonitors: "autoscalers with a monitor hold",
};

/** The point of a workload that a caller looks for. */
export const WORKLOAD_POINT = "workload";

/**
 * Whether the workload is there. It is looked for by the LIST that a sync may make: the roles have
 * no `get` of a workload.
 */
export const checkWorkload = async (
  { ask }: Pick<Asker, "ask">,
  { apiVersion, kind, namespace, name }: WantedWorkload,
): Promise<CheckedPoint> => {
  const builtIn = builtInPath({ apiVersion, kind });
  const what = `${kind} "${namespace}/${name}"`;
  if (!builtIn) return skipped(WORKLOAD_POINT, `${what} is of a kind that is not looked for`);
  const { resource } = builtIn;
  const answer = await ask({
    path: listPath(builtIn, namespace),
    query: { fieldSelector: `metadata.name=${name}`, limit: "1" },
    resource,
  });
  if (answer.kind === "failed")
    return warning(
      WORKLOAD_POINT,
      `${what} could not be looked for: ${answer.failure.message}`,
      ASK_AGAIN,
    );
  const { items } = answer.reply.body;
  if (Array.isArray(items) && items.length > 0) return passed(WORKLOAD_POINT, `${what} is there`);
  return failed(
    WORKLOAD_POINT,
    `${what} is not in the cluster`,
    "create it first, or correct its name and namespace",
  );
};
