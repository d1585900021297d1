import type { KindCount } from "./errors.ts";

/**
 * The kinds that belong to the fleet, and to no namespace. Administrators store them, so that they
 * are no autoscalers to whoever applies these.
 */
const FLEET_KINDS = ["Cluster", "MetricSource", "Wake"] as const;
export type FleetKind = (typeof FLEET_KINDS)[number];

/** Other projects have a kind Cluster too. */
export const OF_TIDEMARK = ".tidemark.dev";
/** The kinds of the fleet as they are counted where they are passed over. */
const FLEET_KIND_NAMES: ReadonlySet<string> = new Set(
  FLEET_KINDS.map((kind) => `${kind}${OF_TIDEMARK}`),
);

export const fleetKindOf = ({
  apiVersion,
  kind,
}: Readonly<Record<string, unknown>>): FleetKind | undefined =>
  typeof apiVersion === "string" && apiVersion.startsWith("tidemark.dev/")
    ? FLEET_KINDS.find((known) => known === kind)
    : undefined;

/** What `apply` passed over, without the kinds of the fleet, which were stored before. */
export const withoutFleetKinds = (counts: readonly KindCount[]): readonly KindCount[] =>
  counts.filter(({ kind }) => !FLEET_KIND_NAMES.has(kind));
