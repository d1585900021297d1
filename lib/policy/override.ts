import type { Decision, Limit } from "../model/decision.ts";
import type { Governed } from "../model/spec-governed.ts";

/** Until when the manifest pauses its autoscaler; `undefined` where it does not, or no more. */
export const pausedUntil = ({ pausedUntilMs = Number.NEGATIVE_INFINITY }: Governed, nowMs: number): number | undefined =>
  nowMs < pausedUntilMs ? pausedUntilMs : undefined;

/** The last word, whatever rules decided: a pause until an instant, then a dry run. The decision stays to be seen, nothing is written. Every other decision passes. */
export const override = (decision: Decision, governed: Governed, nowMs: number): Decision => {
  if (decision.kind === "hold") return decision;
  const { to, trigger, ...rest } = decision;
  const held = (limit: Limit): Decision => ({
    ...rest,
    kind: "hold",
    failed: false,
    because: { reason: limit.reason, message: `${trigger}: ${limit.message}` },
    steps: [...rest.steps, { step: "override", before: to, after: rest.from, limit }],
  });
  const untilMs = pausedUntil(governed, nowMs);
  if (untilMs !== undefined)
    return held({ reason: "Paused", value: rest.from, message: `paused by the manifest, the count would be ${to}`, untilMs });
  return governed.dryRun ? held({ reason: "DryRun", value: rest.from, message: `dry run, the count would be ${to}` }) : decision;
};
