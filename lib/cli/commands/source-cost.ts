import { specOf } from "../../manifest/admit.ts";
import { isTidemarkError } from "../../model/errors.ts";
import { mayAsk, type MetricSourceRecord } from "../../model/metric-source.ts";
import { queryKey } from "../../model/query.ts";
import type { SourceUse } from "../../policy/dialect.ts";
import { sourceUses } from "../../policy/dialects.ts";
import { lines, text } from "../../report/printed.ts";
import type { AutoscalerView, ClusterView } from "../../service/views/view-types.ts";
import type { SourceView } from "../../service/sources/requests.ts";
import { monthlyDollars, refusalOf, weightOf } from "../../sources/sources.ts";
import type { Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/document-text.ts";
import { Table } from "../output/text-table.ts";

/** The questions of all autoscalers to one source, and what AWS takes for them in a month. */
interface SourceCost {
  readonly source: string;
  readonly kind: string;
  readonly autoscalers: number;
  /** Different questions of the partitions; an expression counts with its inputs. */
  readonly metrics: number;
  readonly questionsAMonth: number;
  readonly dollars: number;
}

const MONTH_SECONDS = 2_628_000;

/** What the metric sources cost in a month: an estimate of list prices, from the manifests that are stored. */
export const sourceCost = async ({ service }: Session, printer: Printer, output: "text" | DocumentFormat): Promise<void> => {
  const known = (await service.sources()).flatMap((source) => ("problem" in source ? [] : [source]));
  const clusters = new Map<string, ClusterView>();
  for await (const cluster of service.clusters()) clusters.set(cluster.name, cluster);
  const asked: Asked[] = [];
  for await (const autoscaler of service.autoscalers({})) asked.push(...askedBy(autoscaler, clusters.get(autoscaler.cluster)));
  const costs = known.map((source) =>
    costOf(
      source,
      asked.filter((each) => isAnswered(source, each)),
    ),
  );
  const dollars = costs.reduce((sum, each) => sum + each.dollars, 0);
  if (output !== "text") await printer.print(documentText({ sources: costs, dollars }, output));
  else if (costs.length === 0) await printer.print(text`No sources\n`);
  else
    await printer.print(
      lines([
        ...new Table(["SOURCE", "KIND", "AUTOSCALERS", "METRICS", "QUESTIONS/MONTH", "$/MONTH"]).lines(
          costs.map((each) => [
            each.source,
            each.kind,
            String(each.autoscalers),
            String(each.metrics),
            Math.round(each.questionsAMonth).toLocaleString("en"),
            `${each.kind === "amp" && each.dollars > 0 ? "at most " : ""}${each.dollars.toFixed(2)}`,
          ]),
        ),
        `Together $${dollars.toFixed(2)} a month by list prices; docs/sources.md says what counts`,
      ]),
    );
};

/** A question that the source refuses, or that its namespace may not ask, is not sent and costs nothing. */
const isAnswered = (source: SourceView, { use, cluster, namespace }: Asked): boolean =>
  use.query.source === source.name &&
  mayAsk(source, { cluster, namespace }) &&
  refusalOf(use.query, { ...source, version: 0, updatedMs: 0 }) === undefined;

interface Asked {
  readonly cluster: string;
  readonly namespace: string;
  readonly autoscaler: string;
  readonly use: SourceUse;
  readonly everySeconds: number;
  /** What is asked once: a partition shares its questions, and an autoscaler with everySeconds asks for its own. */
  readonly once: string;
}

const askedBy = ({ cluster, namespace, name, manifest }: AutoscalerView, of: ClusterView | undefined): readonly Asked[] => {
  const period = of?.syncPeriodSeconds ?? 15;
  const partition = of?.partitions.find(({ namespaces }) => namespaces !== "all others" && namespaces.includes(namespace))?.name ?? "";
  const autoscaler = `${cluster}/${namespace}/${name}`;
  return usesIn(manifest).map((use) => ({
    cluster,
    namespace,
    autoscaler,
    use,
    everySeconds: Math.max(period, (use.everyMs ?? 0) / 1_000),
    once: JSON.stringify([cluster, use.everyMs === undefined ? partition : autoscaler, queryKey(use.query)]),
  }));
};

/** A manifest that this version cannot read asks nothing, and `get` shows it. */
const usesIn = (manifest: unknown): readonly SourceUse[] => {
  try {
    return sourceUses(specOf(JSON.stringify(manifest)));
  } catch (error) {
    if (isTidemarkError(error, "manifest")) return [];
    throw error;
  }
};

const costOf = (source: Pick<MetricSourceRecord, "name" | "kind" | "aws">, asked: readonly Asked[]): SourceCost => {
  const questions = [...new Map(asked.map((each) => [each.once, each])).values()];
  const sum = (of: (each: Asked) => number): number => questions.reduce((total, each) => total + of(each), 0);
  return {
    source: source.name,
    kind: source.kind,
    autoscalers: new Set(asked.map(({ autoscaler }) => autoscaler)).size,
    metrics: sum(({ use }) => weightOf(use.query)),
    questionsAMonth: sum(({ everySeconds }) => MONTH_SECONDS / everySeconds),
    dollars: sum(({ use, everySeconds }) => monthlyDollars(use.query, source, everySeconds)),
  };
};
