import type { ChangeView } from "../../service/views/change-view.ts";
import type { FieldChange } from "../../service/views/field-changes.ts";
import { ageText } from "./age-text.ts";

const VALUE_CHARACTERS_MAX = 120;

const valueText = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
};

const fieldLine = (field: FieldChange): string => {
  if (!("before" in field)) return `  + ${field.path}: ${valueText(field.after)}`;
  if (!("after" in field)) return `  - ${field.path}: ${valueText(field.before)}`;
  return `  ~ ${field.path}: ${valueText(field.before)} -> ${valueText(field.after)}`;
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
