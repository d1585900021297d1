import { withLocalTimes } from "../../stack/report/instant-text.ts";
import { lines, type Printed } from "../../stack/report/printed.ts";
import type {
  IntentView,
  PageView,
  PartitionView,
  ResetView,
} from "../../answers/views/cluster.ts";
import type { Printer, Session } from "../io.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { sheet, Table } from "../output/text-table.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { unlessFailed } from "../usage-error.ts";

/** Autoscalers that are listed for a page; the others are counted. */
const NAMED_MAX = 20;

export const describe = async (
  { service }: Session,
  printer: Printer,
  path: string,
  output: "text" | DocumentFormat,
): Promise<void> => {
  const view = await service.partition(path);
  await printer.print(
    output === "text" ? partitionSheet(withLocalTimes(view)) : documentText(view, output),
  );
};

const partitionSheet = (view: PartitionView): Printed => {
  const {
    cluster,
    partition,
    namespaces,
    autoscalers,
    ageSeconds,
    aheadSeconds,
    epoch,
    leasedUntil,
    pages,
    intents,
  } = view;
  return sheet([
    ["Partition", `${cluster}/${partition}`],
    ["Namespaces", typeof namespaces === "string" ? namespaces : namespaces.join(", ")],
    ["Autoscalers", String(autoscalers)],
    ["Synced", ageSeconds === undefined ? "never" : `${ageText(ageSeconds * 1000)} ago`],
    ...(aheadSeconds === undefined
      ? []
      : [["Time ahead", `${aheadSeconds} s: windows stand still; see partition reset`] as const]),
    ["Epoch", String(epoch)],
    ...(leasedUntil === undefined ? [] : [["Leased until", leasedUntil] as const]),
    {
      heading: "Windows pages",
      lines:
        pages.length === 0
          ? ["<none>"]
          : new Table(["Page", "Autoscalers", "Bytes", "State"]).lines(pages.map(pageRow)),
    },
    ...pages.flatMap(holdingAutoscalers),
    {
      heading: "Open intents",
      lines:
        intents.length === 0
          ? ["<none>"]
          : new Table(["Id", "Autoscaler", "From", "To", "State"]).lines(intents.map(intentRow)),
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
  return [
    {
      heading: `Holding because of page ${page}`,
      lines: held.length === 0 ? ["<none>"] : [...held.slice(0, NAMED_MAX), ...more],
    },
  ];
};

const intentRow = ({
  id,
  autoscaler,
  from,
  to,
  deadline,
  problem,
}: IntentView): readonly string[] => [
  id,
  autoscaler ?? "<deleted>",
  from === undefined ? "<unknown>" : String(from),
  to === undefined ? "<unknown>" : String(to),
  problem === undefined
    ? `settled after ${deadline ?? "its deadline"} at the latest`
    : `unreadable: ${problem}`,
];

export interface ResetOptions {
  readonly yes?: true;
}

/**
 * Shows what of a partition a reset would replace; with `--yes` replaces it: pages first, because
 * an intent needs the page of its autoscaler, then intents, and last times that are ahead of the
 * clock. Each is reported when it is done, so that what was reset before an error is known; the
 * same command goes on from there.
 */
export const reset = async (
  { service }: Session,
  printer: Printer,
  path: string,
  { yes }: ResetOptions,
): Promise<void> => {
  const view = await service.partition(path);
  const pages = view.pages.filter(({ problem }) => problem !== undefined);
  const intents = view.intents.filter(({ problem }) => problem !== undefined);
  if (!yes) return void (await printer.print(planText(view, { pages, intents })));
  for (const { page } of pages)
    await printer.print(resetText(await service.resetWindows(path, page), `Windows page ${page}`));
  for (const { id } of intents)
    await printer.print(resetText(await service.resetIntent(path, id), `Intent "${id}"`));
  // Windows may have a time that is ahead where the head, which the view shows, has none.
  const time = await unlessFailed(service.resetTime(path), "service.in-time");
  if (time) await printer.print(lines(resetLines(time, "The time")));
  else if (pages.length + intents.length === 0) await printer.print(lines([nothingText(view)]));
};

interface Damages {
  readonly pages: readonly PageView[];
  readonly intents: readonly IntentView[];
}

const planText = (view: PartitionView, { pages, intents }: Damages): Printed => {
  const { cluster, partition, aheadSeconds } = view;
  if (pages.length + intents.length === 0 && aheadSeconds === undefined)
    return lines([nothingText(view)]);
  return lines([
    `A reset of "${cluster}/${partition}" replaces:`,
    ...pages.map(
      ({ page, held = [], problem }) =>
        `  windows page ${page}, for which ${held.length} autoscalers hold: ${problem}`,
    ),
    ...intents.map(
      ({ id, autoscaler, problem }) =>
        `  intent "${id}" of ${autoscaler ?? "a deleted autoscaler"}: ${problem}`,
    ),
    ...(aheadSeconds === undefined
      ? []
      : [`  times that are ${aheadSeconds} s ahead of the clock`]),
    "What they say is lost. The autoscalers then go on as if each had just been scaled as far as its rules allow.",
    `Nothing was changed: tidemark partition reset ${cluster}/${partition} --yes replaces it`,
  ]);
};

const nothingText = ({ cluster, partition }: PartitionView): string =>
  `Nothing to reset in "${cluster}/${partition}": its pages and intents can be read, and no time is ahead of the clock`;

const resetLines = (
  { cluster, partition, autoscalers }: ResetView,
  what: string,
): readonly string[] => [
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
