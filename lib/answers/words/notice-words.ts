import { foreignText } from "../../rules/model/foreign-text.ts";
import type { StateNotice, StormNotice } from "../../rules/model/notices.ts";
import { shellWord } from "../../stack/report/shell-word.ts";

/** `shop/checkout in eu-1: at its maximum of 9 … Why: tidemark explain …`. */
export const noticeSentence = (
  { cluster, autoscaler, phase, atMs }: StateNotice,
  words: string,
): string => {
  const why = phase === "ended" ? "" : `. Why: ${commandOf(cluster, autoscaler, atMs)}`;
  return autoscaler
    ? `${autoscaler.namespace}/${autoscaler.name} in ${cluster}: ${words}${why}`
    : `cluster ${cluster}: ${words}${why}`;
};

const commandOf = (
  cluster: string,
  autoscaler: StateNotice["autoscaler"],
  atMs: number,
): string => {
  if (!autoscaler) return `tidemark cluster check ${shellWord(cluster)}`;
  const name = shellWord(`${autoscaler.namespace}/${autoscaler.name}`);
  const at = new Date(atMs).toISOString();
  return `tidemark explain ${name} --cluster ${shellWord(cluster)} --at ${at}`;
};

/** `eu-1: 1000 scales in the minute of 14:02 UTC: 980 up (+4312), …. Which: tidemark events …`. */
export const stormSentence = (storm: StormNotice, words: string): string => {
  const { cluster, atMs, count, scales, namespaces } = storm;
  const minute = `${new Date(atMs).toISOString().slice(11, 16)} UTC`;
  const what = scales
    ? `${count} scale events in the minute of ${minute}: ${scalesText(scales)}`
    : `${count} autoscalers in the minute of ${minute}: ${words}`;
  const most = namespaces.map((one) => `${foreignText(one.namespace)} ${one.count}`).join(", ");
  const inside = most === "" ? "" : `. By namespace: ${most}`;
  return `cluster ${cluster}: ${what}${inside}. Which: ${listCommand(storm)}`;
};

const MINUTE_MS = 60_000;

const listCommand = ({ cluster, atMs, scales }: StormNotice): string => {
  const [since, until] = [atMs, atMs + MINUTE_MS - 1].map((ms) => new Date(ms).toISOString());
  return scales
    ? `tidemark events --all --cluster ${shellWord(cluster)} --since ${since} --until ${until}`
    : `tidemark get --cluster ${shellWord(cluster)}`;
};

const scalesText = (scales: NonNullable<StormNotice["scales"]>): string => {
  const { up, down, refused, unknown, outside, added, removed, largest } = scales;
  const parts = [
    ...(up > 0 ? [`${up} up (+${added})`] : []),
    ...(down > 0 ? [`${down} down (−${removed})`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
    ...(outside > 0 ? [`${outside} by others`] : []),
  ];
  const steps = largest.map(
    ({ namespace, name, from, to }) =>
      `${foreignText(namespace)}/${foreignText(name)} ${from} → ${to}`,
  );
  return `${parts.join(", ")}${steps.length === 0 ? "" : `; largest ${steps.join(", ")}`}`;
};
