import type { Scale } from "../../../lib/rules/model/decision.ts";
import { registeredQueryOf } from "../../../lib/rules/sources/sources.ts";
import type { Decided } from "../invocation.ts";
import { ACTIVATION } from "../manifests/native.ts";
import { podsFor } from "../observe.ts";
import { CLOCK_ALLOWANCE_MS } from "./clocks.ts";
import type { Ledger } from "./ledger.ts";

/** A load that a source said, and when. */
export interface Measured {
  readonly atMs: number;
  readonly load: number;
}

export const measuredKey = (source: string, query: string): string => `${source} ${query}`;

const fellByMetrics = ({ from, to, bounds }: Scale, maxReplicas: number): boolean =>
  to < from && from <= (bounds?.max.replicas ?? maxReplicas);

/** A sync decides on what it was told in its life. */
const LIFE_MS = 60_000;

/**
 * A count falls only on values that every source of the autoscaler has said itself, lately: that it
 * is silent, or says something that is no measurement, is no reason. What a count above the maximum
 * falls to is no matter of metrics.
 */
export const watchMeasured = (ledger: Ledger, { by, input, decision }: Decided): void => {
  const { spec } = input;
  if (
    spec.dialect !== "native" ||
    decision.kind !== "scale" ||
    !fellByMetrics(decision, spec.maxReplicas)
  )
    return;
  for (const { source, maxAgeMs = 0 } of spec.metrics) {
    const query = registeredQueryOf(source);
    if (query?.for !== "prometheus") continue;
    const key = measuredKey(query.source, "query" in query ? String(query.query) : "");
    const sinceMs = ledger.nowMs() - LIFE_MS - maxAgeMs - CLOCK_ALLOWANCE_MS;
    const lately = (ledger.measured.get(key) ?? []).filter(({ atMs }) => atMs >= sinceMs);
    const allows = ({ load }: Measured): boolean =>
      podsFor(load) <= decision.to || (decision.to === spec.idle?.replicas && load <= ACTIVATION);
    if (lately.some(allows)) continue;
    ledger.violate(
      "nothing shrinks on a value that was not measured",
      `${by.name} takes "${input.name}" from ${decision.from} to ${decision.to}, and "${key}" was ${lately.map(({ load }) => load).join(", ") || "not said"}: ${decision.because.reason}`,
    );
  }
};
