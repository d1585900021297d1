import { isExpired, overridesOf, type ScopedOverride } from "../../model/override.ts";
import type { BoundsInForce } from "../../model/windows.ts";
import { effectiveBounds, isByManifest } from "../../policy/bounds/effective-bounds.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import type { BoundsView, OverrideView } from "../../views/holds.ts";
import type { AutoscalerSnapshot } from "../partitions/partition-data.ts";
import { boundsView, type OverridePlace, overrideView } from "./holds-view.ts";

/** The bounds of an autoscaler now, and the overrides that meet it. */
export const overridesView = ({
  spec,
  fleet,
  cluster,
  record,
  nowMs,
}: AutoscalerSnapshot): { readonly bounds?: BoundsView; readonly overrides?: readonly OverrideView[] } => {
  const overrides = overridesOf({ fleet, cluster, record }).filter((override) => !isExpired(override, nowMs));
  const people = { overrides, calendars: fleet.calendars ?? [] };
  const placeOf = ({ scope }: ScopedOverride): OverridePlace => ({
    scope,
    ...(scope !== "fleet" && { cluster: record.cluster }),
    ...((scope === "namespace" || scope === "autoscaler") && { namespace: record.namespace }),
    ...(scope === "autoscaler" && { name: record.name }),
  });
  return {
    ...(spec.kind === "spec" && !isByManifest(spec.spec, people, nowMs) && { bounds: boundsView(effectiveBounds(spec.spec, people, nowMs)) }),
    ...(overrides.length > 0 && { overrides: overrides.map((override) => overrideView(placeOf(override), override, nowMs)) }),
  };
};

/** The bounds that hold now: the bounds of a schedule or an override, else of the manifest. */
export const boundsInForce = ({
  bounds,
  minReplicas,
  maxReplicas,
}: Pick<AutoscalerView, "bounds" | "minReplicas" | "maxReplicas">): { readonly min?: number; readonly max?: number } => {
  const [min, max] = [bounds?.min.replicas ?? minReplicas, bounds?.max.replicas ?? maxReplicas];
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
};

/** The bounds of an evaluation; undefined where nothing says that any but the manifest set them. */
export const boundsThen = (bounds: BoundsInForce | undefined): BoundsView | undefined => {
  if (!bounds) return undefined;
  const { min, max, minBy, maxBy, paused, holds = [] } = bounds;
  if (!minBy && !maxBy && !paused && holds.length === 0) return undefined;
  const manifest = { kind: "manifest" } as const;
  return boundsView({
    min: { replicas: min, source: minBy ?? manifest },
    max: { replicas: max, source: maxBy ?? manifest },
    ...(paused && { paused }),
    holds,
  });
};
