import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import type { CompletedSync, DroppedSync, DropReason } from "../../lib/stack/report/sync-report.ts";
import { NOON } from "../noon.ts";

export { NOON };

const told = {
  cluster: clusterName("eu-1"),
  partition: WHOLE_CLUSTER,
  dueMs: NOON,
  startMs: NOON + 300,
  endMs: NOON + 1_300,
};

export const completed = (parts: Partial<CompletedSync> = {}): CompletedSync => ({
  ...told,
  kind: "completed",
  epoch: 7,
  autoscalers: 3,
  evaluated: 3,
  failed: 0,
  unreachable: false,
  events: [],
  outside: [],
  openIntents: 0,
  unreadable: [],
  ruleFailures: [],
  changed: [],
  heldBack: 0,
  overShare: [],
  calls: 4,
  bytes: 1_000,
  pagesWritten: 0,
  journalPages: 1,
  projections: [],
  phasesMs: { load: 5 },
  ...parts,
});

export const dropped = (why: DropReason): DroppedSync => ({ ...told, kind: "dropped", why });
