import type { Because } from "../../../model/decision.ts";
import type { Observation } from "../../../model/observation.ts";
import type { ConditionReport } from "../../shared/steps.ts";
import {
  condition as conditionNote,
  eventNote,
  gauge,
  type StepNote,
  lifecycleUnreadable,
  monitorMissing,
  monitorNotOk,
  monitorOk,
  monitorWithoutState,
} from "./sentences.ts";
import { noted, type WatermarkInput, type WatermarkStep } from "./sync.ts";

interface Blocked extends Because {
  readonly dueAgainSeconds: number;
}

const MISSING_AGAIN_SECONDS = 120;
const NOT_OK_AGAIN_SECONDS = 60;

type MonitorInput = Pick<WatermarkInput, "spec" | "namespace" | "name"> & {
  readonly observation: Pick<Observation, "monitor">;
};

/**
 * A monitor that is not OK stops everything, the bounds included; a monitor that cannot be read
 * stops it as well (watermark.md 2.2).
 */
export const blockedByMonitor = (
  input: MonitorInput,
): { readonly blocked?: Blocked; readonly notes: readonly StepNote[] } => {
  const { lifecycleControl } = input.spec;
  if (lifecycleControl.kind === "off") return { notes: [] };
  if (lifecycleControl.kind === "unreadable")
    return { notes: [conditionNote(lifecycleUnreadable(lifecycleControl.text))] };
  const monitor = `${input.namespace}/${input.name}`;
  const reading = input.observation.monitor;
  const series = (isOk: boolean): StepNote => gauge("lifecycle_control_status", isOk ? 0 : 1);
  if (reading?.kind !== "found") {
    const condition = monitorMissing(monitor);
    const missing = eventNote(
      "Warning",
      "FailedGetDatadogMonitor",
      reading?.kind === "failed" ? reading.failure.message : condition.message,
    );
    const { reason, message } = condition;
    return {
      blocked: { reason, message, dueAgainSeconds: MISSING_AGAIN_SECONDS },
      notes: [series(false), missing, conditionNote(condition)],
    };
  }
  const condition = stateOf(monitor, reading.state);
  const isOk = reading.state === "OK";
  const notes = [series(isOk), conditionNote(condition)];
  if (isOk) return { notes };
  return {
    blocked: {
      reason: condition.reason,
      message: condition.message,
      dueAgainSeconds: NOT_OK_AGAIN_SECONDS,
    },
    notes,
  };
};

const stateOf = (monitor: string, state: string | undefined): ConditionReport => {
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
