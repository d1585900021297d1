import { instantText, withLocalTimes } from "../../stack/report/instant-text.ts";
import { lines, type Printed, text, type Word } from "../../stack/report/printed.ts";
import type { ClusterChange, NewCluster } from "../../answers/service/service.ts";
import type { ClusterState, ClusterView, StateView } from "../../answers/views/cluster.ts";
import type { Printer, Session, Paint, Style } from "../io.ts";
import { decidedShort, decidedText } from "../../answers/words/decided-words.ts";
import { serverCommand, serverText } from "../../answers/words/server-words.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { sheet, Table } from "../output/text-table.ts";
import { checksText, printReport, reported } from "../output/check-lines.ts";
import { pausedText } from "../output/describe-sheet.ts";
import { type DocumentFormat, documentText, listDocument } from "../output/documents.ts";
import { futureMs } from "../options/time-options.ts";
import { HPA_VERSIONS } from "../../rules/model/spec-common.ts";

const CLUSTER_HEADERS = [
  "NAME",
  "CONNECTION",
  "PERIOD",
  "PARTITIONS",
  "PAUSED",
  "STATE",
  "DECIDED",
  "SYNCED",
] as const;

const WIDE_HEADERS = ["KUBERNETES", "READ"] as const;

export const list = async (
  { service }: Session,
  printer: Printer,
  output: "table" | "wide" | DocumentFormat,
): Promise<void> => {
  const all = await Array.fromAsync(service.clusters());
  if (output !== "table" && output !== "wide")
    await printer.print(documentText(listDocument(all), output));
  else if (all.length === 0) await printer.print(text`No clusters\n`);
  else {
    const [heads, wide] =
      output === "wide" ? [[...CLUSTER_HEADERS, ...WIDE_HEADERS], wideRow] : [CLUSTER_HEADERS, row];
    const shown = withLocalTimes(all).map((cluster) => wide(cluster, printer.paint));
    await printer.print(lines(new Table(heads).lines(shown)));
  }
};

/** The age of a cluster is the age of its oldest partition. */
const syncedText = ({ partitions }: ClusterView): string => {
  const ages = partitions.map(({ ageSeconds }) => ageSeconds);
  return ages.some((age) => age === undefined)
    ? "never"
    : `${ageText(Math.max(0, ...ages.map((age) => age ?? 0)) * 1000)} ago`;
};

const STATE_STYLES: Readonly<Record<ClusterState, Style>> = {
  failing: "bad",
  forbidden: "bad",
  frozen: "warn",
  late: "bad",
  "never synced": "quiet",
  ok: "good",
  "partly failing": "bad",
  paused: "warn",
  unreachable: "bad",
};

const stateText = ({ state }: StateView, paint: Paint): Word => paint(STATE_STYLES[state], state);

const row = (cluster: ClusterView, paint: Paint): readonly Word[] => [
  cluster.name,
  cluster.connection?.kind ?? "none",
  ageText(cluster.syncPeriodSeconds * 1000),
  String(cluster.partitions.length),
  cluster.paused ? (cluster.paused.until ?? "yes") : "no",
  stateText(cluster, paint),
  decidedShort(cluster.decided),
  syncedText(cluster),
];

const wideRow = (cluster: ClusterView, paint: Paint): readonly Word[] => [
  ...row(cluster, paint),
  serverText(cluster),
  cluster.server?.at ?? "never",
];

export const describe = async (
  { service }: Session,
  printer: Printer,
  name: string,
  output: "text" | DocumentFormat,
): Promise<void> => {
  const cluster = await service.cluster(name);
  await printer.print(
    output === "text"
      ? clusterSheet(withLocalTimes(cluster), printer.paint)
      : documentText(cluster, output),
  );
};

const serverLine = (cluster: ClusterView): string =>
  cluster.server === undefined
    ? `unknown; ${serverCommand(cluster)} asks for it`
    : `${serverText(cluster)}, read at ${cluster.server.at}`;

const clusterSheet = (cluster: ClusterView, paint: Paint): Printed => {
  const { kind = "none", ...connection } = cluster.connection ?? {};
  const {
    settings,
    paused,
    removing,
    since,
    error,
    specsFromCluster = [],
    recommenderHosts = [],
    labels,
  } = cluster;
  return sheet([
    ["Name", cluster.name],
    ["State", text`${stateText(cluster, paint)}${since === undefined ? "" : ` since ${since}`}`],
    ...(error === undefined ? [] : [["Error", error] as const]),
    ...(cluster.version === undefined ? [] : [["Version", String(cluster.version)] as const]),
    ["Connection", kind],
    ...Object.entries(connection).map(([key, value]) => [`  ${key}`, String(value)] as const),
    ...(cluster.tokenEnds === undefined ? [] : [["Token ends", cluster.tokenEnds] as const]),
    ["Kubernetes", serverLine(cluster)],
    ["Decided", decidedText(cluster.decided)],
    ["Sync period", ageText(cluster.syncPeriodSeconds * 1000)],
    ...(specsFromCluster.length > 0
      ? [["Specs from the cluster", specsFromCluster.join(", ")] as const]
      : []),
    ...(recommenderHosts.length > 0
      ? [["Recommender hosts", recommenderHosts.join(", ")] as const]
      : []),
    ...(labels === undefined
      ? []
      : [
          [
            "Labels",
            Object.entries(labels)
              .map(([key, value]) => `${key}=${value}`)
              .join(", "),
          ] as const,
        ]),
    ["Paused", paused ? pausedText(paused) : "no"],
    ...(removing ? [["Removal", `begun at ${removing.at} by ${removing.by}`] as const] : []),
    {
      heading: "Partitions",
      lines: new Table(["Name", "Namespaces", "State", "Synced"]).lines(
        cluster.partitions.map(({ name, namespaces, state, ageSeconds }) => [
          name,
          typeof namespaces === "string" ? namespaces : namespaces.join(", "),
          stateText({ state }, paint),
          ageSeconds === undefined ? "never" : `${ageText(ageSeconds * 1000)} ago`,
        ]),
      ),
    },
    {
      heading: "Controller settings",
      lines: [
        `tolerance: ${settings.tolerance}`,
        `downscale stabilization: ${settings.downscaleStabilizationSeconds}s`,
        `CPU initialization period: ${settings.cpuInitializationPeriodSeconds}s`,
        `initial readiness delay: ${settings.initialReadinessDelaySeconds}s`,
        `HPA version: ${settings.hpaVersion ?? HPA_VERSIONS[0]}`,
      ],
    },
  ]);
};

export const add = async (
  { service }: Session,
  printer: Printer,
  cluster: NewCluster,
): Promise<void> => {
  const { name, checks } = await reported(printer, () => service.addCluster(cluster));
  await printer.print(text`${checksText(checks, printer)}Cluster "${name}" added\n`);
};

export const replace = async (
  { service }: Session,
  printer: Printer,
  change: ClusterChange,
): Promise<void> => {
  const { name, checks } = await reported(printer, () => service.replaceCluster(change));
  await printer.print(text`${checksText(checks, printer)}Cluster "${name}" replaced\n`);
};

export const pause = async (
  { service, nowMs }: Session,
  printer: Printer,
  name: string,
  until: string | undefined,
): Promise<void> => {
  const untilMs = until === undefined ? undefined : futureMs("--until", until, nowMs, printer.note);
  await service.pauseCluster(name, untilMs);
  await printer.print(
    text`Cluster "${name}" paused${untilMs === undefined ? "" : ` until ${instantText(untilMs)}`}\n`,
  );
};

export const resume = async (
  { service }: Session,
  printer: Printer,
  name: string,
): Promise<void> => {
  await service.resumeCluster(name);
  await printer.print(text`Cluster "${name}" resumed\n`);
};

export const remove = async (
  { service }: Session,
  printer: Printer,
  name: string,
): Promise<void> => {
  await service.removeCluster(name);
  await printer.print(text`Cluster "${name}" removed\n`);
};

export interface CheckOptions {
  readonly kind?: readonly string[];
  readonly output: "table" | DocumentFormat;
}

export const check = async (
  { service }: Session,
  printer: Printer,
  name: string,
  { kind, output }: CheckOptions,
): Promise<void> => {
  const report = await service.checkCluster({ name, ...(kind && { kinds: kind }) });
  await printReport(
    printer,
    report,
    output,
    (failed) => `Cannot use cluster "${name}": ${failed} failed, of ${report.checks.length} points`,
  );
};
