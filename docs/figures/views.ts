import type * as z from "zod";
import {
  applied,
  autoscaler,
  autoscalerState,
  description,
  edited,
  explanation,
  rival,
} from "../../lib/answers/views/autoscaler.ts";
import { access, canI, change } from "../../lib/answers/views/change.ts";
import {
  cluster,
  clusterState,
  connectionReport,
  fleet,
  partition,
  reset,
} from "../../lib/answers/views/cluster.ts";
import { event, eventCount, metric, step } from "../../lib/answers/views/event.ts";
import { boundsSchema, calendar, frozen, override, pause } from "../../lib/answers/views/holds.ts";
import { examination } from "../../lib/answers/views/doctor.ts";
import { history, shadow, sparklineSet } from "../../lib/answers/views/over-time.ts";
import { row } from "../../lib/answers/views/row.ts";
import { scheduleSchema } from "../../lib/answers/views/schedule.ts";
import { source } from "../../lib/answers/views/source.ts";
import { status } from "../../lib/answers/views/status.ts";
import { target } from "../../lib/answers/views/view-of.ts";
import { windows } from "../../lib/answers/views/windows.ts";

/** The views that docs/openapi.json and docs/answers.md have by name. */
export const VIEWS: Readonly<Record<string, z.ZodType>> = {
  Autoscaler: autoscaler,
  AutoscalerState: autoscalerState,
  Description: description,
  Explanation: explanation,
  Examination: examination,
  Windows: windows,
  Bounds: boundsSchema,
  Metric: metric,
  Step: step,
  Event: event,
  EventCount: eventCount,
  Row: row,
  History: history,
  Sparklines: sparklineSet,
  Schedule: scheduleSchema,
  Shadow: shadow,
  OtherController: rival,
  Status: status,
  Cluster: cluster,
  ClusterState: clusterState,
  Partition: partition,
  Fleet: fleet,
  Override: override,
  Calendar: calendar,
  Pause: pause,
  Freeze: frozen,
  Target: target,
  Source: source,
  Change: change,
  Access: access,
  CanI: canI,
  Applied: applied,
  Edited: edited,
  Reset: reset,
  ConnectionReport: connectionReport,
};
