import { passedOverText } from "../../rules/manifest/errors.ts";
import type { Validation } from "../../rules/model/spec.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { type Printed, text } from "../../stack/report/printed.ts";
import type { ApplyOptions, ManifestSource, Service } from "../../answers/service/service.ts";
import type { Applied, AutoscalerView } from "../../answers/views/autoscaler.ts";
import { interruptible, type Printer, type Session, type CommandSurroundings } from "../io.ts";
import { forEachResource, resultText } from "../select/listed-autoscalers.ts";
import type { FileOptions } from "../select/read-sources.ts";
import type { WantedCluster } from "../../answers/service/clusters/cluster-documents.ts";
import type { WakeOfFile } from "../../answers/service/wakes/wake-documents.ts";
import { withoutFleetKinds } from "../../rules/manifest/fleet-kinds.ts";
import { isObject, present } from "../../rules/model/json.ts";
import { readInputs } from "../../answers/service/apply/manifest-inputs.ts";
import { type LabelTest, readSelector } from "../../answers/service/label-selector.ts";
import { documentLabels } from "../output/documents.ts";
import { usage } from "../usage-error.ts";

export interface ApplyCommandOptions extends FileOptions, PruneOptions {
  readonly namespace?: string;
  readonly cluster?: string;
  readonly dryRun?: boolean;
  readonly validate: Validation;
  /** Stores the connections of clusters without a look at the clusters. */
  readonly force?: true;
  /**
   * `create`: none of them may exist. `replace`: each of them must. Otherwise nothing is stored.
   */
  readonly only?: "create" | "replace";
}

/** Checks all documents of all files, and stores nothing. Throws what an apply of them would. */
export const check = async (
  { service }: Session,
  sources: readonly ManifestSource[],
  options: ApplyCommandOptions,
): Promise<void> => {
  const { cluster, namespace, validate } = options;
  await service.apply(sources, {
    ...present({ cluster, namespace }),
    dryRun: true,
    validation: validate,
  });
};

/**
 * Checks all documents of all files, then applies them. It prints a line for each when it is
 * stored.
 */
export const apply = async (
  session: Session,
  { printer, io }: CommandSurroundings<"interruptible">,
  sources: readonly ManifestSource[],
  { validate, dryRun = false, only, cluster, namespace }: ApplyCommandOptions,
): Promise<readonly Applied[]> => {
  const options = { ...present({ cluster, namespace }), dryRun, validation: validate };
  if (only !== undefined)
    refuseOthers(only, await session.service.apply(sources, { ...options, dryRun: true }));
  const printed = new Set<Applied>();
  let printing = Promise.resolve();
  const print = async (applied: readonly Applied[]): Promise<void> => {
    printer.progress();
    for (const one of applied.filter((each) => !printed.has(each))) {
      printed.add(one);
      for (const warning of one.warnings) printer.report(text`warning: ${warning}`);
      await printer.print(appliedText(one, `${one.outcome}${dryRun ? " (dry run)" : ""}`));
    }
  };
  const stored: ApplyOptions["onStored"] = (applied, { done, all }) => {
    printing = printing
      .then(() => print(applied))
      .then(() => (done < all ? printer.progress(`Applied ${done} of ${all}`) : undefined));
  };
  const onPassedOver: ApplyOptions["onPassedOver"] = (counts) => {
    printer.progress();
    // `create` and `replace` are about autoscalers only.
    const others = only === undefined ? withoutFleetKinds(counts) : counts;
    if (others.length > 0) printer.report(passedOverText(others));
  };
  printer.progress("Checking the manifests");
  const work = (signal?: AbortSignal) =>
    session.service.apply(sources, {
      ...options,
      onStored: stored,
      onPassedOver,
      ...(signal && { signal }),
    });
  try {
    const applied = await (session.endsInOrder ? interruptible(io, work) : work());
    await printing;
    await print(applied);
    return applied;
  } finally {
    await printing.catch(() => undefined);
    printer.progress();
  }
};

/** The line of an autoscaler that was applied. */
export const appliedText = (applied: Applied, words: string): Printed =>
  text`${applied.kind} ${resultText(applied, words)}`;

/**
 * Between this look and the write another editor may store or delete one: the write is then an
 * apply, and the history keeps both.
 */
const refuseOthers = (only: "create" | "replace", found: readonly Applied[]): void => {
  const wrong = found.filter(({ outcome }) => (outcome === "created") === (only === "replace"));
  const [first] = wrong;
  if (!first) return;
  const more = wrong.length > 1 ? `, and ${wrong.length - 1} more` : "";
  throw new TidemarkError(
    only === "create" ? "service.exists" : "service.unknown",
    `Cannot ${only} "${first.name}" in namespace "${first.namespace}" of cluster "${first.cluster}"${more}: it ${only === "create" ? "exists already" : "does not exist"}; nothing was changed; tidemark apply creates and updates`,
    { name: first.name },
  );
};

interface PruneOptions {
  readonly prune?: true;
  readonly selector?: string;
}

/** What an apply may prune. */
export interface PrunePlan {
  readonly hasLabels: LabelTest;
  /** How many autoscalers must have been applied before anything goes. */
  readonly documents: number;
}

/**
 * Reads `--prune -l SELECTOR` before anything is opened. Throws where the selector is missing,
 * where the input is empty, and where a document lacks the labels: such an input belongs to other
 * labels, and everything that has these would go.
 */
export const prunePlan = (
  { prune, selector }: PruneOptions,
  sources: readonly ManifestSource[],
  {
    clusters,
    wakes,
    others,
  }: {
    readonly clusters: readonly WantedCluster[];
    readonly wakes: readonly WakeOfFile[];
    readonly others: boolean;
  },
): PrunePlan | undefined => {
  if (!prune && selector !== undefined)
    throw usage("Cannot use --selector without --prune: an apply takes all documents of its files");
  if (!prune) return undefined;
  if (selector === undefined)
    throw usage(
      "Cannot prune: give with -l the labels of what this input owns, such as -l app=shop",
    );
  const hasLabels = readSelector(selector);
  const inputs = others ? readInputs(sources, "ignore").inputs : [];
  const ofFleet = [...clusters, ...wakes];
  if (inputs.length + ofFleet.length === 0)
    throw refused(
      "the input names no autoscaler, no cluster and no wake, so that everything with these labels would be deleted",
    );
  const stranger =
    inputs.find(
      ({ document }) =>
        !hasLabels(documentLabels({ manifest: isObject(document) ? document : {} })),
    )?.where ?? ofFleet.find(({ labels = {} }) => !hasLabels(labels))?.file;
  if (stranger !== undefined)
    throw refused(
      `"${stranger}" has not the labels of --selector "${selector}"; all documents must have them`,
    );
  return { hasLabels, documents: inputs.length };
};

const refused = (problem: string): TidemarkError =>
  new TidemarkError("cli.prune", `Cannot prune: ${problem}`, {});

/**
 * The stored autoscalers with the labels that the apply did not name, in the cluster and the
 * namespaces of what it named. One that is read from an object of its cluster is no leftover: no
 * apply can name it, and it ends with its object.
 */
const leftOver = async (
  service: Service,
  { hasLabels }: PrunePlan,
  applied: readonly Applied[],
): Promise<readonly AutoscalerView[]> => {
  const kept = new Set(
    applied.map(({ cluster, namespace, name }) => `${cluster}/${namespace}/${name}`),
  );
  const places = new Map(
    applied.map(({ cluster, namespace }) => [`${cluster}/${namespace}`, { cluster, namespace }]),
  );
  const views: AutoscalerView[] = [];
  for (const inside of places.values())
    for await (const view of service.autoscalers(inside))
      if (
        !view.origin &&
        !kept.has(`${view.cluster}/${view.namespace}/${view.name}`) &&
        hasLabels(documentLabels(view))
      )
        views.push(view);
  return views;
};

/**
 * Deletes what the apply left over, each only in the version that was looked at. An apply that was
 * cut short prunes nothing.
 */
export const prune = async (
  service: Service,
  printer: Printer,
  applied: readonly Applied[],
  { dryRun, ...plan }: PrunePlan & { readonly dryRun: boolean },
): Promise<void> => {
  if (applied.length !== plan.documents)
    throw refused(
      `${applied.length} of ${plan.documents} documents were applied; apply them all first`,
    );
  await forEachResource(await leftOver(service, plan, applied), async (view) => {
    const { cluster, namespace, name, uid, generation } = view;
    if (!dryRun) await service.delete({ cluster, namespace, name, onlyIf: [{ uid, generation }] });
    await printer.print(resultText(view, `pruned${dryRun ? " (dry run)" : ""}`));
  });
};
