import type { AutoscalerSpec } from "../model/spec.ts";
import type { Windows } from "../model/windows.ts";
import { askDialect } from "./dialects.ts";
import type { Moment, WindowStates } from "./shared/window-states.ts";

/** What each window of an autoscaler holds at an instant, and until when, by the functions with which its dialect decides. */
export const windowStates = (spec: AutoscalerSpec, windows: Windows, moment: Moment): WindowStates =>
  askDialect(spec, (dialect, own) => dialect.windows(own, windows, moment));
