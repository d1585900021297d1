import { createTwoFilesPatch } from "diff";
import { admit } from "../../rules/manifest/admit.ts";
import { passedOverText } from "../../rules/manifest/errors.ts";
import type { Validation } from "../../rules/model/spec.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import { block, type Printed } from "../../stack/report/printed.ts";
import { withNamespace, readInputs } from "../../answers/service/apply/manifest-inputs.ts";
import type { ManifestSource, Service } from "../../answers/service/service.ts";
import type { NewSource } from "../../answers/service/requests.ts";
import type { Applied } from "../../answers/views/autoscaler.ts";
import type { Printer, Session } from "../io.ts";
import { yamlText } from "../output/documents.ts";
import type { FileOptions } from "../select/read-sources.ts";
import { clusterDocument, clustersIn } from "../../answers/service/clusters/cluster-documents.ts";
import { withoutFleetKinds } from "../../rules/manifest/fleet-kinds.ts";
import { documentOf, sourcesIn } from "../../answers/service/sources/source-documents.ts";
import { wakeDocument, wakesIn } from "../../answers/service/wakes/wake-documents.ts";
import { clusterPlans } from "./cluster-documents.ts";
import { wakePlans } from "./wake-documents.ts";
import { outcomesOf } from "./source.ts";

export interface DiffOptions extends FileOptions {
  readonly namespace?: string;
  readonly cluster?: string;
  readonly validate: Validation;
}

/**
 * Prints what an apply of the manifests would change, as a unified diff with defaults filled in.
 * Stores nothing. Throws `cli.differs`, which prints nothing, so that the exit code says it.
 */
export const diff = async (
  session: Session,
  printer: Printer,
  sources: readonly ManifestSource[],
  options: DiffOptions,
): Promise<void> => {
  const [clusters, registered] = [clustersIn(sources), sourcesIn(sources)];
  const wakes = wakesIn(sources);
  const counts = [
    countText(await diffClusters(session, printer, clusters.values), clusters.values, "clusters"),
    countText(await diffSources(session, printer, registered.values), registered.values, "sources"),
    countText(await diffWakes(session, printer, wakes.values), wakes.values, "wakes"),
  ];
  if (clusters.others && registered.others && wakes.others) {
    const { planned, changed } = await diffAutoscalers(session, printer, sources, options);
    counts.unshift(countText(changed, planned, "autoscalers"));
  }
  const differing = counts.filter((count) => count !== undefined);
  if (differing.length > 0)
    throw new TidemarkError("cli.differs", `${differing.join(", and ")} differ`, {});
};

const countText = (
  differing: number,
  { length: all }: readonly unknown[],
  kind: string,
): string | undefined => (differing === 0 ? undefined : `${differing} of ${all} ${kind}`);

const diffAutoscalers = async (
  { service }: Session,
  printer: Printer,
  sources: readonly ManifestSource[],
  { cluster, namespace, validate }: DiffOptions,
): Promise<{ readonly planned: readonly Applied[]; readonly changed: number }> => {
  const onPassedOver = (counts: Parameters<typeof passedOverText>[0]): void => {
    const others = withoutFleetKinds(counts);
    if (others.length > 0) printer.report(passedOverText(others));
  };
  const planned = await service.apply(sources, {
    ...present({ cluster, namespace }),
    dryRun: true,
    validation: validate,
    onPassedOver,
  });
  const documents = readInputs(sources, validate).inputs.map(
    (input) => withNamespace(input, namespace).document,
  );
  const changed = planned.flatMap((plan, index) =>
    plan.outcome === "unchanged" ? [] : [{ plan, document: documents[index] }],
  );
  for (const { plan, document } of changed)
    await printer.print(await differenceText(service, plan, document));
  return { planned, changed: changed.length };
};

/** Prints what storing the clusters of documents would change, and gives how many differ. */
const diffClusters = async (
  session: Session,
  printer: Printer,
  documents: Parameters<typeof clusterPlans>[1],
): Promise<number> => {
  const differing = (await clusterPlans(session, documents)).filter(
    ({ outcome }) => outcome !== "unchanged",
  );
  for (const { wanted, stored } of differing) {
    const [before = "", after = ""] = [stored, wanted].map((each) =>
      each === undefined ? "" : yamlText(clusterDocument(each), { sortMapEntries: true }),
    );
    await printer.print(
      differenceBlock(`cluster/${wanted.name}`, stored !== undefined, [before, after]),
    );
  }
  return differing.length;
};

const differenceText = async (
  service: Service,
  { outcome, cluster, namespace, name }: Applied,
  document: unknown,
): Promise<Printed> => {
  const path = `${cluster}/${namespace}/${name}`;
  const live =
    outcome === "created" ? undefined : (await service.get({ cluster, namespace, name })).manifest;
  const [before, after] = [live === undefined ? "" : storedText(live), storedText(document)];
  return differenceBlock(path, live !== undefined, [before, after]);
};

/** Prints what registering the sources of documents would change, and gives how many differ. */
const diffSources = async (
  session: Session,
  printer: Printer,
  wanted: readonly NewSource[],
): Promise<number> => {
  if (wanted.length === 0) return 0;
  const differing = (await outcomesOf(session, wanted)).filter(
    ([, outcome]) => outcome !== "unchanged",
  );
  for (const [source, , stored] of differing) {
    const [before = "", after = ""] = [stored, source].map((each) =>
      each === undefined ? "" : yamlText(documentOf(each), { sortMapEntries: true }),
    );
    await printer.print(
      differenceBlock(`metricsource/${source.name}`, stored !== undefined, [before, after]),
    );
  }
  return differing.length;
};

/** Prints what registering the wakes of documents would change, and gives how many differ. */
const diffWakes = async (
  session: Session,
  printer: Printer,
  documents: Parameters<typeof wakePlans>[1],
): Promise<number> => {
  const differing = (await wakePlans(session, documents)).filter(
    ({ outcome }) => outcome !== "unchanged",
  );
  for (const { wanted, stored } of differing) {
    const [before = "", after = ""] = [stored, wanted].map((each) =>
      each === undefined ? "" : yamlText(wakeDocument(each), { sortMapEntries: true }),
    );
    await printer.print(
      differenceBlock(`wake/${wanted.name}`, stored !== undefined, [before, after]),
    );
  }
  return differing.length;
};

/** A unified diff of what is stored and what is applied. */
const differenceBlock = (
  path: string,
  isStored: boolean,
  [before, after]: readonly [string, string],
): Printed =>
  block(
    createTwoFilesPatch(
      isStored ? `stored/${path}` : "/dev/null",
      `applied/${path}`,
      before,
      after,
      undefined,
      undefined,
      {
        headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
      },
    ),
  );

/**
 * The form in which both sides are compared: with defaults, and without the generation, which every
 * change raises.
 */
const storedText = (document: unknown): string => {
  const admission = admit(document);
  // What this release cannot read is shown as it is.
  if (!admission.ok) return yamlText(document);
  const { metadata, ...rest } = admission.stored;
  const { generation: _generation, ...kept } = Object(metadata);
  return yamlText(
    { ...rest, metadata: kept },
    { aliasDuplicateObjects: false, sortMapEntries: true },
  );
};
