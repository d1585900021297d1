import type { SpecKindName } from "../../../lib/rules/model/spec.ts";
import type { SimulatedCluster } from "../cluster.ts";
import type { PlannedAutoscaler, PlannedEdit } from "../timetable.ts";
import type { ObjectChange } from "./plan-objects.ts";

/** What an edit of an autoscaler is where its cluster holds it. */
export const changeOf = (
  { namespace, name, manifest }: PlannedAutoscaler,
  edit: PlannedEdit,
): ObjectChange => {
  if (edit.verb === "apply") return { verb: "apply", manifest: edit.manifest };
  if (edit.verb !== "delete") throw new RangeError(`no object has a ${edit.verb}`);
  const { kind } = manifest as { readonly kind: SpecKindName };
  return { verb: "remove", ref: { kind, namespace, name } };
};

export const changeObject = (
  { objects }: SimulatedCluster,
  change: ObjectChange,
  nowMs: number,
): void => {
  switch (change.verb) {
    case "apply":
      objects.apply(change.manifest);
      break;
    case "remove":
      objects.remove(change.ref);
      break;
    case "replace":
      objects.remove(change.ref);
      objects.apply(change.manifest);
      break;
    case "follow":
      objects.touch(change.ref, {
        statusBy: { manager: "tidemark-another", atMs: nowMs - change.agoMs },
      });
      break;
  }
};
