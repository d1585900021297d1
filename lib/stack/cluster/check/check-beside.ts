import type {
  BesideObjects,
  DisruptionBudget,
  WorkloadPods,
  Quota,
  Vertical,
} from "../../../rules/doctor/beside/beside.ts";
import { examineBeside } from "../../../rules/doctor/beside/examine-beside.ts";
import type { Diagnosis } from "../../../rules/doctor/examine.ts";
import { NOT_FOUND, FORBIDDEN } from "../../../rules/model/http-status.ts";
import {
  asCount,
  asList,
  asName,
  asObject,
  asText,
  asTexts,
  type Json,
  present,
  readAmounts,
} from "../../../rules/model/json.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { groupOf, type TargetRef } from "../../../rules/model/spec-common.ts";
import { builtInPath, inNamespace, listPath, objectsIn } from "../discovery.ts";
import { readContainer } from "../read/pods.ts";
import { CHECK_OBJECTS_MAX } from "../request-limits.ts";
import { readLabelSelector } from "../scale.ts";
import type { Asker } from "./ask.ts";
import { ASK_AGAIN, WORKLOAD_POINT } from "./check-resources.ts";
import { type CheckedPoint, passed, type ScaledWorkload, skipped, warning } from "./report.ts";

/**
 * Asks the cluster for what else acts on the pods of a workload, and has the rules of the doctor
 * look at it. What may not be listed is a point that names the right: nothing else depends on it.
 */
export const checkBeside = async (
  { ask }: Pick<Asker, "ask">,
  scaled: ScaledWorkload,
): Promise<{
  readonly points: readonly CheckedPoint[];
  readonly findings: readonly Diagnosis[];
}> => {
  const workload = await readTemplate(ask, scaled);
  if ("result" in workload) return { points: [workload], findings: [] };
  const [verticals, budgets, quotas] = await Promise.all([
    listed(ask, VERTICALS, scaled),
    listed(ask, BUDGETS, scaled),
    listed(ask, QUOTAS, scaled),
  ]);
  const beside: BesideObjects = {
    workload,
    verticals: verticals.objects.flatMap((raw) => verticalOf(raw, scaled.target)),
    budgets: budgets.objects.flatMap(budgetOf),
    quotas: quotas.objects.flatMap(quotaOf),
  };
  return {
    points: [verticals.point, budgets.point, quotas.point],
    findings: examineBeside(scaled, beside),
  };
};

const readTemplate = async (
  ask: Asker["ask"],
  { target, namespace }: ScaledWorkload,
): Promise<WorkloadPods | CheckedPoint> => {
  const kind = builtInPath(target);
  const what = `${target.kind} "${namespace}/${target.name}"`;
  if (!kind) return skipped(WORKLOAD_POINT, `${what} is of a kind whose pods are not known`);
  const answer = await ask({
    path: listPath(kind, namespace),
    query: { fieldSelector: `metadata.name=${target.name}`, limit: "1" },
    resource: kind.resource,
  });
  if (answer.kind === "failed")
    return warning(
      WORKLOAD_POINT,
      `${what} could not be read: ${answer.failure.message}`,
      ASK_AGAIN,
    );
  const [raw] = objectsIn(answer.reply.body["items"]);
  if (!raw)
    return warning(
      WORKLOAD_POINT,
      `${what} is not in the cluster`,
      "create it, or correct its name and namespace",
    );
  const spec = asObject(raw["spec"]);
  return templateOf(asObject(spec["template"]), asCount(spec["replicas"]) ?? 1);
};

const templateOf = (template: Json, replicas: number): WorkloadPods => {
  const containers = asList(asObject(template["spec"])["containers"]).map(readContainer);
  const takes: Record<string, bigint> = { pods: 1_000n, "count/pods": 1_000n };
  const add = (resource: string, milli: bigint): void => {
    takes[resource] = (takes[resource] ?? 0n) + milli;
  };
  for (const { requests, limits } of containers) {
    for (const [resource, milli] of Object.entries(requests)) {
      add(`requests.${resource}`, milli);
      // A quota may say "cpu" for "requests.cpu".
      if (UNPREFIXED.has(resource)) add(resource, milli);
    }
    for (const [resource, milli] of Object.entries(limits)) add(`limits.${resource}`, milli);
  }
  return {
    replicas,
    labels: asTexts(asObject(template["metadata"])["labels"]),
    containers: containers.map(({ name }) => name),
    takes,
  };
};

const UNPREFIXED: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

interface BesideKind {
  /** The plural with its group, as a right names it. */
  readonly check: string;
  readonly base: string;
  readonly plural: string;
}

const VERTICALS: BesideKind = {
  check: "verticalpodautoscalers.autoscaling.k8s.io",
  base: "/apis/autoscaling.k8s.io/v1",
  plural: "verticalpodautoscalers",
};
const BUDGETS: BesideKind = {
  check: "poddisruptionbudgets.policy",
  base: "/apis/policy/v1",
  plural: "poddisruptionbudgets",
};
const QUOTAS: BesideKind = {
  check: "resourcequotas",
  base: "/api/v1",
  plural: "resourcequotas",
};

const GIVE_RIGHT = "tidemark cluster rbac --doctor | kubectl apply -f -";

/** The objects of one kind in the namespace. */
const listed = async (
  ask: Asker["ask"],
  { check, base, plural }: BesideKind,
  { namespace }: ScaledWorkload,
): Promise<{ readonly point: CheckedPoint; readonly objects: readonly Json[] }> => {
  const answer = await ask({
    path: `${base}${inNamespace(namespace)}/${plural}`,
    query: { limit: String(CHECK_OBJECTS_MAX) },
    resource: check,
  });
  if (answer.kind === "failed") {
    const { code, message } = answer.failure;
    if (code === NOT_FOUND) return { point: passed(check, "not served"), objects: [] };
    const fix = code === FORBIDDEN ? GIVE_RIGHT : ASK_AGAIN;
    return { point: warning(check, message, fix), objects: [] };
  }
  const { items, metadata } = answer.reply.body;
  const objects = objectsIn(items);
  if (asText(asObject(metadata)["continue"]) !== "")
    return {
      point: warning(
        check,
        `only the first ${CHECK_OBJECTS_MAX} of the namespace were looked at`,
        "look at the others with kubectl",
      ),
      objects,
    };
  return { point: passed(check, `${objects.length} in the namespace`), objects };
};

/** What a VerticalPodAutoscaler sets where its policy does not say it. */
const SET_BY_DEFAULT: readonly string[] = ["cpu", "memory"];

const verticalOf = (raw: Json, target: TargetRef): readonly Vertical[] => {
  const spec = asObject(raw["spec"]);
  const { apiVersion, kind, name } = asObject(spec["targetRef"]);
  if (
    kind !== target.kind ||
    name !== target.name ||
    groupOf(asText(apiVersion)) !== groupOf(target.apiVersion)
  )
    return [];
  const policies = asList(asObject(spec["resourcePolicy"])["containerPolicies"]).map(asObject);
  return [
    {
      name: nameOf(raw),
      mode: foreignText(asText(asObject(spec["updatePolicy"])["updateMode"]) || "Auto"),
      sets: new Map([["*", SET_BY_DEFAULT], ...policies.map(setBy)]),
    },
  ];
};

const setBy = ({ containerName, mode, controlledResources }: Json): [string, readonly string[]] => {
  const resources =
    controlledResources === undefined ? SET_BY_DEFAULT : asList(controlledResources).map(asText);
  return [asText(containerName), mode === "Off" ? [] : resources];
};

/** A budget whose selector cannot be read is left out: it is not known what it selects. */
const budgetOf = (raw: Json): readonly DisruptionBudget[] => {
  const { selector, minAvailable, maxUnavailable } = asObject(raw["spec"]);
  const reading = selector === undefined ? undefined : readLabelSelector(asObject(selector));
  if (!reading) return [];
  return [
    present({
      name: nameOf(raw),
      selector: reading,
      minAvailable: amountOf(minAvailable),
      maxUnavailable: amountOf(maxUnavailable),
    }),
  ];
};

const amountOf = (raw: unknown): number | string | undefined =>
  asCount(raw) ?? (typeof raw === "string" ? foreignText(raw) : undefined);

/** A quota with scopes is left out: it counts some pods only, which a template does not say. */
const quotaOf = (raw: Json): readonly Quota[] => {
  const { scopes, scopeSelector, hard } = asObject(raw["spec"]);
  if (asList(scopes).length > 0 || scopeSelector !== undefined) return [];
  const used = readAmounts(asObject(raw["status"])["used"]);
  return [{ name: nameOf(raw), hard: readAmounts(hard), used }];
};

const nameOf = (raw: Json): string => asName(asObject(raw["metadata"])["name"]);
