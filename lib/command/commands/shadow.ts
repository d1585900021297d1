import { withLocalTimes, instantText } from "../../stack/report/instant-text.ts";
import { lines, type Printed, text, type Word } from "../../stack/report/printed.ts";
import type { Filter } from "../../answers/service/service.ts";
import { wholeShadow, verdictOf, VERDICTS } from "../../answers/service/shadow/join-shadow.ts";
import type {
  ShadowStretch,
  ShadowView,
  ShadowDifference,
  ShadowReaction,
} from "../../answers/views/over-time.ts";
import type { Printer, Session } from "../io.ts";
import { listedRows } from "../select/listed-autoscalers.ts";
import { csvLine, Table, aligned } from "../output/text-table.ts";
import { type DocumentFormat, documentText, listDocument } from "../output/documents.ts";
import { queryFor, type NamedAutoscalerOfKind } from "../select/selected-names.ts";
import { rangeMs } from "../options/time-options.ts";

export interface ShadowOptions {
  readonly since: string;
  readonly until?: string;
  readonly output: "text" | "csv" | DocumentFormat;
}

/**
 * States of an autoscaler that may have another controller beside it: one that fails is none that a
 * takeover may leave out.
 */
const MAY_BE_BESIDE: ReadonlySet<string> = new Set(["shadow", "failing", "forbidden"]);

/**
 * Prints the comparison of one autoscaler, or a line for each beside another controller, also where
 * it fails.
 */
export const shadow = async (
  session: Session,
  printer: Printer,
  of: NamedAutoscalerOfKind | Filter,
  options: ShadowOptions,
): Promise<void> => {
  const { service, nowMs } = session;
  const stretch = rangeMs(options, nowMs, printer.note);
  if ("name" in of) {
    const view = await wholeShadow(service, { ...(await queryFor(service, of)), ...stretch });
    await printer.print(
      textOf([view], judged(view), options.output, () => shadowSheet(withLocalTimes(view))),
    );
    return;
  }
  const views: ShadowView[] = [];
  for await (const { cluster, namespace, name: each, state } of listedRows(
    service,
    undefined,
    of,
  )) {
    if (!MAY_BE_BESIDE.has(state)) continue;
    const view = await wholeShadow(service, { cluster, namespace, name: each, ...stretch });
    if (state === "shadow" || view.rivals.length > 0) views.push(view);
  }
  await printer.print(
    textOf(views, listDocument(views.map(judged)), options.output, () => tableOf(views)),
  );
};

const textOf = (
  views: readonly ShadowView[],
  document: object,
  format: ShadowOptions["output"],
  sheet: () => Printed,
): Printed => {
  if (format === "text") return sheet();
  if (format !== "csv") return documentText(document, format);
  return lines([
    CSV_HEADER,
    ...views.flatMap((view) => view.stretches.map((stretch) => csvRow(view, stretch))),
  ]);
};

const judged = (view: ShadowView) => ({ ...view, ...verdictOf(view) });

const tableOf = (views: readonly ShadowView[]): Printed =>
  views.length === 0
    ? text`No autoscaler is in the state shadow\n`
    : lines([...new Table(SHADOW_HEADERS).lines(views.map(shadowRow)), "", verdictsLine(views)]);

const CSV_COLUMNS = [
  "at",
  "until",
  "syncs",
  "current",
  "own",
  "rival",
  "difference",
  "reason",
  "message",
  "rivalReason",
  "rivalMessage",
] as const;
const CSV_HEADER = ["cluster", "namespace", "name", ...CSV_COLUMNS].join(",");

const csvRow = ({ cluster, namespace, name }: ShadowView, stretch: ShadowStretch): Printed =>
  csvLine([
    cluster,
    namespace,
    name,
    ...CSV_COLUMNS.map((column) => String(stretch[column] ?? "")),
  ]);

const SHADOW_HEADERS = [
  "CLUSTER",
  "NAMESPACE",
  "NAME",
  "RIVAL",
  "SYNCS",
  "AGREE",
  "±1 SYNC",
  "REPLICA HOURS",
  "RIVAL'S HOURS",
  "VERDICT",
];

const shadowRow = (view: ShadowView): readonly string[] => [
  view.cluster,
  view.namespace,
  view.name,
  rivalText(view),
  String(view.syncs),
  shareText(view.agreed, view.syncs),
  shareText(view.agreedWithinPeriod, view.syncs),
  String(view.replicaHours.own),
  String(view.replicaHours.rival),
  verdictText(view),
];

const verdictText = (view: ShadowView): string => {
  const { verdict, why } = verdictOf(view);
  return why === undefined ? verdict : `${verdict}: ${why}`;
};

/** How many are ready, in one line below the table. */
const verdictsLine = (views: readonly ShadowView[]): string => {
  const verdicts = views.map((view) => verdictOf(view).verdict);
  const counted = VERDICTS.map(
    (each) => [each, verdicts.filter((verdict) => verdict === each).length] as const,
  );
  return counted
    .filter(([verdict, count]) => count > 0 || verdict !== "too early")
    .map(([verdict, count]) => `${verdict}: ${count}`)
    .join(", ");
};

const rivalText = ({ rivals }: ShadowView): string =>
  rivals.map(({ kind, name }) => `${kind}/${name}`).join(", ") || "<none>";

const shareText = (agreed: number, syncs: number): string =>
  syncs === 0 ? "<none>" : `${Math.floor((agreed / syncs) * 1_000) / 10}%`;

/** With the words before it, a plot fits a terminal of 80 columns. */
const PLOT_COLUMNS = 64;
const SHOWN = 20;

/**
 * The comparison of one autoscaler on one screen: the share of agreement, a plot of both counts,
 * every difference with both reasons, and how long each took to react.
 */
export const shadowSheet = (view: ShadowView): Printed => {
  const {
    cluster,
    namespace,
    name,
    since,
    until,
    syncs,
    agreed,
    agreedWithinPeriod,
    undecided,
    replicaHours,
    stretches,
    reactions,
  } = view;
  if (stretches.length === 0)
    return text`No sync between ${since} and ${until} found another controller of "${namespace}/${name}" in cluster "${cluster}"\n`;
  const differences = stretches.filter(
    ({ own, rival }) => own !== undefined && rival !== undefined && own !== rival,
  );
  const head = aligned([
    ["Name:", `${cluster}/${namespace}/${name}`],
    ["Beside:", rivalText(view)],
    ["From:", `${since} to ${until}`],
    [
      "Syncs that agree:",
      `${agreed} of ${syncs} (${shareText(agreed, syncs)}), ${agreedWithinPeriod} within one sync${undecided === 0 ? "" : `; in ${undecided} one of them did not decide`}`,
    ],
    ["Verdict:", verdictText(view)],
    ["Replica hours:", `Tidemark ${replicaHours.own}, the other ${replicaHours.rival}`],
  ]);
  return lines([
    ...head,
    ...plot(view),
    ...listed("Differences:", differences, (items) => items.flatMap(differenceLines)),
    ...listed("Reactions:", reactions, (items) => aligned(items.map(reactionRow))),
  ]);
};

/** Both counts over time, with one scale, from the first sync that is compared to the last. */
const plot = ({ stretches }: ShadowView): readonly string[] => {
  const [fromMs, toMs] = [
    Date.parse(stretches[0]?.at ?? ""),
    Date.parse(stretches.at(-1)?.until ?? ""),
  ];
  // The stretch in the middle of each column.
  const shown = Array.from({ length: PLOT_COLUMNS }, (_, column) => {
    const atMs = fromMs + ((column + 0.5) / PLOT_COLUMNS) * (toMs - fromMs);
    const stretch = stretches.findLast(({ at }) => Date.parse(at) <= atMs);
    return stretch && Date.parse(stretch.until) > atMs ? stretch : undefined;
  });
  const [own, rival] = [
    shown.map((stretch) => stretch?.own),
    shown.map((stretch) => stretch?.rival),
  ];
  const counts = [...own, ...rival];
  const top = Math.max(1, ...counts.filter((count) => count !== undefined));
  const [first, last] = [instantText(fromMs), instantText(toMs)];
  return [
    `Wanted replicas, 0 to ${top}${counts.includes(undefined) ? "; empty where a count is not known" : ""}:`,
    ...[
      ["  Tidemark", barsOf(own, top)],
      ["  the other", barsOf(rival, top)],
      ["", `${first}${last.padStart(PLOT_COLUMNS - first.length)}`],
    ].map(([name = "", drawn]) => `${name.padEnd(PLOT_INDENT)}${drawn}`.trimEnd()),
  ];
};
const PLOT_INDENT = "  the other   ".length;

const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;

const barsOf = (counts: readonly (number | undefined)[], top: number): string =>
  counts
    .map((count) =>
      count === undefined
        ? " "
        : BARS[Math.min(BARS.length - 1, Math.floor((count / top) * BARS.length))],
    )
    .join("");

const listed = <Item>(
  title: string,
  items: readonly Item[],
  linesOf: (items: readonly Item[]) => readonly Word[],
): readonly Word[] => {
  if (items.length === 0) return [`${title} none`];
  const more = items.length - SHOWN;
  return [
    title,
    ...linesOf(items.slice(-SHOWN)),
    ...(more > 0 ? [`  and ${more} earlier ones: -o json has them all`] : []),
  ];
};

/** Sentences have lines of their own, because a terminal has room for one beside nothing else. */
const differenceLines = ({
  at,
  syncs,
  own,
  rival,
  difference,
  reason,
  message,
  rivalReason,
  rivalMessage,
}: ShadowStretch): readonly string[] => [
  `  ${at}   ${syncs} sync${syncs === 1 ? "" : "s"}   ${difference === undefined ? "" : DIFFERENCES[difference]}`.trimEnd(),
  `    Tidemark ${own}: ${reason}: ${message}`,
  `    the other ${rival}: ${rivalReason ?? "no reason"}: ${rivalMessage ?? ""}`,
];

const DIFFERENCES: Readonly<Record<ShadowDifference, string>> = {
  phase: "phase: one is a sync earlier",
  young: "young: the windows of the autoscaler are not full",
  rule: "rule",
};

const reactionRow = ({
  at,
  from,
  to,
  ownSeconds,
  rivalSeconds,
}: ShadowReaction): readonly string[] => [
  `  ${at}`,
  `${from} -> ${to ?? "?"}`,
  `Tidemark ${secondsText(ownSeconds)}`,
  `the other ${secondsText(rivalSeconds)}`,
];

const secondsText = (seconds: number | undefined): string =>
  seconds === undefined ? "did not react" : `after ${Math.round(seconds)} s`;
