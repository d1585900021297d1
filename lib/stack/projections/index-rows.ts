import { asObject, asTexts, jsonIn } from "../../rules/model/json.ts";
import type { AutoscalerRecord } from "../../rules/model/records.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import type { IndexRow } from "../../rules/model/summary.ts";

/** What names an autoscaler, as a sync or a reader has loaded it. */
export type NamedSpec =
  | {
      readonly kind: "ready";
      readonly record: AutoscalerRecord;
      readonly spec: Pick<
        AutoscalerSpec,
        "owner" | "target" | "minReplicas" | "maxReplicas" | "schedule"
      >;
    }
  | { readonly kind: "invalid"; readonly record: AutoscalerRecord; readonly message: string }
  | {
      readonly kind: "unreadable";
      readonly namespace: string;
      readonly name: string;
      readonly uid?: string;
      readonly message: string;
    };

export const indexRowOf = (spec: NamedSpec): IndexRow => {
  if (spec.kind === "unreadable") {
    const { namespace, name, uid = "", message } = spec;
    return {
      namespace,
      name,
      uid,
      generation: 0,
      kind: "unknown kind",
      labels: {},
      createdMs: 0,
      problem: message,
    };
  }
  const { namespace, name, uid, generation, createdMs, paused, overrides, manifest } = spec.record;
  const common = {
    namespace,
    name,
    uid,
    generation,
    createdMs,
    ...(paused && { paused }),
    ...(overrides && { hasOverrides: true as const }),
    ...namesIn(manifest),
  };
  if (spec.kind === "invalid") return { ...common, problem: spec.message };
  const { owner, target, minReplicas, maxReplicas, schedule = [] } = spec.spec;
  return {
    ...common,
    ...(owner !== undefined && { owner }),
    ...{ target, minReplicas, maxReplicas },
    ...(schedule.length > 0 && { scheduled: true as const }),
  };
};

/**
 * Kind and labels of a manifest. A manifest that is no JSON has neither: the conversion reports its
 * problem.
 */
const namesIn = (manifest: string): Pick<IndexRow, "kind" | "labels"> => {
  const { kind, metadata } = asObject(jsonIn(manifest));
  return {
    kind: typeof kind === "string" ? kind : "unknown kind",
    labels: asTexts(asObject(metadata)["labels"]),
  };
};
