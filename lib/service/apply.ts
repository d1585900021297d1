import type { Metadata } from "../manifest/metadata.ts";
import type { Validation } from "../manifest/validation.ts";
import { TidemarkError } from "../model/errors.ts";
import { autoscalerName, autoscalerUid, type Namespace, namespace } from "../model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { getAutoscaler } from "../store/autoscalers.ts";
import type { Desk } from "./desk.ts";
import { announce, store } from "./edit.ts";
import { clustersNamed } from "./find.ts";
import { check, type Given, inNamespace, namespaceClash, readGiven, storedSpec } from "./manifests.ts";
import { mustHaveStayed, mustStay } from "./removal.ts";
import { rulesChange } from "./rules-change.ts";
import type { ApplyOptions, Source } from "./service.ts";
import { type Aimed, sharedTargets } from "./shared-targets.ts";
import type { Applied } from "./views.ts";

/** Edits that others may make in between before ours gives up. */
const ATTEMPTS_MAX = 5;
/** Lines about what is wrong. Nothing more is checked above it, so that a hostile text makes no answer of many megabytes. */
const LINES_MAX = 500;

/** A document that passed every check, and the record that it replaces. */
interface Planned {
  readonly given: Given;
  readonly old?: AutoscalerRecord;
  readonly applied: Applied;
  readonly aimed: Aimed;
}

/**
 * Creates or updates autoscalers. All documents are checked before any is stored, so that a refusal changes nothing; after that each is one edit of its own.
 * Throws `manifest.*` with a line for every problem, `service.unknown`, `service.invalid`, `service.conflict`; the last also when the cluster is being removed.
 */
export const apply = async (desk: Desk, sources: readonly Source[], options: ApplyOptions): Promise<readonly Applied[]> => {
  const { validation = "strict" } = options;
  const given = readGiven(sources, validation).map((one) => inNamespace(one, options.namespace));
  const cluster = await clusterFor(desk, options.cluster);
  mustStay(cluster);
  const planned = await withSharedTargets(desk, cluster, await planAll(desk, { cluster, validation, wanted: options.namespace }, given));
  if (options.dryRun) return planned.map(({ applied }) => applied);
  const applied: Applied[] = [];
  for (const plan of planned) applied.push(await storePlanned(desk, { cluster, validation }, plan));
  const unchanged = unchangedNamespaces(applied);
  if (unchanged.length > 0) await announce(desk, cluster.name, unchanged);
  return applied;
};

/** Where an earlier attempt may have stored a document and died before it told anybody. */
const unchangedNamespaces = (applied: readonly Applied[]): readonly Namespace[] =>
  applied.filter(({ outcome }) => outcome === "unchanged").map((one) => namespace(one.namespace));

const invalid = (message: string): TidemarkError => new TidemarkError("service.invalid", message, {});

/** The cluster that was named, or the only one there is. */
const clusterFor = async (desk: Desk, name: string | undefined): Promise<ClusterRecord> => {
  const [first, ...more] = await clustersNamed(desk, name);
  if (!first) throw invalid("Cannot apply: there is no cluster yet; add one first");
  if (more.length > 0) throw invalid(`Cannot apply: there are ${more.length + 1} clusters, "${first.name}" first; say which with --cluster`);
  return first;
};

/** What every document of a step is checked for. */
interface Step {
  readonly cluster: ClusterRecord;
  readonly validation: Validation;
}

const planAll = async (
  desk: Desk,
  { wanted, ...step }: Step & { readonly wanted: string | undefined },
  all: readonly Given[],
): Promise<readonly Planned[]> => {
  const planned: Planned[] = [];
  const lines: string[] = [];
  const places = new Map<string, string>();
  for (const [index, given] of all.entries()) {
    if (lines.length >= LINES_MAX) {
      lines.push(`Cannot check the other ${all.length - index} documents: mend these first`);
      break;
    }
    const plan = await planOne(desk, step, given);
    if ("lines" in plan) lines.push(...plan.lines);
    else planned.push(plan);
    const clash = namespaceClash(given, wanted);
    if (clash !== undefined) lines.push(clash);
    const twice = "lines" in plan ? undefined : namedBefore(places, plan);
    if (twice !== undefined) lines.push(twice);
  }
  if (lines.length > 0) throw new TidemarkError("manifest.invalid", lines.join("\n"), { lines });
  return planned;
};

const withSharedTargets = async (desk: Desk, cluster: ClusterRecord, planned: readonly Planned[]): Promise<readonly Planned[]> => {
  const warnings = await sharedTargets(
    desk,
    cluster.name,
    planned.map(({ aimed }) => aimed),
  );
  return planned.map((plan) => {
    const warning = warnings.get(plan.aimed);
    return warning === undefined ? plan : { ...plan, applied: { ...plan.applied, warnings: [...plan.applied.warnings, warning] } };
  });
};

const namedBefore = (places: Map<string, string>, { given, applied }: Planned): string | undefined => {
  const path = `${applied.namespace}/${applied.name}`;
  const before = places.get(path);
  places.set(path, given.where);
  return before === undefined ? undefined : `Cannot accept "${given.where}": "${path}" is in "${before}" already`;
};

const planOne = async (desk: Desk, { cluster, validation }: Step, given: Given): Promise<Planned | { readonly lines: readonly string[] }> => {
  const asked = { syncPeriodMs: cluster.syncPeriodMs, validation };
  const alone = check(given, undefined, asked);
  if (alone.kind === "refused") return { lines: alone.lines };
  const { metadata } = alone.admitted;
  const ref = { cluster: cluster.name, namespace: namespace(metadata.namespace), name: autoscalerName(metadata.name) };
  const old = await getAutoscaler(desk.tables, ref);
  const checked = old ? check(given, old, asked) : alone;
  if (checked.kind === "refused") return { lines: checked.lines };
  const { changed, stored, spec } = checked.admitted;
  const outcome = !old ? "created" : changed ? "configured" : "unchanged";
  const warnings = [...checked.warnings, ...changedRules(given, old, spec), ...pastPause(given, spec, desk.clock())];
  const applied = { ...ref, kind: String(stored["kind"]), outcome, generation: old?.generation ?? 0, warnings } as const;
  return { given, ...(old && { old }), applied, aimed: aimedAt(metadata, spec) };
};

const aimedAt = ({ namespace: inside, name }: Metadata, { target, dryRun = false }: AutoscalerSpec): Aimed => ({
  namespace: inside,
  name,
  target,
  dryRun,
});

const changedRules = ({ where }: Given, old: AutoscalerRecord | undefined, spec: AutoscalerSpec): readonly string[] => {
  const before = old && storedSpec(old);
  const change = before?.kind === "spec" ? rulesChange(before.spec, spec) : undefined;
  return change === undefined ? [] : [`"${where}": ${change}`];
};

const pastPause = ({ where, lineOf }: Given, { pausedUntilMs }: AutoscalerSpec, nowMs: number): readonly string[] => {
  if (pausedUntilMs === undefined || pausedUntilMs > nowMs) return [];
  const line = lineOf("spec.pausedUntil");
  return [
    `"${where}"${line === undefined ? "" : `, line ${line}`}: spec.pausedUntil: it has passed and holds nothing; remove it, or write a later time`,
  ];
};

/** Stores one planned document; when somebody else was faster, it is planned anew on what they stored. */
const storePlanned = async (desk: Desk, step: Step, first: Planned): Promise<Applied> => {
  const { cluster } = step;
  let plan = first;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { given, old, applied } = plan;
    if (old && applied.outcome === "unchanged") {
      // Also then: what is there already may be another's, who is about to take it back.
      await mustHaveStayed(desk, cluster, old, false);
      return applied;
    }
    const after = recordOf(desk, cluster, given, applied, old);
    const written = await store(desk, { cluster, verb: "apply", ref: after, uid: after.uid, after, ...(old && { before: old }) });
    if (written.kind === "stored") {
      await mustHaveStayed(desk, cluster, after, old === undefined);
      return { ...applied, generation: written.generation };
    }
    const again = await planOne(desk, step, given);
    if ("lines" in again) throw new TidemarkError("manifest.invalid", again.lines.join("\n"), again);
    plan = again;
  }
  throw new TidemarkError("service.conflict", `Cannot apply "${first.applied.namespace}/${first.applied.name}": others are editing it`, {});
};

const recordOf = (
  desk: Desk,
  cluster: ClusterRecord,
  { document }: Given,
  { namespace: inside, name }: Applied,
  old: AutoscalerRecord | undefined,
) => ({
  ...(old ?? { uid: autoscalerUid(desk.newUid()), createdMs: desk.clock() }),
  cluster: cluster.name,
  manifest: JSON.stringify(document),
  namespace: namespace(inside),
  name: autoscalerName(name),
});
