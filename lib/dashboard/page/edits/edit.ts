import type { Description } from "../../../answers/views/autoscaler.ts";
import type { OverrideView } from "../../../answers/views/holds.ts";
import { placeText } from "../../../answers/words/bounds-words.ts";
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
  /** What it is about, for people, as arguments of the command, and as fields of the request. */
  readonly subject: string;
  readonly names: readonly string[];
  readonly sent: object;
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

const ofPlace = (place: Place): Pick<Edit, "subject" | "names" | "sent"> => ({
  subject: `${place.cluster} / ${place.namespace} / ${place.name}`,
  names: [place.name, "-n", place.namespace, "--cluster", place.cluster],
  sent: { ...place },
});
const OF_FLEET = { subject: "the fleet", names: [], sent: {} } as const;

const pause = (place: Place): Edit => ({
  title: "Pause",
  effect: "The workload keeps its count, whatever its load, until the pause ends.",
  path: "/v1/autoscaler/pause",
  words: ["pause"],
  ...ofPlace(place),
  fields: [{ ...LENGTH, label: "Ends after, such as 2h (empty: when someone resumes it)" }],
});

const resume = (place: Place): Edit => ({
  title: "Resume",
  effect: "The rules decide the count again from the next sync on.",
  path: "/v1/autoscaler/resume",
  words: ["resume"],
  ...ofPlace(place),
  fields: [],
});

const overriding = (place: Place): Edit => ({
  title: "Override",
  effect: "These bounds go before schedule and manifest until they end.",
  path: "/v1/override/set",
  words: ["override", "set"],
  ...ofPlace(place),
  fields: [MIN, MAX, { ...LENGTH, label: "Ends after, such as 2h", isRequired: true }, REASON],
});

/** The edits of an autoscaler, the first by the key `e`. */
export const editsOf = (place: Place, { paused }: Pick<Description, "paused">): readonly Edit[] => [
  paused ? resume(place) : pause(place),
  overriding(place),
];

/** An override of a wider place moves the bounds of others too. */
const ofOverride = (override: OverrideView): Pick<Edit, "subject" | "names" | "sent" | "typed"> => {
  const { id, cluster, scope } = override;
  return {
    subject: `the override of ${placeText(override)}`,
    names: [id, ...(cluster === undefined ? [] : ["--cluster", cluster])],
    sent: { id, ...(cluster !== undefined && { cluster }) },
    ...(scope === "fleet" && { typed: "fleet" }),
  };
};

/** What can be done about an override that is there. */
export const editsOfOverride = (override: OverrideView): readonly Edit[] => [
  {
    title: "Extend",
    effect: "The override gets another end, later or earlier.",
    path: "/v1/override/extend",
    words: ["override", "extend"],
    ...ofOverride(override),
    fields: [{ ...LENGTH, label: "Ends after, such as 2h, from now on", isRequired: true }],
  },
  {
    title: "Clear",
    effect: "The override ends now: schedule and manifest set the bounds again.",
    path: "/v1/override/clear",
    words: ["override", "clear"],
    ...ofOverride(override),
    fields: [],
  },
];

export const FREEZE: Edit = {
  title: "Freeze",
  effect: "Every workload of every cluster keeps its count until the fleet is thawed.",
  path: "/v1/fleet/freeze",
  words: ["fleet", "freeze"],
  ...OF_FLEET,
  fields: [REASON],
  typed: "fleet",
};

export const THAW: Edit = {
  title: "Thaw",
  effect: "The rules decide the counts of every cluster again from the next sync on.",
  path: "/v1/fleet/thaw",
  words: ["fleet", "thaw"],
  ...OF_FLEET,
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
  ...edit.sent,
  ...Object.fromEntries(
    given(edit, texts).map(({ name, text, read }) => [name, read(text, nowMs)]),
  ),
});

/** The command line that does the same. `target` are its options for this stack or folder. */
export const commandOf = (edit: Edit, texts: Texts, target: string): string => {
  const { words, names } = edit;
  const options = given(edit, texts).flatMap(({ name, text }) => [`--${name}`, text]);
  const line = ["tidemark", ...words, ...names, ...options].map(shellWord).join(" ");
  return target === "" ? line : `${line} ${target}`;
};
