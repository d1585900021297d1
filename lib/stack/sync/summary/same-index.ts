import type { LoadedSpec, LoadedSpecs } from "../hand-over.ts";

/**
 * True where the rows of both are surely the same. Specs are read again once a minute, and as a
 * rule none was edited. On doubt, false: the rows are made again and compared by their hash.
 */
export const hasSameIndex = (one: LoadedSpecs, other: LoadedSpecs): boolean =>
  one === other ||
  (one.specVersion === other.specVersion &&
    one.clusterIncarnation === other.clusterIncarnation &&
    one.all.length === other.all.length &&
    one.all.every((spec, at) => isSameSpec(spec, other.all[at])));

/** A manifest that stays the same keeps the spec that was converted before (load-specs.ts). */
const isSameSpec = (one: LoadedSpec, other: LoadedSpec | undefined): boolean =>
  one === other ||
  (one.kind === "ready" &&
    other?.kind === "ready" &&
    one.spec === other.spec &&
    one.record.uid === other.record.uid &&
    one.record.generation === other.record.generation &&
    one.record.manifest === other.record.manifest &&
    one.record.createdMs === other.record.createdMs &&
    one.record.paused === undefined &&
    other.record.paused === undefined);
