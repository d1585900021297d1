import { isObject } from "../../model/is-object.ts";
import type { ChangeView } from "../../service/views/change-view.ts";
import type { FieldChange } from "../../service/views/field-changes.ts";
import { setText } from "./bounds-lines.ts";
import { ageText } from "./age-text.ts";

const VALUE_CHARACTERS_MAX = 120;

const valueText = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
};

const fieldLine = ({ path, ...sides }: FieldChange): string => {
  const text = HOLDS.includes(path) || path.startsWith(OVERRIDE) ? holdText : valueText;
  if (!("before" in sides)) return `  + ${path}: ${text(sides.after)}`;
  if (!("after" in sides)) return `  - ${path}: ${text(sides.before)}`;
  return `  ~ ${path}: ${text(sides.before)} -> ${text(sides.after)}`;
};

const HOLDS: readonly string[] = ["paused", "frozen"];
/** The path of an override ends with its id. */
const OVERRIDE = "overrides.";

/** A pause, a freeze or an override: what it sets, by whom, until when, and why. The line of the edit has its time already. */
const holdText = (value: unknown): string => {
  if (!isObject(value) || typeof value["by"] !== "string") return valueText(value);
  const until = typeof value["until"] === "string" ? ` until ${value["until"]}` : "";
  const reason = typeof value["reason"] === "string" ? `: ${valueText(value["reason"])}` : "";
  const set = setText(value);
  return `${set === "" ? "" : `${set} `}by ${value["by"]}${until}${reason}`;
};

const objectText = ({ scope, cluster, namespace, name }: ChangeView): string => {
  if (scope === "fleet") return "the fleet";
  return scope === "autoscaler" ? `"${cluster}/${namespace}/${name}"` : `${scope} "${name}"`;
};

/** One edit: its time, editor and verb, and a line for each changed field. */
export const changeLines = (change: ChangeView, nowMs: number): readonly string[] => {
  const { at, by, verb, scope, generation, made, fields } = change;
  const number = scope === "autoscaler" ? `, generation ${generation}` : "";
  const failed = made === false ? ", which was not made" : "";
  return [`${at} (${ageText(nowMs - Date.parse(at))} ago) ${by}: ${verb} ${objectText(change)}${number}${failed}`, ...fields.map(fieldLine)];
};
