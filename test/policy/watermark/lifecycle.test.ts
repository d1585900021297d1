import { describe, expect, it } from "vitest";
import type { MonitorReading } from "../../../lib/rules/model/observation.ts";
import type { WatermarkSpec } from "../../../lib/rules/model/spec-watermark.ts";
import { blockedByMonitor } from "../../../lib/rules/policy/watermark/steps/lifecycle.ts";
import { said, wpa } from "./world.ts";

const ask = (lifecycleControl: WatermarkSpec["lifecycleControl"], monitor?: MonitorReading) => {
  const spec = wpa();
  const observation = monitor === undefined ? {} : { monitor };
  const { blocked, notes } = blockedByMonitor({
    spec: { ...spec, lifecycleControl },
    namespace: "shop",
    name: "web",
    observation,
  });
  const told = said(notes);
  const conditions = told.conditions.map(
    ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
  );
  const gauges = told.gauges.map(({ name, labels, value }) =>
    [name, ...Object.values(labels), value].join(" "),
  );
  return { blocked, conditions, events: told.events, gauges };
};

describe("blockedByMonitor()", () => {
  it("asks for nothing where the annotation is off", () =>
    expect(ask({ kind: "off" })).toEqual({
      blocked: undefined,
      conditions: [],
      events: [],
      gauges: [],
    }));

  it("says that an annotation cannot be read, and blocks nothing", () =>
    expect(ask({ kind: "unreadable", text: "maybe" })).toEqual({
      blocked: undefined,
      conditions: [
        'ScalingBlocked False FailedGetDatadogMonitor: Lifecycle Control is not correctly enabled: strconv.ParseBool: parsing "maybe": invalid syntax',
      ],
      events: [],
      gauges: ["conditions scaling_blocked 0"],
    }));

  const missing = "monitor shop/web not found, blocking the WPA from proceeding";
  it.each([
    ["that was not looked for", undefined, missing],
    ["that is not there", { kind: "missing" } as const, missing],
    [
      "that cannot be read",
      {
        kind: "failed",
        failure: { code: 403, reason: "Forbidden", message: "not allowed" },
      } as const,
      "not allowed",
    ],
  ])("blocks for two minutes by a monitor %s", (_, monitor, message) =>
    expect(ask({ kind: "on" }, monitor)).toEqual({
      blocked: { reason: "FailedGetDatadogMonitor", message: missing, dueAgainSeconds: 120 },
      conditions: [`ScalingBlocked True FailedGetDatadogMonitor: ${missing}`],
      events: [{ type: "Warning", reason: "FailedGetDatadogMonitor", message }],
      gauges: ["lifecycle_control_status 1", "conditions scaling_blocked 1"],
    }),
  );

  it.each([
    [
      "without a state",
      { kind: "found" } as const,
      "monitor shop/web state not found, blocking the WPA from proceeding",
    ],
    [
      "that is not OK",
      { kind: "found", state: "Alert" } as const,
      "monitor shop/web is in Alert state, blocking the WPA from proceeding",
    ],
  ])("blocks for a minute by a monitor %s", (_, monitor, message) =>
    expect(ask({ kind: "on" }, monitor)).toEqual({
      blocked: { reason: "DatadogMonitorNotOK", message, dueAgainSeconds: 60 },
      conditions: [`ScalingBlocked True DatadogMonitorNotOK: ${message}`],
      events: [],
      gauges: ["lifecycle_control_status 1", "conditions scaling_blocked 1"],
    }),
  );

  it("lets pass by a monitor that is OK", () =>
    expect(ask({ kind: "on" }, { kind: "found", state: "OK" })).toEqual({
      blocked: undefined,
      conditions: [
        "ScalingBlocked False DatadogMonitorOK: monitor shop/web is in a OK state, allowing the WPA from proceeding",
      ],
      events: [],
      gauges: ["lifecycle_control_status 0", "conditions scaling_blocked 0"],
    }));
});
