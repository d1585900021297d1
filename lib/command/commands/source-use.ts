import { specOf } from "../../rules/manifest/admit.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import { mayAsk } from "../../rules/model/metric-source.ts";
import { queryKey } from "../../rules/model/query.ts";
import type { SourceUse } from "../../rules/policy/dialect.ts";
import { sourceUses } from "../../rules/policy/dialects.ts";
import { lines, text } from "../../stack/report/printed.ts";
import { KINDS, monthlyDollars } from "../../rules/sources/kinds.ts";
import { refusalOf, weightOf } from "../../rules/sources/sources.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import type { ClusterView } from "../../answers/views/cluster.ts";
import type { SourceView } from "../../answers/views/source.ts";
import type { Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { Table } from "../output/text-table.ts";

/** The questions of all autoscalers to one source, and what AWS takes for them in a month. */
interface SourceCost {
  readonly source: string;
  readonly kind: SourceView["kind"];
  readonly autoscalers: number;
  /** Different questions of the partitions; an expression counts with its inputs. */
  readonly metrics: number;
  readonly questionsAMonth: number;
  readonly dollars: number;
}

const MONTH_SECONDS = 2_628_000;

/**
 * The registered sources that can be read, and every question that a stored manifest has for one.
 */
const usesOf = async (
  service: Session["service"],
): Promise<{ readonly known: readonly SourceView[]; readonly asked: readonly Asked[] }> => {
  const known = (await service.sources()).flatMap((source) =>
    "problem" in source ? [] : [source],
  );
  const clusters = new Map<string, ClusterView>();
  for await (const cluster of service.clusters()) clusters.set(cluster.name, cluster);
  const asked: Asked[] = [];
  for await (const autoscaler of service.autoscalers({}))
    asked.push(...askedBy(autoscaler, clusters.get(autoscaler.cluster)));
  return { known, asked };
};

/** What the newest syncs got from a source, and what asking it costs. */
interface SourceStatus extends SourceCost {
  /**
   * Metrics of autoscalers that the newest syncs looked for in the source. An idle workload looks
   * only for some.
   */
  readonly looked: number;
  /** How many of these had no value. */
  readonly missing: number;
  /** The newest of their messages. */
  readonly lastError?: string;
}

/**
 * One line for each source: who asks it, what was missing in the newest syncs and why, and what the
 * questions cost. It reads what syncs have stored, and asks no source.
 */
export const sourceStatus = async (
  { service }: Session,
  printer: Printer,
  output: "table" | DocumentFormat,
): Promise<void> => {
  const { known, asked } = await usesOf(service);
  const statuses = known.map((source) => ({
    ...costOf(source, asked),
    ...foundIn(asked.filter(({ use }) => use.query.source === source.name)),
  }));
  if (output !== "table") await printer.print(documentText(statuses, output));
  else if (statuses.length === 0) await printer.print(text`No sources\n`);
  else await printer.print(lines(new Table(STATUS_HEADERS).lines(statuses.map(statusRow))));
};

const STATUS_HEADERS = [
  "SOURCE",
  "KIND",
  "AUTOSCALERS",
  "MISSING",
  "QUESTIONS/MONTH",
  "$/MONTH",
  "LAST ERROR",
] as const;

const statusRow = ({
  looked,
  missing,
  lastError = "",
  ...cost
}: SourceStatus): readonly string[] => [
  ...[
    cost.source,
    cost.kind,
    String(cost.autoscalers),
    looked === 0 ? "" : `${missing} of ${looked}`,
  ],
  ...[questionsText(cost), dollarsText(cost), lastError],
];

const questionsText = ({ questionsAMonth }: SourceCost): string =>
  Math.round(questionsAMonth).toLocaleString("en");

/**
 * Of amp the samples of a query are not known: the price is the one of the most that the source
 * allows.
 */
const dollarsText = ({ kind, dollars }: Pick<SourceCost, "kind" | "dollars">): string =>
  `${KINDS[kind].aws?.isMost && dollars > 0 ? "at most " : ""}${dollars.toFixed(2)}`;

const foundIn = (
  asked: readonly Asked[],
): Pick<SourceStatus, "looked" | "missing" | "lastError"> => {
  const looked = asked.flatMap(({ found }) => found ?? []);
  const failures = looked
    .filter(({ message }) => message !== undefined)
    .toSorted((one, other) => other.at.localeCompare(one.at));
  const lastError = failures[0]?.message;
  return {
    looked: looked.length,
    missing: failures.length,
    ...(lastError !== undefined && { lastError }),
  };
};

/**
 * What the metric sources cost in a month: an estimate of list prices, from the manifests that are
 * stored.
 */
export const sourceCost = async (
  { service }: Session,
  printer: Printer,
  output: "text" | DocumentFormat,
): Promise<void> => {
  const { known, asked } = await usesOf(service);
  const costs = known.map((source) => costOf(source, asked));
  const dollars = costs.reduce((sum, each) => sum + each.dollars, 0);
  if (output !== "text") await printer.print(documentText({ sources: costs, dollars }, output));
  else if (costs.length === 0) await printer.print(text`No sources\n`);
  else {
    const most = costs.some(({ kind }) => KINDS[kind].aws?.isMost) ? "at most " : "";
    const together = `Together ${most}$${dollars.toFixed(2)} a month by list prices; docs/sources.md says what counts`;
    await printer.print(lines([...new Table(COST_HEADERS).lines(costs.map(costRow)), together]));
  }
};

const COST_HEADERS = [
  "SOURCE",
  "KIND",
  "AUTOSCALERS",
  "METRICS",
  "QUESTIONS/MONTH",
  "$/MONTH",
] as const;

const costRow = (cost: SourceCost): readonly string[] => [
  ...[cost.source, cost.kind, String(cost.autoscalers), String(cost.metrics)],
  ...[questionsText(cost), dollarsText(cost)],
];

/**
 * A question that the source refuses, or that its namespace may not ask, is not sent and costs
 * nothing.
 */
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
  /**
   * What is asked once: a partition shares its questions, and an autoscaler with everySeconds asks
   * for its own.
   */
  readonly once: string;
  /** What the newest sync had of it; absent where it did not look. */
  readonly found?: Found | undefined;
}

/** `message` says why there was no value. */
interface Found {
  readonly at: string;
  readonly message?: string;
}

/** The metric of this name, or the input of a formula. */
const foundOf = ({ metrics, syncedAt = "" }: AutoscalerView, wanted: string): Found | undefined => {
  const own = metrics.find(({ name }) => name === wanted);
  if (own)
    return own.kind === "unmeasured"
      ? undefined
      : { at: syncedAt, ...(own.kind === "failed" && { message: own.message }) };
  const input = metrics
    .flatMap((metric) => (metric.kind === "unmeasured" ? [] : (metric.inputs ?? [])))
    .find(({ name }) => name === wanted);
  return (
    input && {
      at: syncedAt,
      ...(input.value === undefined && { message: input.message ?? "no value" }),
    }
  );
};

const askedBy = (autoscalerView: AutoscalerView, of: ClusterView | undefined): readonly Asked[] => {
  const { cluster, namespace, name, manifest } = autoscalerView;
  const period = of?.syncPeriodSeconds ?? 15;
  const partition =
    of?.partitions.find(
      ({ namespaces }) => namespaces !== "all others" && namespaces.includes(namespace),
    )?.name ?? "";
  const autoscaler = `${cluster}/${namespace}/${name}`;
  return usesIn(manifest).map((use) => ({
    cluster,
    namespace,
    autoscaler,
    use,
    everySeconds: Math.max(period, (use.everyMs ?? 0) / 1_000),
    once: JSON.stringify([
      cluster,
      use.everyMs === undefined ? partition : autoscaler,
      queryKey(use.query),
    ]),
    found: foundOf(autoscalerView, use.metric),
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

const costOf = (source: SourceView, all: readonly Asked[]): SourceCost => {
  const asked = all.filter((each) => isAnswered(source, each));
  const questions = [...new Map(asked.map((each) => [each.once, each])).values()];
  const sum = (of: (each: Asked) => number): number =>
    questions.reduce((total, each) => total + of(each), 0);
  return {
    source: source.name,
    kind: source.kind,
    autoscalers: new Set(asked.map(({ autoscaler }) => autoscaler)).size,
    metrics: sum(({ use }) => weightOf(use.query)),
    questionsAMonth: sum(({ everySeconds }) => MONTH_SECONDS / everySeconds),
    dollars: sum(({ use, everySeconds }) => monthlyDollars(use.query, source, everySeconds)),
  };
};
