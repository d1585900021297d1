import type { MonitorReading } from "../../../model/observation.ts";
import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import type { Recorder } from "./recorder.ts";
import { lifecycleUnreadable, monitorMissing, monitorNotOk, monitorOk, monitorWithoutState } from "./sentences.ts";

export interface Blocked {
  readonly reason: string;
  readonly message: string;
  readonly dueAgainSeconds: number;
}

const MISSING_AGAIN_SECONDS = 120;
const NOT_OK_AGAIN_SECONDS = 60;

/** A monitor that is not OK stops everything, the bounds included; a monitor that cannot be read stops it as well (watermark.md 2.2). */
export const blockedByMonitor = (
  input: {
    readonly spec: WatermarkSpec;
    readonly namespace: string;
    readonly name: string;
    readonly observation: { readonly monitor?: MonitorReading };
  },
  record: Recorder,
): Blocked | undefined => {
  const { lifecycleControl } = input.spec;
  if (lifecycleControl.kind === "off") return undefined;
  if (lifecycleControl.kind === "unreadable") {
    record.condition(lifecycleUnreadable(lifecycleControl.text));
    return undefined;
  }
  const monitor = `${input.namespace}/${input.name}`;
  const reading = input.observation.monitor ?? { kind: "missing" };
  record.gauge("lifecycle_control_status", reading.kind === "found" && reading.state === "OK" ? 0 : 1);
  if (reading.kind !== "found") {
    const condition = monitorMissing(monitor);
    record.event("Warning", "FailedGetDatadogMonitor", reading.kind === "failed" ? reading.failure.message : condition.message);
    record.condition(condition);
    return { reason: condition.reason, message: condition.message, dueAgainSeconds: MISSING_AGAIN_SECONDS };
  }
  const condition =
    reading.state === undefined ? monitorWithoutState(monitor) : reading.state === "OK" ? monitorOk(monitor) : monitorNotOk(monitor, reading.state);
  record.condition(condition);
  return reading.state === "OK" ? undefined : { reason: condition.reason, message: condition.message, dueAgainSeconds: NOT_OK_AGAIN_SECONDS };
};
