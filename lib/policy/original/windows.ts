import type { HpaSpec } from "../../model/spec-hpa.ts";
import type { Windows } from "../../model/windows.ts";
import { forbiddenStates, type Moment, type WindowStates } from "../shared/window-states.ts";
import { forbiddenOf } from "./steps/cool-down.ts";

/** Nothing but the time after the last scale (proposals.md §1). */
export const originalWindows = (_spec: HpaSpec, { status }: Windows, { nowMs }: Moment): WindowStates => ({
  recommendations: [],
  stabilization: [],
  rates: [],
  forbidden: forbiddenStates(forbiddenOf(status.lastScaleMs, nowMs)),
});
