import { isObject } from "../../model/is-object.ts";
import type { IndexRow } from "../../model/partition-index.ts";
import type { AutoscalerItem } from "../../store/records/autoscalers.ts";
import { converted, type LoadedSpec, type LoadedSpecs } from "../load/load-specs.ts";
import type { PurePart } from "../decide/pure-part.ts";

/** The row of an autoscaler as a sync or a reader has loaded it. */
export const indexRowOf = (spec: LoadedSpec): IndexRow => {
  if (spec.kind === "unreadable") {
    const { namespace, name, uid = "", message } = spec;
    return { namespace, name, uid, generation: 0, kind: "unknown kind", labels: {}, createdMs: 0, problem: message };
  }
  const { namespace, name, uid, generation, createdMs, paused, manifest } = spec.record;
  const common = { namespace, name, uid, generation, createdMs, ...(paused && { paused }), ...namesIn(manifest) };
  if (spec.kind === "invalid") return { ...common, problem: spec.message };
  const { owner, target, minReplicas, maxReplicas } = spec.spec;
  return { ...common, ...(owner !== undefined && { owner }), target, minReplicas, maxReplicas };
};

/** True where the rows of both are surely the same. Specs are read again once a minute, and as a rule none was edited. On doubt, false: the rows are made again and compared by their hash. */
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

/** The row of a stored autoscaler, for a reader that finds no index. */
export const indexRowOfItem = (rules: PurePart, item: AutoscalerItem): IndexRow =>
  indexRowOf(item.kind === "unreadable" ? item : converted(rules, item.record));

/** Kind and labels of a manifest. A manifest is stored once it was read, so that it is JSON. */
const namesIn = (manifest: string): Pick<IndexRow, "kind" | "labels"> => {
  const document: unknown = parsed(manifest);
  const kind = isObject(document) ? document["kind"] : undefined;
  const metadata = isObject(document) ? document["metadata"] : undefined;
  const labels = isObject(metadata) ? metadata["labels"] : undefined;
  const texts = isObject(labels) ? Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === "string") : [];
  return { kind: typeof kind === "string" ? kind : "unknown kind", labels: Object.fromEntries(texts) };
};

const parsed = (manifest: string): unknown => {
  try {
    return JSON.parse(manifest);
  } catch {
    // The conversion reports its problem.
    return undefined;
  }
};
