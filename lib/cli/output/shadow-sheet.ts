import { sparkline } from "../../local/view/sparkline.ts";
import type { ShadowReaction, ShadowStretch, ShadowView } from "../../service/views/shadow-view.ts";
import { aligned } from "./text-table.ts";

export const SHADOW_HEADERS = ["CLUSTER", "NAMESPACE", "NAME", "RIVAL", "SYNCS", "AGREE", "REPLICA HOURS", "RIVAL'S HOURS"];

export const shadowRow = (view: ShadowView): readonly string[] => [
  view.cluster,
  view.namespace,
  view.name,
  rivalText(view),
  String(view.syncs),
  shareText(view),
  String(view.replicaHours.own),
  String(view.replicaHours.rival),
];

const rivalText = ({ rivals }: ShadowView): string => rivals.map(({ kind, name }) => `${kind}/${name}`).join(", ") || "<none>";

const shareText = ({ syncs, agreed }: ShadowView): string => (syncs === 0 ? "<none>" : `${Math.floor((agreed / syncs) * 1_000) / 10}%`);

const PLOT_COLUMNS = 72;
const SHOWN = 20;

/** The comparison of one autoscaler on one screen: the share of agreement, a plot of both counts, every difference with both reasons, and how long each took to react. */
export const shadowSheet = (view: ShadowView): string => {
  const { cluster, namespace, name, since, until, syncs, agreed, undecided, replicaHours, stretches, reactions } = view;
  if (stretches.length === 0)
    return `No sync between ${since} and ${until} found another controller of "${namespace}/${name}" in cluster "${cluster}"\n`;
  const differences = stretches.filter(({ own, rival }) => own !== undefined && rival !== undefined && own !== rival);
  const head = aligned([
    ["Name:", `${cluster}/${namespace}/${name}`],
    ["Beside:", rivalText(view)],
    ["From:", `${since} to ${until}`],
    [
      "Syncs that agree:",
      `${agreed} of ${syncs} (${shareText(view)})${undecided === 0 ? "" : `, and ${undecided} in which one of them did not decide`}`,
    ],
    ["Replica hours:", `Tidemark ${replicaHours.own}, the other ${replicaHours.rival}`],
  ]);
  const shown = [...head, ...plot(view), ...listed("Differences:", differences, differenceRow), ...listed("Reactions:", reactions, reactionRow)];
  return shown.map((line) => `${line}\n`).join("");
};

/** Both counts over time, with one scale. */
const plot = ({ stretches, since, until }: ShadowView): readonly string[] => {
  const [own, rival] = [cells(stretches, "own"), cells(stretches, "rival")];
  const top = Math.max(1, ...own, ...rival);
  return [
    `Wanted replicas, 0 to ${top}, ${since} to ${until}:`,
    ...aligned([
      ["  Tidemark", sparkline(own, PLOT_COLUMNS, top)],
      ["  the other", sparkline(rival, PLOT_COLUMNS, top)],
    ]),
  ];
};

/** The count in the middle of each column; 0 where it is not known. */
const cells = (stretches: readonly ShadowStretch[], which: "own" | "rival"): readonly number[] => {
  const fromMs = Date.parse(stretches[0]?.at ?? "");
  const lastsMs = Date.parse(stretches.at(-1)?.until ?? "") - fromMs;
  return Array.from({ length: PLOT_COLUMNS }, (_, column) => {
    const atMs = fromMs + ((column + 0.5) / PLOT_COLUMNS) * lastsMs;
    return stretches.findLast(({ at }) => Date.parse(at) <= atMs)?.[which] ?? 0;
  });
};

const listed = <Item>(title: string, items: readonly Item[], row: (item: Item) => readonly string[]): readonly string[] => {
  if (items.length === 0) return [`${title} none`];
  const more = items.length - SHOWN;
  return [title, ...aligned(items.slice(-SHOWN).map(row)), ...(more > 0 ? [`  and ${more} earlier ones: -o json has them all`] : [])];
};

const differenceRow = ({ at, syncs, own, rival, reason, message, rivalReason, rivalMessage }: ShadowStretch): readonly string[] => [
  `  ${at}`,
  `${syncs} sync${syncs === 1 ? "" : "s"}`,
  `Tidemark ${own}: ${reason}: ${message}`,
  `the other ${rival}: ${rivalReason ?? "no reason"}: ${rivalMessage ?? ""}`,
];

const reactionRow = ({ at, from, to, ownSeconds, rivalSeconds }: ShadowReaction): readonly string[] => [
  `  ${at}`,
  `${from} -> ${to ?? "?"}`,
  `Tidemark ${secondsText(ownSeconds)}`,
  `the other ${secondsText(rivalSeconds)}`,
];

const secondsText = (seconds: number | undefined): string => (seconds === undefined ? "did not react" : `after ${seconds} s`);
