import { isDeepStrictEqual } from "node:util";
import { TidemarkError } from "../../rules/model/errors.ts";
import { accountOf, proxyName } from "../../rules/model/metric-source.ts";
import { lines, text } from "../../stack/report/printed.ts";
import type { NewSource, SourceCheck } from "../../answers/service/requests.ts";
import type { SourceView, UnreadableSource } from "../../answers/views/source.ts";
import type { Printer, Session } from "../io.ts";
import { printReport } from "../output/check-lines.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { Table } from "../output/text-table.ts";
import { documentOf } from "../../answers/service/sources/source-documents.ts";

export const put = async (
  { service }: Session,
  printer: Printer,
  source: NewSource,
): Promise<void> => {
  const { name, changed, service: of } = await service.putSource(source);
  await printer.print(
    changed ? text`Source ${name} registered\n` : text`Source ${name} is registered so already\n`,
  );
  if (changed && of)
    printer.note(
      `the clusters must allow it: tidemark cluster rbac --source ${name} | kubectl apply -f -`,
    );
};

export const remove = async (
  { service }: Session,
  printer: Printer,
  name: string,
): Promise<void> => {
  await service.deleteSource(name);
  await printer.print(
    text`Source ${name} deleted: metrics that name it are missing from now on, and their workloads keep their count\n`,
  );
};

/** Asks a source from where the syncs ask it. */
export const check = async (
  { service }: Session,
  printer: Printer,
  wanted: SourceCheck,
  output: "table" | DocumentFormat,
): Promise<void> => {
  const report = await service.checkSource(wanted);
  await printReport(
    printer,
    report,
    output,
    (failed) => `Cannot ask source "${wanted.name}": ${failed} failed`,
  );
};

type Outcome = "created" | "configured" | "unchanged";

/** What registering would do to each source. */
export const outcomesOf = async (
  { service }: Session,
  wanted: readonly NewSource[],
): Promise<readonly (readonly [NewSource, Outcome, SourceView | undefined])[]> => {
  const known = new Map((await service.sources()).map((source) => [source.name, source]));
  return wanted.map((source) => {
    const stored = known.get(source.name);
    if (stored === undefined) return [source, "created", undefined];
    const readable = "problem" in stored ? undefined : stored;
    const same =
      readable !== undefined && isDeepStrictEqual(documentOf(readable), documentOf(source));
    return [source, same ? "unchanged" : "configured", readable];
  });
};

/** Registers the sources of documents, before the autoscalers that name them. */
export const applySources = async (
  session: Session,
  printer: Printer,
  wanted: readonly NewSource[],
  dryRun: boolean,
): Promise<void> => {
  if (wanted.length === 0) return;
  for (const [source, outcome] of await outcomesOf(session, wanted)) {
    if (!dryRun && outcome !== "unchanged") await session.service.putSource(source);
    await printer.print(
      text`MetricSource "${source.name}" ${outcome}${dryRun ? " (dry run)" : ""}\n`,
    );
  }
};

/** Forgets the sources of documents. */
export const removeSources = async (
  session: Session,
  printer: Printer,
  wanted: readonly NewSource[],
  { ignoreNotFound, dryRun }: { readonly ignoreNotFound?: true; readonly dryRun?: boolean },
): Promise<void> => {
  if (wanted.length === 0) return;
  const known = new Set((await session.service.sources()).map(({ name }) => name));
  for (const { name } of wanted) {
    if (ignoreNotFound && !known.has(name)) continue;
    if (dryRun) await anySource(session, name);
    else await session.service.deleteSource(name);
    await printer.print(text`MetricSource "${name}" deleted${dryRun ? " (dry run)" : ""}\n`);
  }
};

const HEADERS = ["NAME", "KIND", "REACHES", "CLUSTERS", "NAMESPACES", "AUTH"] as const;

/** Where a source is, for people: its URL, or a service of each cluster. */
const reaches = ({ url, service, aws }: SourceView): string => {
  if (aws && url === undefined)
    return `${aws.workspace ?? (aws.queues ?? aws.metricNamespaces ?? []).join(",")} in ${aws.region} of account ${accountOf(aws.roleArn)}`;
  return (
    url ??
    (service ? `service ${service.namespace}/${proxyName(service)}${service.path}` : "nothing")
  );
};

const row = (source: SourceView | UnreadableSource) => {
  if ("problem" in source) return [source.name, "", source.problem, "", "", ""];
  const { name, kind, clusters, namespaces, auth, aws } = source;
  return [
    name,
    kind,
    reaches(source),
    clusters.join(","),
    namespaces.join(","),
    auth?.kind ?? (aws ? "role" : "none"),
  ];
};

export const list = async (
  { service }: Session,
  printer: Printer,
  output: "table" | DocumentFormat,
): Promise<void> => {
  const sources = await service.sources();
  if (output !== "table") await printer.print(documentText(sources, output));
  else if (sources.length === 0) await printer.print(text`No sources\n`);
  else await printer.print(lines(new Table(HEADERS).lines(sources.map(row))));
};

/**
 * One source with all of its fields, as a document that `apply` takes. Throws `service.unknown`,
 * `store.unreadable`.
 */
export const describe = async (
  session: Session,
  printer: Printer,
  name: string,
  output: DocumentFormat,
): Promise<void> => {
  await printer.print(documentText(documentOf(await registeredSource(session, name)), output));
};

const anySource = async (
  { service }: Session,
  name: string,
): Promise<SourceView | UnreadableSource> => {
  const found = (await service.sources()).find((source) => source.name === name);
  if (found) return found;
  throw new TidemarkError(
    "service.unknown",
    `Cannot find source "${name}": run tidemark source list`,
    { name },
  );
};

/**
 * The source of this name. Throws `service.unknown`, and `store.unreadable` for a record that
 * cannot be read.
 */
export const registeredSource = async (session: Session, name: string): Promise<SourceView> => {
  const found = await anySource(session, name);
  if (!("problem" in found)) return found;
  throw new TidemarkError("store.unreadable", `Cannot read source "${name}": ${found.problem}`, {
    name,
  });
};
