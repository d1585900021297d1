import { type ScalableKind, readScalableKind } from "../rights/rules.ts";
import { type CheckedPoint, skipped, warning } from "./report.ts";
import type { SpecKind } from "../../../rules/model/spec.ts";
import { type Target, isBuiltIn, inNamespace, objectsIn, segment, pluralOf } from "../discovery.ts";
import type { Asker } from "./ask.ts";
import { CHECK_KINDS_MAX, CHECK_NAMESPACES_MAX, CHECK_OBJECTS_MAX } from "../request-limits.ts";
import { groupOf } from "../../../rules/model/spec-common.ts";
import { asText, type Json, asObject } from "../../../rules/model/json.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { ASK_AGAIN } from "./check-resources.ts";

/** The custom resources that autoscalers name as their targets. */
interface TargetKinds {
  /** Those that the server serves with a scale. */
  readonly kinds: readonly ScalableKind[];
  /** What is wrong with the others. */
  readonly points: readonly CheckedPoint[];
}

interface Looked {
  readonly groups: ReadonlyMap<string, readonly string[]> | undefined;
  readonly specKinds: readonly SpecKind[];
  readonly namespaces: readonly string[] | undefined;
  /** Targets of autoscalers that are stored. */
  readonly targets: readonly Target[];
}

/**
 * Finds the resource of every custom kind that a stored autoscaler names, or an object of the
 * cluster that holds a spec.
 */
export const findTargetKinds = async (asker: Asker, looked: Looked): Promise<TargetKinds> => {
  const named = customKinds([...looked.targets, ...(await targetsInCluster(asker, looked))]);
  const answers = await Promise.all(
    named.slice(0, CHECK_KINDS_MAX).map((target) => findKind(asker, looked.groups, target)),
  );
  const more = named.length - CHECK_KINDS_MAX;
  const unasked =
    more > 0
      ? [skipped("kinds", `${CHECK_KINDS_MAX} custom kinds were looked for, and not ${more} more`)]
      : [];
  return {
    kinds: answers.flatMap((answer) => ("plural" in answer ? [answer] : [])),
    points: [...answers.flatMap((answer) => ("check" in answer ? [answer] : [])), ...unasked],
  };
};

/** One of each group and kind: the version of a target selects nothing. */
const customKinds = (targets: readonly Target[]): readonly Target[] => [
  ...new Map(
    targets.filter((target) => !isBuiltIn(target)).map((target) => [kindName(target), target]),
  ).values(),
];

const kindName = ({ apiVersion, kind }: Target): string => {
  const group = groupOf(apiVersion) ?? asText(apiVersion);
  return foreignText(group === "" ? kind : `${kind}.${group}`);
};

/**
 * The targets of the first objects that hold specs. A sync stores all of them, so that the others
 * are among the stored ones soon. What cannot be listed has a point of its own.
 */
const targetsInCluster = async (
  { ask }: Asker,
  { specKinds, namespaces }: Looked,
): Promise<readonly Target[]> => {
  const scopes = namespaces?.slice(0, CHECK_NAMESPACES_MAX) ?? [undefined];
  const questions = specKinds.flatMap(({ group, version, plural }) =>
    scopes.map((namespace) => ({
      path: `/apis/${group}/${version}${inNamespace(namespace)}/${plural}`,
      resource: `${plural}.${group}`,
    })),
  );
  const answers = await Promise.all(
    questions.map((question) => ask({ ...question, query: { limit: String(CHECK_OBJECTS_MAX) } })),
  );
  return answers.flatMap((answer) =>
    answer.kind === "answered" ? objectsIn(answer.reply.body["items"]).flatMap(targetOf) : [],
  );
};

const targetOf = (object: Json): readonly Target[] => {
  const { apiVersion, kind } = asObject(asObject(object["spec"])["scaleTargetRef"]);
  return typeof kind === "string" && typeof apiVersion === "string" ? [{ apiVersion, kind }] : [];
};

/**
 * The resource of a kind, in the first version of its group that has it, as a sync looks for it.
 */
const findKind = async (
  { ask }: Asker,
  groups: Looked["groups"],
  target: Target,
): Promise<ScalableKind | CheckedPoint> => {
  const check = kindName(target);
  const group = groupOf(target.apiVersion) ?? "";
  if (groups === undefined)
    return warning(check, "unknown: the list of API groups cannot be read", ASK_AGAIN);
  for (const version of groups.get(group) ?? []) {
    const answer = await ask({
      path: `/apis/${segment(group)}/${segment(version)}`,
      resource: "apiresources",
    });
    if (answer.kind === "failed" && answer.failure.code !== 404)
      return warning(check, `unknown: ${answer.failure.message}`, ASK_AGAIN);
    const resources = answer.kind === "failed" ? {} : answer.reply.body;
    const plural = pluralOf(resources, target.kind);
    if (plural !== undefined)
      return scalable(resources, { group, plural }) ?? warning(check, NO_SCALE, GIVE_SCALE);
  }
  return warning(
    check,
    "not served: the autoscalers that name it hold",
    "install its definition, or correct the scaleTargetRef that names it",
  );
};

const NO_SCALE = "it has no scale: the autoscalers that name it hold";

const GIVE_SCALE = "give its definition the subresource scale, or name another target";

/**
 * Words of the cluster become a part of a command (`fix`), so that a text of another form is no
 * kind.
 */
const scalable = (
  { resources }: Json,
  { group, plural }: ScalableKind,
): ScalableKind | undefined =>
  objectsIn(resources).some(({ name }) => name === `${plural}/scale`)
    ? readScalableKind(`${group}/${plural}`)
    : undefined;
