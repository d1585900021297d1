import { isObject } from "../../rules/model/json.ts";
import type { ChangeView, FieldChange } from "../views/change.ts";
import { setText } from "./bounds-words.ts";

const VALUE_CHARACTERS_MAX = 120;

const shortValue = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
};

/** A field that differs: `~ spec.maxReplicas: 40 -> 60`. */
export const fieldLine = ({ path, ...sides }: FieldChange): string => {
  const text = HOLDS.includes(path) || path.startsWith(OVERRIDE) ? holdText : shortValue;
  if (!("before" in sides)) return `+ ${path}: ${text(sides.after)}`;
  if (!("after" in sides)) return `- ${path}: ${text(sides.before)}`;
  return `~ ${path}: ${text(sides.before)} -> ${text(sides.after)}`;
};

const HOLDS: readonly string[] = ["paused", "frozen"];
/** The path of an override ends with its id. */
const OVERRIDE = "overrides.";

/**
 * A pause, a freeze or an override: what it sets, by whom, until when, and why. The line of the
 * edit has its time already.
 */
const holdText = (value: unknown): string => {
  if (!isObject(value) || typeof value["by"] !== "string") return shortValue(value);
  const until = typeof value["until"] === "string" ? ` until ${value["until"]}` : "";
  const reason = typeof value["reason"] === "string" ? `: ${shortValue(value["reason"])}` : "";
  const set = setText(value);
  return `${set === "" ? "" : `${set} `}by ${value["by"]}${until}${reason}`;
};

/** What was edited: `"eu-1/shop/web"`, "the fleet", `cluster "eu-1"`. */
export const changedObjectText = ({ scope, cluster, namespace, name }: ChangeView): string => {
  if (scope === "fleet") return "the fleet";
  return scope === "autoscaler" ? `"${cluster}/${namespace}/${name}"` : `${scope} "${name}"`;
};
