import { placeOfField } from "../../../rules/manifest/errors.ts";
import { mayAsk, type MetricSourceRecord } from "../../../rules/model/metric-source.ts";
import { queryKey } from "../../../rules/model/query.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import { priceOf } from "../../../stack/source-client/price-words.ts";
import { overSourceShare, type SourceAsker } from "../../../stack/source-client/source-shares.ts";
import type { DueTime } from "../../../stack/turns/turns.ts";
import type { SourceUse } from "../../../rules/policy/dialect.ts";
import { sourceUses } from "../../../rules/policy/dialects.ts";
import { monthlyDollars } from "../../../rules/sources/kinds.ts";
import { refusalOf, weightOf } from "../../../rules/sources/sources.ts";
import type { AutoscalerItem } from "../../../stack/store/records/autoscalers.ts";
import { listMetricSources } from "../../../stack/store/records/metric-sources.ts";
import { autoscalersOf, partitionOf } from "../../../stack/store/records/clusters.ts";
import type { Namespace, PartitionName } from "../../../rules/model/ids.ts";
import { sees, type ServiceContext } from "../context.ts";
import type { NewSource } from "../requests.ts";
import { withDefaults } from "../sources/sources.ts";
import { readableSpec } from "../stored-spec.ts";
import type { ManifestDocument } from "../../../rules/manifest/documents.ts";

/** A document that asks metric sources. */
interface Asking {
  readonly input: Pick<ManifestDocument, "where" | "lineOf">;
  readonly namespace: Namespace;
  readonly name: string;
  readonly spec: AutoscalerSpec;
  /** False where it is stored so already: nothing new costs anything. */
  readonly changes: boolean;
}

/**
 * What an apply says of the sources that its documents name: lines of a refusal, and the warnings
 * of each document.
 */
export interface SourceOutlook {
  readonly refused: readonly string[];
  readonly warningsOf: (document: Asking) => readonly string[];
}

const NOTHING: SourceOutlook = { refused: [], warningsOf: () => [] };

/**
 * Looks at the registered sources of documents before they are stored: whether they may be asked,
 * how many questions a sync would have, and what AWS takes for them. It reads nothing where no
 * document names one. Pending sources count as registered: they are in the same files.
 */
export const sourceOutlook = async (
  context: ServiceContext,
  { cluster, pending }: { readonly cluster: ClusterRecord; readonly pending: readonly NewSource[] },
  documents: readonly Asking[],
): Promise<SourceOutlook> => {
  const asking = documents.filter(({ spec }) => sourceUses(spec).length > 0);
  if (asking.length === 0) return NOTHING;
  const sources = new Map<string, MetricSourceRecord>();
  for await (const item of listMetricSources(context.tables))
    if (item.kind === "read") sources.set(item.record.name, item.record);
  for (const source of pending)
    sources.set(source.name, {
      name: source.name,
      ...withDefaults(source),
      version: 0,
      updatedMs: 0,
      updatedBy: context.by,
    });
  const usable = (
    document: Pick<Asking, "namespace">,
    { query }: SourceUse,
  ): MetricSourceRecord | undefined => {
    const source = sources.get(query.source);
    return source && mayAsk(source, { cluster: cluster.name, namespace: document.namespace })
      ? source
      : undefined;
  };
  const partitions = new Set(
    asking.flatMap(({ namespace }) => partitionOf(cluster, namespace) ?? []),
  );
  const refused: string[] = [];
  for (const partition of partitions)
    refused.push(
      ...(await tooMany(context, { cluster, partition }, { documents: asking, usable })),
    );
  return {
    refused,
    warningsOf: (document) => {
      const uses = sourceUses(document.spec);
      return [
        ...uses.flatMap((use) =>
          notAsked(document, use, { cluster: cluster.name, source: usable(document, use) }),
        ),
        ...priceWords(document, uses, { cluster, usable }),
      ];
    },
  };
};

type Usable = (
  document: Pick<Asking, "namespace">,
  use: SourceUse,
) => MetricSourceRecord | undefined;

const placeOf = ({ input }: Asking, { at }: SourceUse): string =>
  `${placeOfField(input, `spec.metrics[${at}]`)}: spec.metrics[${at}]`;

/** The same words for a source that does not exist and for one that the namespace may not ask. */
const notAsked = (
  document: Asking,
  use: SourceUse,
  {
    cluster,
    source,
  }: { readonly cluster: string; readonly source: MetricSourceRecord | undefined },
): readonly string[] => {
  if (source === undefined)
    return [
      `${placeOf(document, use)}: no source "${use.query.source}" is registered for namespace "${document.namespace}" of cluster "${cluster}", so that the metric is missing; an administrator registers it with tidemark source put`,
    ];
  const refusal = refusalOf(use.query, source);
  return refusal === undefined
    ? []
    : [`${placeOf(document, use)}: the metric is missing: ${refusal.message}`];
};

/** What AWS takes a month for the metrics of a document that is new or changed. */
const priceWords = (
  document: Asking,
  uses: readonly SourceUse[],
  { cluster, usable }: { readonly cluster: ClusterRecord; readonly usable: Usable },
): readonly string[] => {
  const price =
    document.changes && priceOf(uses, cluster.syncPeriodMs, (use) => usable(document, use));
  return price ? [`"${document.input.where}": ${price.words}`] : [];
};

/**
 * The documents with which their namespace would ask a source for more than its share, and for more
 * than before. What other namespaces ask refuses none of them. Only what the caller may look at is
 * counted: a share that shrinks says that another tenant asks the source. On doubt, the apply is
 * let through, and the sync holds what is over the share.
 */
const tooMany = async (
  context: ServiceContext,
  { cluster, partition }: { readonly cluster: ClusterRecord; readonly partition: PartitionName },
  { documents, usable }: { readonly documents: readonly Asking[]; readonly usable: Usable },
): Promise<readonly string[]> => {
  const own = documents.filter(({ namespace }) => partitionOf(cluster, namespace) === partition);
  const replaced = new Set(own.map(keyOf));
  const before: Asked[] = [];
  const ref = { cluster: cluster.name, partition };
  for await (const item of autoscalersOf(context.tables, cluster, ref)) {
    if (item.kind === "read" && !sees(context, cluster.name, item.record.namespace)) continue;
    before.push(...askedBy(item, usable));
  }
  const after = [
    ...before.filter((asked) => !replaced.has(keyOf(asked))),
    ...own.map((document) => askedOf(document, document.spec, usable)),
  ];
  const due = { dueMs: 0, periodMs: cluster.syncPeriodMs };
  return own.flatMap((document) => {
    for (const use of sourceUses(document.spec)) {
      const source = usable(document, use);
      if (!source) continue;
      const state = overOf(source, document, { before, after, due });
      if (state !== undefined)
        return [
          `Cannot accept ${placeOf(document, use)}: source "${source.name}" would not be asked for it: ${state}`,
        ];
    }
    return [];
  });
};

/** An autoscaler with what it asks of sources that it may ask. */
interface Asked {
  readonly namespace: string;
  readonly name: string;
  readonly uses: readonly SourceUse[];
}

const keyOf = ({ namespace, name }: Pick<Asked, "namespace" | "name">): string =>
  `${namespace}/${name}`;

const askedOf = (
  { namespace, name }: Pick<Asking, "namespace" | "name">,
  spec: AutoscalerSpec,
  usable: Usable,
): Asked => ({
  namespace,
  name,
  uses: sourceUses(spec).filter((use) => usable({ namespace }, use)),
});

const askedBy = (item: AutoscalerItem, usable: Usable): readonly Asked[] => {
  const spec = item.kind === "read" ? readableSpec(item.record) : undefined;
  return item.kind === "read" && spec ? [askedOf(item.record, spec, usable)] : [];
};

/** Why the source would not be asked for all of the namespace; undefined where it would be. */
const overOf = (
  source: MetricSourceRecord,
  { namespace }: Asking,
  {
    before,
    after,
    due,
  }: { readonly before: readonly Asked[]; readonly after: readonly Asked[]; readonly due: DueTime },
): string | undefined => {
  const ofSource = (asked: readonly Asked[]): readonly SourceAsker[] =>
    asked.flatMap((one) => {
      const uses = one.uses.filter(({ query }) => query.source === source.name);
      const asker = { key: keyOf(one), namespace: one.namespace, uses: () => uses };
      return uses.length === 0 ? [] : [{ ...asker, asked: uses.map(({ query }) => query) }];
    });
  const ofNamespace = (asked: readonly Asked[]): readonly SourceUse[] =>
    asked.filter((one) => one.namespace === namespace).flatMap(({ uses }) => uses);
  if (!asksMore(source, ofNamespace(before), ofNamespace(after), due)) return undefined;
  const askers = ofSource(after);
  const over = overSourceShare(source, askers, due);
  return askers
    .filter((asker) => asker.namespace === namespace)
    .map(({ key }) => over.get(key))
    .find((state) => state !== undefined);
};

/** True where more different questions, or dearer ones, are asked than before. */
const asksMore = (
  source: MetricSourceRecord,
  before: readonly SourceUse[],
  after: readonly SourceUse[],
  { periodMs }: DueTime,
): boolean => {
  const sums = [before, after].map((uses) => {
    const distinct = [...new Map(uses.map((use) => [queryKey(use.query), use])).values()].filter(
      ({ query }) => query.source === source.name,
    );
    const sum = (amountOf: (use: SourceUse) => number): number =>
      distinct.reduce((total, use) => total + amountOf(use), 0);
    return [
      sum(({ query }) => weightOf(query)),
      sum((use) => monthlyDollars(use.query, source, Math.max(periodMs, use.everyMs ?? 0) / 1_000)),
    ] as const;
  });
  const [[questions, cost] = [0, 0], [moreQuestions, moreCost] = [0, 0]] = sums;
  return moreQuestions > questions || moreCost > cost;
};
