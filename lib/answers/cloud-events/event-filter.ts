import { isObject } from "../../rules/model/json.ts";
import { readSelector } from "../service/label-selector.ts";
import { invalid } from "../service/refusals.ts";
import type { CloudEvent } from "./kinds.ts";

/** True for events that an endpoint wants. */
export type EventFilter = (event: CloudEvent) => boolean;

/** What a filter compares, beside `labels.KEY` and `step`. */
const FIELDS: readonly string[] = [
  ...["cluster", "namespace", "name", "kind", "reason", "outcome", "direction", "phase"],
  ...["storm", "what", "scope", "verb"],
];
const LABEL = "labels.";

const STEP = /^step\s*>=\s*([0-9]{1,9})$/;
/** Commas outside of parentheses. */
const BETWEEN = /,(?![^(]*\))/;

/**
 * Reads a filter in the form of a label selector: "kind in (scale, atMax),namespace=shop,step>=5",
 * "labels.team=blue,!storm". All of its parts must hold; an event without a step is below each
 * step. Throws `service.invalid`.
 */
export const readEventFilter = (text: string): EventFilter => {
  const parts = text.split(BETWEEN).map((part) => part.trim());
  const steps = parts.flatMap((part) => STEP.exec(part)?.[1] ?? []).map(Number);
  const others = parts.filter((part) => !STEP.test(part));
  for (const part of others) mustBeKnown(part, text);
  const isChosen = others.length === 0 ? () => true : readSelector(others.join(","));
  const least = Math.max(0, ...steps);
  return (event) =>
    (steps.length === 0 || ("step" in event && event.step >= least)) && isChosen(fieldsOf(event));
};

/** A misspelt field would choose nothing, or everything. */
const mustBeKnown = (part: string, filter: string): void => {
  const field = /^!?\s*([^=!\s]*)/.exec(part)?.[1] ?? "";
  if (field.startsWith(LABEL) || FIELDS.includes(field)) return;
  throw invalid(
    `Cannot read the filter "${filter}": "${field}" is no field of an event that it can compare; write ${FIELDS.join(", ")}, step>=NUMBER, or ${LABEL}KEY`,
    { filter },
  );
};

const fieldsOf = (event: CloudEvent): Readonly<Record<string, string>> => {
  const { labels } = event.data as { readonly labels?: unknown };
  const own = isObject(labels) ? Object.entries(labels) : [];
  return Object.fromEntries([
    ...own.map(([key, value]) => [`${LABEL}${key}`, String(value)]),
    ...Object.entries(event).flatMap(([field, value]) =>
      FIELDS.includes(field) && typeof value !== "object" ? [[field, String(value)]] : [],
    ),
  ]);
};
