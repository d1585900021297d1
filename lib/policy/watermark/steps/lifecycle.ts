import type { MonitorReading } from "../../../model/observation.ts";
import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import type { ConditionReport } from "../../shared/steps.ts";
import {
  condition as conditionNote,
  event,
  gauge,
  type Note,
  lifecycleUnreadable,
  monitorMissing,
  monitorNotOk,
  monitorOk,
  monitorWithoutState,
} from "./sentences.ts";
import { noted, type WatermarkStep } from "./sync.ts";

export interface Blocked {
  readonly reason: string;
  readonly message: string;
  readonly dueAgainSeconds: number;
}

const MISSING_AGAIN_SECONDS = 120;
const NOT_OK_AGAIN_SECONDS = 60;

interface MonitorInput {
  readonly spec: WatermarkSpec;
  readonly namespace: string;
  readonly name: string;
  readonly observation: { readonly monitor?: MonitorReading };
}

/** A monitor that is not OK stops everything, the bounds included; a monitor that cannot be read stops it as well (watermark.md 2.2). */
export const blockedByMonitor = (input: MonitorInput): { readonly blocked?: Blocked; readonly notes: readonly Note[] } => {
  const { lifecycleControl } = input.spec;
  if (lifecycleControl.kind === "off") return { notes: [] };
  if (lifecycleControl.kind === "unreadable") return { notes: [conditionNote(lifecycleUnreadable(lifecycleControl.text))] };
  const monitor = `${input.namespace}/${input.name}`;
  const reading = input.observation.monitor;
  const series = (isOk: boolean): Note => gauge("lifecycle_control_status", isOk ? 0 : 1);
  if (reading?.kind !== "found") {
    const condition = monitorMissing(monitor);
    const missing = event("Warning", "FailedGetDatadogMonitor", reading?.kind === "failed" ? reading.failure.message : condition.message);
    const { reason, message } = condition;
    return { blocked: { reason, message, dueAgainSeconds: MISSING_AGAIN_SECONDS }, notes: [series(false), missing, conditionNote(condition)] };
  }
  const condition = conditionOf(monitor, reading.state);
  const isOk = reading.state === "OK";
  const notes = [series(isOk), conditionNote(condition)];
  if (isOk) return { notes };
  return { blocked: { reason: condition.reason, message: condition.message, dueAgainSeconds: NOT_OK_AGAIN_SECONDS }, notes };
};

const conditionOf = (monitor: string, state: string | undefined): ConditionReport => {
  if (state === undefined) return monitorWithoutState(monitor);
  return state === "OK" ? monitorOk(monitor) : monitorNotOk(monitor, state);
};

export const askMonitor: WatermarkStep = (sync) => {
  const { blocked, notes } = blockedByMonitor(sync.input);
  const reported = noted(sync, ...notes);
  if (!blocked) return reported;
  const { dueAgainSeconds, ...because } = blocked;
  return { ...reported, ending: { kind: "stopped", because, failed: false, dueAgainSeconds } };
};
