import * as z from "zod";
import type { CommandService, QueryService } from "../service/service.ts";
import {
  applied,
  autoscaler,
  description,
  edited,
  explanation,
  kindCount,
} from "../views/autoscaler.ts";
import { access, accessEdited, canI, change } from "../views/change.ts";
import {
  cluster,
  clusterStored,
  connectionReport,
  fleet,
  fleetAdopted,
  fleetMoved,
  fleetEdited,
  measuredOfFleet,
  partition,
  reset,
} from "../views/cluster.ts";
import { examination } from "../views/doctor.ts";
import { event, eventCount } from "../views/event.ts";
import { calendar, calendarEdited, override, overrideEdited } from "../views/holds.ts";
import { history, shadow, sparklineSet } from "../views/over-time.ts";
import { clusterRows } from "../views/row.ts";
import { scheduleSchema, scheduleSet } from "../views/schedule.ts";
import { series, source, sourceEdited, unreadableSource } from "../views/source.ts";
import { status } from "../views/status.ts";
import { registeredWake, unreadableWake, wakeEdited, woken } from "../views/wake.ts";
import { page, text } from "../views/view-of.ts";

const named = z.object({ name: text });

/**
 * What each route answers. docs/openapi.json and docs/answers.md are made of it, and the client of
 * a deployed stack checks answers by it.
 */
export const ANSWERS = {
  autoscalers: page(autoscaler),
  rows: page(clusterRows),
  get: autoscaler,
  describe: description,
  explain: explanation,
  schedule: scheduleSchema,
  doctor: page(examination),
  history,
  shadow,
  sparklines: sparklineSet,
  schedules: scheduleSet,
  events: page(event),
  eventCounts: page(eventCount),
  changes: page(change),
  series,
  clusters: page(cluster),
  cluster,
  partition,
  fleet,
  measuredSyncs: measuredOfFleet,
  overrides: page(override),
  calendars: z.object({ calendars: z.array(calendar) }),
  status,
  sources: z.object({ sources: z.array(z.union([source, unreadableSource])) }),
  wakes: z.object({ wakes: z.array(z.union([registeredWake, unreadableWake])) }),
  access,
  canI,
  apply: z.object({
    applied: z.array(applied),
    passedOver: z
      .array(kindCount)
      .describe("objects of other kinds; absent where there are none")
      .exactOptional(),
  }),
  delete: edited,
  pause: edited,
  resume: edited,
  takeOver: edited,
  handBack: edited,
  checkCluster: connectionReport,
  checkSource: connectionReport,
  addCluster: clusterStored,
  replaceCluster: clusterStored,
  pauseCluster: cluster,
  resumeCluster: cluster,
  removeCluster: named,
  resetWindows: reset,
  resetIntent: reset,
  resetTime: reset,
  freeze: fleetEdited,
  thaw: fleetEdited,
  adopt: fleetAdopted,
  move: fleetMoved,
  setOverride: overrideEdited,
  extendOverride: overrideEdited,
  clearOverride: overrideEdited,
  putCalendar: calendarEdited,
  deleteCalendar: named,
  putSource: sourceEdited,
  deleteSource: named,
  putWake: wakeEdited,
  deleteWake: named,
  wake: woken,
  grantAccess: accessEdited,
  revokeAccess: accessEdited,
  requireAccess: accessEdited,
} as const satisfies Readonly<Record<keyof QueryService | keyof CommandService, z.ZodType>>;

/** The route of each answer. */
export type Verb = keyof typeof ANSWERS;
