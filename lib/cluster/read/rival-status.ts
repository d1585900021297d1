import type { Because } from "../../model/decision.ts";
import { foreignReason, foreignText } from "../../model/foreign-text.ts";
import type { Rival } from "../../model/rival-state.ts";
import { asCount, asList, asName, asObject, asText, type Json } from "../../model/read/json.ts";
import { readTime } from "../../model/read/time.ts";

/** Another autoscaler as its LIST shows it, from JSON or protobuf. The HPA that KEDA makes of a ScaledObject counts as that ScaledObject. */
export const readRival = (raw: Json, kind: string): Rival => {
  const { name, uid, ownerReferences } = asObject(raw["metadata"]);
  const status = statusOf(asObject(raw["status"]));
  const owner = asList(ownerReferences)
    .map(asObject)
    .find((reference) => reference["kind"] === "ScaledObject");
  if (owner) return { kind: "ScaledObject", name: asName(owner["name"]), ...status };
  const ownUid = asName(uid);
  return { kind, name: asName(name), ...(ownUid !== "" && { uid: ownUid }), ...status };
};

type RivalStatus = Pick<Rival, "desiredReplicas" | "lastScaleMs" | "because">;

/** A controller that has not decided yet has no condition, and a desired count of 0 that means nothing. */
const statusOf = ({ desiredReplicas, lastScaleTime, conditions }: Json): RivalStatus => {
  const because = becauseOf(asList(conditions).map(asObject));
  const desired = asCount(desiredReplicas);
  const lastScaleMs = readTime(lastScaleTime);
  return {
    ...(because && desired !== undefined && { desiredReplicas: desired }),
    ...(lastScaleMs !== undefined && { lastScaleMs }),
    ...(because && { because }),
  };
};

/** The conditions of an HPA and of a WatermarkPodAutoscaler, those first that say most about the count. */
const TELLING: readonly ((type: string, status: string, reason: string) => boolean)[] = [
  (type, status) => type === "ScalingActive" && status === "False",
  (type, status) => type === "AbleToScale" && status === "False",
  (type, status) => type === "ScalingLimited" && status === "True",
  (type, _status, reason) => type === "AbleToScale" && reason.endsWith("Stabilized"),
  (type) => type === "ScalingActive",
  (type) => type === "AbleToScale",
];

const becauseOf = (conditions: readonly Json[]): Because | undefined => {
  for (const tells of TELLING) {
    const condition = conditions.find(({ type, status, reason }) => tells(asText(type), asText(status), asText(reason)));
    const reason = condition && foreignReason(asText(condition["reason"]));
    if (condition && reason !== undefined) return { reason, message: foreignText(asText(condition["message"])) };
  }
  return undefined;
};
