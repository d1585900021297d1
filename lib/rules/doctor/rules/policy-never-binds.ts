import { asCount, asList, asObject, asText, type Json } from "../../model/json.ts";
import { floatOf, parseQuantity } from "../../model/quantity.ts";
import {
  isDefaultPolicy,
  type RatePolicy,
  pastTheBounds,
  type Way,
} from "../../policy/shared/never-binds.ts";
import type { DoctorRule, DoctorFinding, Patient } from "../patient.ts";
import { partOf } from "../manifest-line.ts";

export const POLICY_NEVER_BINDS: DoctorRule = {
  name: "policy-never-binds",
  severity: "advice",
  ofManifest: true,
  finds: "a policy of scaleUp or scaleDown leads past the bounds in one step",
  examine: (patient) =>
    ["spec.behavior", "spec.hpa.behavior", "spec"].flatMap((place) =>
      (["scaleUp", "scaleDown"] as const).flatMap((way) => findingsAt(patient, place, way)),
    ),
};

const findingsAt = (
  { manifest, spec }: Patient,
  place: string,
  way: Way,
): readonly DoctorFinding[] => {
  const policies = asList(partOf(manifest, `${place}.${way}.policies`)).map(asObject);
  return policies.flatMap((raw, at) => {
    const policy = policyOf(raw);
    if (!policy || isDefaultPolicy(policy)) return [];
    const why = pastTheBounds(policy, way, spec);
    if (why === undefined) return [];
    return [
      {
        evidence: `the policy of ${policy.value} ${policy.type} limits nothing: ${why}`,
        cost: "the direction is as fast as without it, and looks limited",
        change: {
          field: `${place}.${way}.policies[${at}]`,
          value: JSON.stringify(raw),
          advice: "write a smaller value, or remove the policy",
        },
      },
    ];
  });
};

type Timed = RatePolicy & { readonly periodSeconds: number };

const TYPES = ["Pods", "Percent", "Factor"] as const;

const policyOf = (raw: Json): Timed | undefined => {
  const type = TYPES.find((one) => one === asText(raw["type"]));
  const written = raw["value"];
  const quantity = typeof written === "string" ? parseQuantity(written) : undefined;
  const value = typeof written === "number" ? written : quantity && floatOf(quantity);
  const periodSeconds = asCount(raw["periodSeconds"]) ?? 0;
  return type && value !== undefined ? { type, value, periodSeconds } : undefined;
};
