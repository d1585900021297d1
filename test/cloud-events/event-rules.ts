import { isObject } from "../../lib/rules/model/json.ts";

/**
 * Whether a pattern of EventBridge matches an event, for the operators that the rules of
 * `examples/events` use: exact values, `prefix`, `numeric`, `exists` and `$or`. Any other one throws.
 */
export const matches = (pattern: object, event: unknown): boolean =>
  Object.entries(pattern).every(([field, wanted]) => {
    if (field === "$or") return (wanted as readonly object[]).some((one) => matches(one, event));
    const value: unknown = isObject(event) ? event[field] : undefined;
    return Array.isArray(wanted)
      ? wanted.some((one: unknown) => matchesValue(one, value))
      : matches(wanted as object, value);
  });

const matchesValue = (wanted: unknown, value: unknown): boolean => {
  if (!isObject(wanted)) return wanted === value;
  const [[operator, operand] = ["", undefined], ...more] = Object.entries(wanted);
  if (more.length > 0) throw new RangeError(`two operators: ${JSON.stringify(wanted)}`);
  if (operator === "exists") return (value !== undefined) === operand;
  if (operator === "prefix") return typeof value === "string" && value.startsWith(String(operand));
  if (operator === "numeric") {
    const [sign, limit] = operand as readonly [string, number];
    if (sign !== ">=") throw new RangeError(`the comparison ${sign} is not played`);
    return typeof value === "number" && value >= limit;
  }
  throw new RangeError(`the operator ${operator} is not played`);
};

/**
 * What a transformer makes of an event: each `<name>` of its template becomes the value at its
 * path, as JSON. A name within quotes is refused, because EventBridge would put the bare text in.
 */
export const transformed = (
  {
    InputPathsMap: paths,
    InputTemplate: template,
  }: { readonly InputPathsMap: Readonly<Record<string, string>>; readonly InputTemplate: string },
  event: object,
): string => {
  if (/"[^":,{}[\]]*<\w+>/.test(template)) throw new RangeError(`a name in quotes: ${template}`);
  return template.replace(/<(\w+)>/g, (_name, name: string) => {
    const path = paths[name];
    if (path === undefined) throw new RangeError(`<${name}> has no path`);
    const value = path
      .replace(/^\$\./, "")
      .split(".")
      .reduce<unknown>((object, part) => (isObject(object) ? object[part] : undefined), event);
    if (value === undefined) throw new RangeError(`${path} is not in the event`);
    return JSON.stringify(value);
  });
};
