import type { Rule } from "../../fields/rule.ts";
import { COMBINE_FIELDS } from "./steps/combine.ts";
import { COOL_DOWN_FIELDS } from "./steps/cool-down.ts";
import { FLAP_FIELDS } from "./steps/flap.ts";
import { IDLE_FIELDS, IDLE_RULES } from "./steps/idle.ts";
import { LIMIT_RULES, limitFields, POLICY_RULES } from "./steps/limit.ts";
import { ROUND_FIELDS, roundRule } from "./steps/round.ts";
import { stabilizeFields } from "./steps/stabilize.ts";
import { SUSTAIN_FIELDS } from "./steps/sustain.ts";

/** The fields of the steps in a manifest, in the order of the reference, and their rules. */
export const NATIVE_FIELDS = {
  before: COMBINE_FIELDS,
  /** Of scaleUp and scaleDown. */
  ofDirection: (way: "up" | "down") => ({
    ...SUSTAIN_FIELDS,
    ...stabilizeFields(way),
    ...limitFields(way),
    ...ROUND_FIELDS,
    ...COOL_DOWN_FIELDS,
  }),
  after: { ...FLAP_FIELDS, ...IDLE_FIELDS },
};

/** Rules of the objects of a manifest that hold these fields. */
export const NATIVE_RULES = {
  ofSpec: [...IDLE_RULES, roundRule("scaleUp"), roundRule("scaleDown")],
  ofDirection: LIMIT_RULES,
  ofPolicy: POLICY_RULES,
} as const satisfies Readonly<Record<string, readonly Rule[]>>;
