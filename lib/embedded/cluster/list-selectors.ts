import { selects, type Selector } from "../../rules/model/selector.ts";
import { badRequest } from "./status.ts";

/** An object as the API shows it. Members beside the metadata depend on its kind. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** One requirement and the comma or end behind it. */
const REQUIREMENT =
  /\s*(?:!\s*(?<absent>[\w./-]+)|(?<key>[\w./-]+)(?:\s*(?<sign>==|=|!=|>|<)\s*(?<value>[\w.-]*)|\s+(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*(?:,|$)/y;
const OPERATORS = { "=": "in", "==": "in", "!=": "notin", ">": "gt", "<": "lt" } as const;

/**
 * Parses `?labelSelector=`; an invalid text is a 400. It shares no code with the parser of the
 * client, so that neither hides a fault of the other.
 */
export const parseLabelSelector = (text: string): Selector => {
  const requirements: Selector[number][] = [];
  REQUIREMENT.lastIndex = 0;
  while (REQUIREMENT.lastIndex < text.trimEnd().length) {
    const groups = REQUIREMENT.exec(text)?.groups;
    if (!groups) throw badRequest(`unable to parse requirement: "${text}" is not a label selector`);
    requirements.push(requirement(groups));
  }
  return requirements;
};

const requirement = (groups: Readonly<Record<string, string | undefined>>): Selector[number] => {
  const { absent, key = "", sign, value = "", set, values = "" } = groups;
  if (absent !== undefined) return { key: absent, operator: "!", values: [] };
  if (set === "in" || set === "notin")
    return { key, operator: set, values: values.split(",").map((each) => each.trim()) };
  if (isSign(sign)) return { key, operator: OPERATORS[sign], values: [value] };
  return { key, operator: "exists", values: [] };
};

const isSign = (text: string | undefined): text is keyof typeof OPERATORS =>
  text !== undefined && Object.hasOwn(OPERATORS, text);

/**
 * Parses `?fieldSelector=` for objects with the given fields; another field is a 400, as it is on a
 * real server.
 */
export const parseFieldSelector = (
  text: string,
  fields: readonly string[],
): ((object: KubeObject) => boolean) => {
  const terms = text
    .split(",")
    .filter((term) => term.trim() !== "")
    .map((term) => fieldTerm(term, fields));
  return (object) => terms.every((holds) => holds(object));
};

const fieldTerm = (term: string, fields: readonly string[]): ((object: KubeObject) => boolean) => {
  const [, path = "", sign, wanted = ""] = /^\s*([\w.]+)\s*(==|=|!=)\s*(\S*)\s*$/.exec(term) ?? [];
  if (sign === undefined) throw badRequest(`invalid selector: "${term}"; can't understand it`);
  if (!fields.includes(path)) throw badRequest(`field label not supported: ${path}`);
  return (object) => (valueAtPath(object, path) === wanted) === (sign !== "!=");
};

/** The value at a dotted path; undefined where the path ends early. */
export const valueAtPath = (object: KubeObject, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((inside, name) => (hasEntries(inside) ? inside[name] : undefined), object);

/** Lists count too: a path may name an index. */
const hasEntries = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

export const selectObjects = (
  objects: readonly KubeObject[],
  query: URLSearchParams,
  fields: readonly string[],
): readonly KubeObject[] => {
  const labelled = parseLabelSelector(query.get("labelSelector") ?? "");
  const hasFields = parseFieldSelector(query.get("fieldSelector") ?? "", fields);
  return objects.filter(
    (object) => selects(labelled, object.metadata.labels ?? {}) && hasFields(object),
  );
};
