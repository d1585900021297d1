import type { CommandService, QueryService } from "../service/service.ts";

/** The GET path of each query. A method of the service without a path does not compile. */
export const QUERY_PATHS = {
  autoscalers: "/v1/autoscalers",
  rows: "/v1/rows",
  get: "/v1/autoscaler",
  describe: "/v1/autoscaler/description",
  explain: "/v1/autoscaler/explanation",
  schedule: "/v1/autoscaler/schedule",
  doctor: "/v1/doctor",
  shadow: "/v1/autoscaler/shadow",
  history: "/v1/autoscaler/history",
  sparklines: "/v1/sparklines",
  schedules: "/v1/schedules",
  events: "/v1/events",
  eventCounts: "/v1/events/counts",
  changes: "/v1/changes",
  series: "/v1/series",
  clusters: "/v1/clusters",
  cluster: "/v1/cluster",
  partition: "/v1/partition",
  fleet: "/v1/fleet",
  measuredSyncs: "/v1/measured",
  overrides: "/v1/overrides",
  calendars: "/v1/calendars",
  status: "/v1/status",
  sources: "/v1/sources",
  wakes: "/v1/wakes",
  access: "/v1/access",
  canI: "/v1/access/can-i",
} as const satisfies Readonly<Record<keyof QueryService, string>>;

/** The POST path of each command. */
export const COMMAND_PATHS = {
  apply: "/v1/apply",
  delete: "/v1/autoscaler/delete",
  pause: "/v1/autoscaler/pause",
  resume: "/v1/autoscaler/resume",
  takeOver: "/v1/autoscaler/takeover",
  handBack: "/v1/autoscaler/handback",
  checkCluster: "/v1/cluster/check",
  addCluster: "/v1/cluster/add",
  replaceCluster: "/v1/cluster/replace",
  pauseCluster: "/v1/cluster/pause",
  resumeCluster: "/v1/cluster/resume",
  removeCluster: "/v1/cluster/remove",
  resetWindows: "/v1/partition/reset-windows",
  resetIntent: "/v1/partition/reset-intent",
  resetTime: "/v1/partition/reset-time",
  freeze: "/v1/fleet/freeze",
  thaw: "/v1/fleet/thaw",
  adopt: "/v1/fleet/adopt",
  move: "/v1/fleet/move",
  setOverride: "/v1/override/set",
  extendOverride: "/v1/override/extend",
  clearOverride: "/v1/override/clear",
  putCalendar: "/v1/calendar/put",
  deleteCalendar: "/v1/calendar/delete",
  checkSource: "/v1/source/check",
  putSource: "/v1/source/put",
  deleteSource: "/v1/source/delete",
  putWake: "/v1/wake/put",
  deleteWake: "/v1/wake/delete",
  wake: "/v1/wake",
  grantAccess: "/v1/access/grant",
  revokeAccess: "/v1/access/revoke",
  requireAccess: "/v1/access/require",
} as const satisfies Readonly<Record<keyof CommandService, string>>;

/** The series as OpenMetrics text, for scrapers. */
export const METRICS_PATH = "/metrics";

/** The header that holds the idempotency key of an edit. */
export const KEY_HEADER = "idempotency-key";

/**
 * The header that holds the tag of an autoscaler, and the header that names the tag which an edit
 * is for.
 */
export const TAG_HEADER = "etag";
export const IF_MATCH_HEADER = "if-match";
/** The header that holds the tags of answers which the caller has. */
export const IF_NONE_MATCH_HEADER = "if-none-match";

export const PROBLEM_TYPE = "application/problem+json";
