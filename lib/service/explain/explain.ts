import { TidemarkError } from "../../model/errors.ts";
import { loadSnapshot } from "../autoscalers.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import type { AutoscalerQuery } from "../service.ts";
import { CLOCKS_APART_MS } from "../time-range.ts";
import { decisionView, metricsOf, secondsBetween, stepViews } from "../views/autoscaler-of.ts";
import type { Explanation } from "../views/autoscaler-view.ts";
import { timeText } from "../views/time-text.ts";
import { NO_WINDOWS } from "../views/windows.ts";
import { windowsOf } from "./describe.ts";
import { evaluationThen } from "./evaluation-then.ts";
import { whatIf } from "./what-if.ts";

/**
 * Explains the count of an autoscaler at an instant from the newest evaluation in the journal at or before it. Throws `service.not-evaluated` when the journal has none, and
 * `service.invalid` for a future instant, because the newest evaluation would look like one of that time.
 */
export const explain = async (context: QueryContext, query: AutoscalerQuery, atMs?: number): Promise<Explanation> => {
  const presentMs = context.clock();
  if (atMs !== undefined && atMs > presentMs + CLOCKS_APART_MS) throw notYet(query.name, atMs, presentMs);
  const present = await loadSnapshot(context, await findAutoscaler(context, query), atMs);
  const evaluated = atMs === undefined ? present.evaluated : await evaluationThen(context, present, atMs);
  const { record, cluster, spec, nowMs } = present;
  if (!evaluated) throw notEvaluated(`${record.namespace}/${record.name}`, cluster.name, atMs);
  const all = { ...present, evaluated };
  const windows = windowsOf(all, evaluated.atMs, evaluated.evaluation.from);
  const { evaluation } = evaluated;
  const windowsPartial = atMs !== undefined && (all.syncedMs ?? 0) > evaluated.atMs;
  return {
    cluster: record.cluster,
    namespace: record.namespace,
    name: record.name,
    decision: decisionView(evaluated),
    ageSeconds: secondsBetween(evaluated.atMs, nowMs),
    metrics: metricsOf(all),
    steps: stepViews(evaluation.steps),
    windows,
    windowsPartial,
    // Partial windows cannot show what would have come next.
    otherwise: whatIf({
      evaluation,
      settings: cluster.settings,
      windows: windowsPartial ? NO_WINDOWS : windows,
      ...(spec.kind === "spec" && { spec: spec.spec }),
    }),
  };
};

const notYet = (name: string, atMs: number, nowMs: number): TidemarkError =>
  new TidemarkError("service.invalid", `Cannot explain "${name}" at ${timeText(atMs)}: that time has not come; it is now ${timeText(nowMs)}`, {
    name,
    atMs,
  });

const notEvaluated = (path: string, cluster: string, atMs: number | undefined): TidemarkError =>
  new TidemarkError(
    "service.not-evaluated",
    `Cannot explain "${path}" in cluster "${cluster}"${atMs === undefined ? "" : ` at ${timeText(atMs)}`}: no sync has evaluated it ${atMs === undefined ? "yet" : "by then, or its journal has expired"}`,
    { path, cluster, atMs },
  );
