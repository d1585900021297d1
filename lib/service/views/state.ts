import { evaluatedState } from "../../report/evaluation-state.ts";
import type { AutoscalerSnapshot } from "../snapshot.ts";
import type { AutoscalerState } from "./autoscaler-view.ts";
import { pauseView } from "./pause-view.ts";

/** The first state that applies. States that stop the autoscaler come before findings of the sync. */
export const stateOf = ({ cluster, record, fleet, spec, evaluated, nowMs }: AutoscalerSnapshot): AutoscalerState => {
  if (fleet.frozen) return "frozen";
  if (pauseView(cluster.paused, nowMs) || pauseView(record.paused, nowMs)) return "paused";
  if (spec.kind === "problem") return "invalid";
  return evaluated ? evaluatedState(evaluated.evaluation) : "waiting";
};
