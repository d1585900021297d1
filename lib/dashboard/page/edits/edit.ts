import type { Description } from "../../../answers/views/autoscaler.ts";
import { readDuration } from "../../../rules/model/time-text.ts";
import { shellWord } from "../../../stack/report/shell-word.ts";
import type { EditPath } from "../../serve/routes.ts";
import type { Place } from "../route.ts";

/** What a person fills in: an option of the command, and a field of the request, of one name. */
export interface Field {
  readonly name: "min" | "max" | "until" | "reason";
  readonly label: string;
  /** What a text must be that is none. */
  readonly must: string;
  readonly isRequired?: boolean;
  /** The value that is sent; undefined for a text that is none. */
  readonly read: (text: string, nowMs: number) => string | number | undefined;
}

/** One edit, as a request and as the command that does the same. */
export interface Edit {
  readonly title: string;
  readonly effect: string;
  readonly path: EditPath;
  readonly words: readonly string[];
  readonly place?: Place;
  readonly fields: readonly Field[];
  /** What a person types before the edit can be made. */
  readonly typed?: string;
}

/** Texts of the fields, by name. */
export type Texts = Readonly<Partial<Record<Field["name"], string>>>;

const replicas = (text: string): number | undefined =>
  /^[1-9]\d*$/.test(text) ? Number(text) : undefined;

/** A length from now by the clock of the stack. */
const endOf = (text: string, nowMs: number): string | undefined => {
  const lengthMs = readDuration(text);
  if (lengthMs === undefined) return undefined;
  const end = new Date(nowMs + lengthMs);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
};

const COUNT = { must: "a whole number of at least 1", read: replicas };
const MIN: Field = { name: "min", label: "Fewest replicas", ...COUNT };
const MAX: Field = { name: "max", label: "Most replicas", ...COUNT };
const LENGTH = { name: "until", must: "a length such as 2h, 90m or 1d", read: endOf } as const;
const REASON: Field = {
  name: "reason",
  label: "Reason, which everyone reads who meets it",
  must: "one line",
  isRequired: true,
  read: (text) => text,
};

const pause = (place: Place): Edit => ({
  title: "Pause",
  effect: "The workload keeps its count, whatever its load, until the pause ends.",
  path: "/v1/autoscaler/pause",
  words: ["pause"],
  place,
  fields: [{ ...LENGTH, label: "Ends after, such as 2h (empty: when someone resumes it)" }],
});

const resume = (place: Place): Edit => ({
  title: "Resume",
  effect: "The rules decide the count again from the next sync on.",
  path: "/v1/autoscaler/resume",
  words: ["resume"],
  place,
  fields: [],
});

const override = (place: Place): Edit => ({
  title: "Override",
  effect: "These bounds go before schedule and manifest until they end.",
  path: "/v1/override/set",
  words: ["override", "set"],
  place,
  fields: [MIN, MAX, { ...LENGTH, label: "Ends after, such as 2h", isRequired: true }, REASON],
});

/** The edits of an autoscaler, the first by the key `e`. */
export const editsOf = (place: Place, { paused }: Pick<Description, "paused">): readonly Edit[] => [
  paused ? resume(place) : pause(place),
  override(place),
];

export const FREEZE: Edit = {
  title: "Freeze",
  effect: "Every workload of every cluster keeps its count until the fleet is thawed.",
  path: "/v1/fleet/freeze",
  words: ["fleet", "freeze"],
  fields: [REASON],
  typed: "fleet",
};

export const THAW: Edit = {
  title: "Thaw",
  effect: "The rules decide the counts of every cluster again from the next sync on.",
  path: "/v1/fleet/thaw",
  words: ["fleet", "thaw"],
  fields: [],
  typed: "fleet",
};

const given = ({ fields }: Edit, texts: Texts) =>
  fields.flatMap((field) => {
    const text = texts[field.name]?.trim() ?? "";
    return text === "" ? [] : [{ ...field, text }];
  });

/** What is sent. */
export const bodyOf = (edit: Edit, texts: Texts, nowMs: number): object => ({
  ...edit.place,
  ...Object.fromEntries(
    given(edit, texts).map(({ name, text, read }) => [name, read(text, nowMs)]),
  ),
});

/** The command line that does the same. `target` are its options for this stack or folder. */
export const commandOf = (edit: Edit, texts: Texts, target: string): string => {
  const { words, place } = edit;
  const of = place ? [place.name, "-n", place.namespace, "--cluster", place.cluster] : [];
  const options = given(edit, texts).flatMap(({ name, text }) => [`--${name}`, text]);
  const line = ["tidemark", ...words, ...of, ...options].map(shellWord).join(" ");
  return target === "" ? line : `${line} ${target}`;
};
