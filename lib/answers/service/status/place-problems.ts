import type { FleetRecord } from "../../../rules/model/records.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { freeFrom } from "../../../stack/plan/hold-fleet.ts";
import { ageText } from "../../../stack/report/duration-text.ts";
import type { FleetPlace } from "../../../stack/store/records/fleet-place.ts";
import { readPlan } from "../../../stack/store/records/plan-records.ts";
import type { StatusProblem } from "../../views/status.ts";
import type { QueryContext } from "../context.ts";
import { rfc3339 } from "../times.ts";
import { problem } from "./status-problems.ts";

/** Where the fleet cannot act from these tables, or no stack holds it. */
export const placeProblems = async (
  { tables }: Pick<QueryContext, "tables">,
  place: FleetPlace,
  nowMs: number,
): Promise<readonly StatusProblem[]> => {
  if (place.kind === "copied")
    return [
      problem(
        "restored",
        "The tables were restored or are a copy: a freeze, deletions and scales may be missing in them, and nothing is scaled",
        "docs/operations.md#restore-both-tables, then tidemark fleet adopt",
      ),
    ];
  if (place.kind === "leaving")
    return [
      problem(
        "standby",
        `This stack gave the fleet up for region "${place.to}", which has not taken it: nothing is scaled`,
        `tidemark fleet move --to ${place.to} on the stack of that region`,
      ),
    ];
  if (place.kind === "here" && place.replicas.length === 0) return [];
  return silentProblems(place, freeFrom(await readPlan(tables)), nowMs);
};

const silentProblems = (
  place: FleetPlace,
  freeMs: number,
  nowMs: number,
): readonly StatusProblem[] => {
  if (nowMs < freeMs) return [];
  const since = `No stack has held the fleet for ${ageText(nowMs - freeMs)}: nothing is scaled`;
  const where = place.kind === "standby" ? (place.region ?? "another region") : "this one";
  return [
    problem(
      "standby",
      `${since}; it was last held by the stack in ${where}`,
      "docs/standby.md#the-region-is-down, then tidemark fleet move",
    ),
  ];
};

/** A move is shown for so long: it may have been made by no person. */
const MOVE_SHOWN_MS = DAY_MS;

/** Which region has the fleet, and since when, where it has moved lately. */
export const placeNotices = (
  place: FleetPlace,
  { moved, tables }: FleetRecord,
  nowMs: number,
): readonly StatusProblem[] => {
  if (place.kind !== "here" || !moved || nowMs >= moved.atMs + MOVE_SHOWN_MS) return [];
  const from = moved.from === undefined ? "" : ` from "${moved.from}"`;
  return [
    problem(
      "standby",
      `The fleet is in "${tables?.region ?? "this region"}" since ${rfc3339(moved.atMs)}: moved${from} by ${moved.by}; edits of the last seconds before may be missing`,
      "docs/standby.md#the-region-is-down",
    ),
  ];
};
