import { withLocalTimes } from "../../report/instant-text.ts";
import { lines, type Printed } from "../../report/printed.ts";
import type { IntentView, PageView, PartitionView, ResetView } from "../../service/views/partition-view.ts";
import type { Printer, Session } from "../io.ts";
import { ageText } from "../output/age-text.ts";
import { type DocumentFormat, documentText } from "../output/document-text.ts";
import { sheet } from "../output/sheet.ts";
import { Table } from "../output/text-table.ts";
import { usage } from "../usage-error.ts";

/** Autoscalers that are listed for a page; the others are counted. */
const NAMED_MAX = 20;

export const describe = async ({ service }: Session, printer: Printer, path: string, output: "text" | DocumentFormat): Promise<void> => {
  const view = await service.partition(path);
  await printer.print(output === "text" ? partitionSheet(withLocalTimes(view)) : documentText(view, output));
};

const partitionSheet = (view: PartitionView): Printed => {
  const { cluster, partition, namespaces, autoscalers, ageSeconds, aheadSeconds, epoch, leasedUntil, pages, intents } = view;
  return sheet([
    ["Partition", `${cluster}/${partition}`],
    ["Namespaces", typeof namespaces === "string" ? namespaces : namespaces.join(", ")],
    ["Autoscalers", String(autoscalers)],
    ["Synced", ageSeconds === undefined ? "never" : `${ageText(ageSeconds * 1000)} ago`],
    ...(aheadSeconds === undefined ? [] : [["Time ahead", `${aheadSeconds} s: windows stand still; see partition reset-time`] as const]),
    ["Epoch", String(epoch)],
    ...(leasedUntil === undefined ? [] : [["Leased until", leasedUntil] as const]),
    {
      heading: "Windows pages",
      lines: pages.length === 0 ? ["<none>"] : new Table(["Page", "Autoscalers", "Bytes", "State"]).lines(pages.map(pageRow)),
    },
    ...pages.flatMap(holdingAutoscalers),
    {
      heading: "Open intents",
      lines: intents.length === 0 ? ["<none>"] : new Table(["Id", "Autoscaler", "From", "To", "State"]).lines(intents.map(intentRow)),
    },
  ]);
};

const pageRow = ({ page, autoscalers, bytes, problem }: PageView): readonly string[] => [
  String(page),
  String(autoscalers),
  String(bytes),
  problem === undefined ? "readable" : `unreadable: ${problem}`,
];

const holdingAutoscalers = ({ page, problem, held = [] }: PageView) => {
  if (problem === undefined) return [];
  const more = held.length > NAMED_MAX ? [`and ${held.length - NAMED_MAX} more`] : [];
  return [{ heading: `Holding because of page ${page}`, lines: held.length === 0 ? ["<none>"] : [...held.slice(0, NAMED_MAX), ...more] }];
};

const intentRow = ({ id, autoscaler, from, to, deadline, problem }: IntentView): readonly string[] => [
  id,
  autoscaler ?? "<deleted>",
  from === undefined ? "<unknown>" : String(from),
  to === undefined ? "<unknown>" : String(to),
  problem === undefined ? `settled after ${deadline ?? "its deadline"} at the latest` : `unreadable: ${problem}`,
];

export interface ResetOptions {
  readonly yes?: true;
}

/** Reads "3" of --page. */
export const pageNumber = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw usage(`Cannot read --page "${text}": give the number of a page from tidemark partition describe`);
  return Number(text);
};

export const resetWindows = async ({ service }: Session, printer: Printer, path: string, page: number): Promise<void> => {
  await printer.print(resetText(await service.resetWindows(path, page), `Windows page ${page}`));
};

export const resetIntent = async ({ service }: Session, printer: Printer, path: string, id: string): Promise<void> => {
  await printer.print(resetText(await service.resetIntent(path, id), `Intent "${id}"`));
};

export const resetTime = async ({ service }: Session, printer: Printer, path: string): Promise<void> => {
  await printer.print(lines(resetLines(await service.resetTime(path), "The time")));
};

/** Checked before the folder is opened, because a reset cannot be undone. */
export const requireYes = ({ yes }: ResetOptions, what: string, forgotten: string): void => {
  if (!yes) throw usage(`Cannot reset ${what}: ${forgotten}; check it with tidemark partition describe, then add --yes`);
};

const resetLines = ({ cluster, partition, autoscalers }: ResetView, what: string): readonly string[] => [
  `${what} of "${cluster}/${partition}" reset: ${autoscalers.length} autoscalers go on as if each had just been scaled as far as its rules allow`,
  ...autoscalers.map((path) => `  ${path}`),
];

const resetText = (view: ResetView, what: string): Printed =>
  lines([
    ...resetLines(view, what),
    view.kept
      ? `The history keeps the ${view.kept.bytes} unreadable bytes under "${view.kept.pk}", "${view.kept.sk}"`
      : "The item had no bytes to keep",
  ]);
