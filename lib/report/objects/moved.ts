import { type Json, listedConditions } from "./object-conditions.ts";

/** How a status differs from the one in the cluster. `values`: only in measured values, and in sentences that name them. */
export type Moved = "nothing" | "values" | "state";

/** The fields that people and programs wait for. */
const STATE = ["observedGeneration", "currentReplicas", "desiredReplicas", "lastScaleTime", "scalingEventsCount"];

export const movedOf = (wanted: Json, listed: Json): Moved => {
  if (STATE.some((field) => field in wanted && wanted[field] !== listed[field])) return "state";
  if (stateOf(wanted) !== stateOf(listed)) return "state";
  return Object.keys(wanted).every((field) => textOf(wanted[field]) === textOf(listed[field])) ? "nothing" : "values";
};

const stateOf = (status: Json): string =>
  JSON.stringify(listedConditions(status).map(({ type, status: state, reason, observedGeneration }) => [type, state, reason, observedGeneration]));

/** Equal values give equal texts, in whatever order an API server writes their members. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  ) ?? "";
