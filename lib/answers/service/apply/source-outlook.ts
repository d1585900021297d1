import { placeOfField } from "../../../rules/manifest/errors.ts";
import { mayAsk, type MetricSourceRecord } from "../../../rules/model/metric-source.ts";
import { queryKey } from "../../../rules/model/query.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import type { SourceUse } from "../../../rules/policy/dialect.ts";
import { sourceUses } from "../../../rules/policy/dialects.ts";
import { monthlyDollars, refusalOf, weightOf } from "../../../rules/sources/sources.ts";
import type { AutoscalerItem } from "../../../stack/store/records/autoscalers.ts";
import { listMetricSources } from "../../../stack/store/records/metric-sources.ts";
import { autoscalersOf, partitionOf } from "../../../stack/store/records/clusters.ts";
import type { Namespace, PartitionName } from "../../../rules/model/ids.ts";
import type { ServiceContext } from "../context.ts";
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

const dollars = (amount: number): string => `$${amount < 0.01 ? "0.01" : amount.toFixed(2)}`;

/** What AWS takes a month for the metrics of a document that is new or changed. */
const priceWords = (
  document: Asking,
  uses: readonly SourceUse[],
  {
    cluster: { syncPeriodMs },
    usable,
  }: { readonly cluster: ClusterRecord; readonly usable: Usable },
): readonly string[] => {
  if (!document.changes) return [];
  const priced = uses.flatMap((use) => {
    const source = usable(document, use);
    if (source === undefined || refusalOf(use.query, source)) return [];
    const everySeconds = Math.max(syncPeriodMs, use.everyMs ?? 0) / 1_000;
    const amount = monthlyDollars(use.query, source, everySeconds);
    const most = source.kind === "amp" ? "at most " : "";
    return amount > 0
      ? [`${most}${dollars(amount)} a month for "${use.metric}", asked every ${everySeconds} s`]
      : [];
  });
  return priced.length === 0
    ? []
    : [
        `"${document.input.where}": AWS takes some ${priced.join(", and ")} (list prices; everySeconds asks less often)`,
      ];
};

/**
 * The documents with which a sync of the partition would have more questions to a source than it
 * allows, and more than before.
 */
const tooMany = async (
  { tables }: ServiceContext,
  { cluster, partition }: { readonly cluster: ClusterRecord; readonly partition: PartitionName },
  { documents, usable }: { readonly documents: readonly Asking[]; readonly usable: Usable },
): Promise<readonly string[]> => {
  const own = documents.filter(({ namespace }) => partitionOf(cluster, namespace) === partition);
  const replaced = new Set(own.map(({ namespace, name }) => `${namespace}/${name}`));
  const [before, kept] = [new Questions(), new Questions()];
  for await (const item of autoscalersOf(tables, cluster, { cluster: cluster.name, partition })) {
    const uses = usesOf(item, usable);
    before.add(uses);
    if (item.kind === "read" && !replaced.has(`${item.record.namespace}/${item.record.name}`))
      kept.add(uses);
  }
  return own.flatMap((document) => {
    const uses = sourceUses(document.spec).filter((use) => usable(document, use));
    kept.add(uses);
    const over = uses.find((use) => {
      const { maxMetrics = 0 } = usable(document, use) ?? {};
      return kept.of(use.query.source) > Math.max(maxMetrics, before.of(use.query.source));
    });
    if (over === undefined) return [];
    const { maxMetrics = 0 } = usable(document, over) ?? {};
    return [
      `Cannot accept ${placeOf(document, over)}: a sync of partition "${partition}" would ask source "${over.query.source}" ${kept.of(over.query.source)} different questions, and it allows ${maxMetrics} (maxMetrics); ask what others ask already, or let an administrator raise --max-metrics`,
    ];
  });
};

const usesOf = (item: AutoscalerItem, usable: Usable): readonly SourceUse[] => {
  if (item.kind !== "read") return [];
  const spec = readableSpec(item.record);
  return spec ? sourceUses(spec).filter((use) => usable(item.record, use)) : [];
};

/** The weights of different questions, by source. */
class Questions {
  readonly #known = new Map<string, Map<string, number>>();

  add(uses: readonly SourceUse[]): void {
    for (const { query } of uses) {
      const ofSource = this.#known.get(query.source) ?? new Map<string, number>();
      this.#known.set(query.source, ofSource.set(queryKey(query), weightOf(query)));
    }
  }

  of(source: string): number {
    return [...(this.#known.get(source)?.values() ?? [])].reduce((sum, weight) => sum + weight, 0);
  }
}
