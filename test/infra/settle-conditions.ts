import type { Json } from "./packaged.ts";

type JsonObject = { readonly [key: string]: Json };
const NO_VALUE = Symbol("AWS::NoValue");

const isObject = (value: Json | undefined): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

/** The value of a condition, by the rules of CloudFormation for `Fn::Equals` and `Fn::Not`; this stack uses no other function. */
const truth = (condition: Json | undefined): boolean => {
  if (isObject(condition)) {
    const { "Fn::Equals": equal, "Fn::Not": not } = condition;
    if (Array.isArray(equal)) return equal[0] === equal[1];
    if (Array.isArray(not)) return !truth(not[0]);
  }
  throw new RangeError(`Cannot evaluate the condition ${JSON.stringify(condition)}`);
};

/**
 * The template as CloudFormation reads it once its conditions are known: each `Fn::If` is its branch, properties without a value are gone, and so are resources whose condition is false.
 */
export const settleConditions = (template: Json): Json => {
  if (!isObject(template)) throw new RangeError("Cannot settle the conditions of a template that is no object");
  const conditions = isObject(template["Conditions"]) ? template["Conditions"] : {};
  const holds = (name: Json | undefined): boolean => truth(conditions[String(name)]);

  const settle = (value: Json): Json | typeof NO_VALUE => {
    if (Array.isArray(value)) return value.map(settle).filter((item) => item !== NO_VALUE);
    if (!isObject(value)) return value;
    const choice = value["Fn::If"];
    if (Array.isArray(choice)) return settle((holds(choice[0]) ? choice[1] : choice[2]) ?? null);
    if (value["Ref"] === "AWS::NoValue") return NO_VALUE;
    const entries = Object.entries(value).map(([key, member]) => [key, settle(member)] as const);
    return Object.fromEntries(entries.filter((entry): entry is readonly [string, Json] => entry[1] !== NO_VALUE));
  };

  const resources = Object.entries(isObject(template["Resources"]) ? template["Resources"] : {}).filter(
    ([, resource]) => !isObject(resource) || resource["Condition"] === undefined || holds(resource["Condition"]),
  );
  const settled = settle({ ...template, Resources: Object.fromEntries(resources) });
  if (settled === NO_VALUE) throw new RangeError("Cannot settle a template without a value");
  return settled;
};
