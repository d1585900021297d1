import type { Json } from "./packaged.ts";

type JsonObject = { readonly [key: string]: Json };
const NO_VALUE = Symbol("AWS::NoValue");

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Values of the parameters of a template, by name. */
export type ParameterValues = Readonly<Record<string, string>>;

/**
 * The template as CloudFormation reads it once its parameters are known: each reference to a
 * parameter is its value, each `Fn::If` its branch, and a property or resource whose condition is
 * false is gone. A parameter that is not given has its default.
 */
export const settleConditions = (template: Json, given: ParameterValues): Json => {
  if (!isObject(template))
    throw new RangeError("Cannot settle the conditions of a template that is no object");
  const parameters = isObject(template["Parameters"]) ? template["Parameters"] : {};
  const conditions = isObject(template["Conditions"]) ? template["Conditions"] : {};

  const parameterValue = (name: string): Json | undefined => {
    const parameter = parameters[name];
    if (!isObject(parameter)) return undefined;
    const text = String(given[name] ?? parameter["Default"]);
    return parameter["Type"] === "CommaDelimitedList" ? text.split(",") : text;
  };

  /**
   * By the rules of CloudFormation for `Fn::Equals` and `Fn::Not`; this stack uses no other
   * function.
   */
  const truth = (condition: Json | undefined): boolean => {
    if (isObject(condition)) {
      const { "Fn::Equals": equal, "Fn::Not": not } = condition;
      if (Array.isArray(equal)) return settle(equal[0] ?? "") === settle(equal[1] ?? "");
      if (Array.isArray(not)) return !truth(not[0]);
    }
    throw new RangeError(`Cannot evaluate the condition ${JSON.stringify(condition)}`);
  };
  const holds = (name: Json | undefined): boolean => truth(conditions[String(name)]);

  /** The value of a function of the template; undefined for any other object. */
  const called = (value: JsonObject): Json | typeof NO_VALUE | undefined => {
    const { "Fn::If": choice, "Fn::Join": join } = value;
    if (Array.isArray(choice)) return settle((holds(choice[0]) ? choice[1] : choice[2]) ?? null);
    const parts = Array.isArray(join) ? settle(join[1] ?? []) : undefined;
    return Array.isArray(join) && Array.isArray(parts) ? parts.join(String(join[0])) : undefined;
  };
  const referenced = ({ Ref }: JsonObject): Json | typeof NO_VALUE | undefined => {
    if (Ref === "AWS::NoValue") return NO_VALUE;
    return typeof Ref === "string" ? parameterValue(Ref) : undefined;
  };
  const settleObject = (value: JsonObject): Json | typeof NO_VALUE => {
    const settled = called(value) ?? referenced(value);
    if (settled !== undefined) return settled;
    const entries = Object.entries(value).map(([key, member]) => [key, settle(member)] as const);
    return Object.fromEntries(
      entries.filter((entry): entry is readonly [string, Json] => entry[1] !== NO_VALUE),
    );
  };
  const settle = (value: Json): Json | typeof NO_VALUE => {
    if (Array.isArray(value)) return value.map(settle).filter((item) => item !== NO_VALUE);
    return isObject(value) ? settleObject(value) : value;
  };

  const resources = Object.entries(
    isObject(template["Resources"]) ? template["Resources"] : {},
  ).filter(
    ([, resource]) =>
      !isObject(resource) || resource["Condition"] === undefined || holds(resource["Condition"]),
  );
  const settled = settle(Object.fromEntries(resources));
  if (settled === NO_VALUE) throw new RangeError("Cannot settle a template without a value");
  return { ...template, Resources: settled };
};
