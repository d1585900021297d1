/** A parsed label selector. All requirements must hold; an empty list selects everything. */
export type Selector = readonly Requirement[];

/** "=" and "!=" have one value. They differ from "in" and "notin" in text only. */
export interface Requirement {
  readonly key: string;
  readonly operator: "=" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";
  readonly values: readonly string[];
}

/** The selector of a manifest, in the order of the manifest, because messages print it so. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** A selector, or the message of the API for an invalid one. */
export type SelectorReading =
  | { readonly kind: "selector"; readonly selector: Selector }
  | { readonly kind: "invalid"; readonly message: string };

export type Labels = Readonly<Record<string, string>>;

/** True when every requirement holds. An absent label satisfies "!=", "notin" and "!". */
export const selects = (selector: Selector, labels: Labels): boolean =>
  selector.every((requirement) =>
    holds(
      requirement,
      Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined,
    ),
  );

/** True where a label must have one certain value. */
export const wantsOneValue = ({ operator, values }: Requirement): boolean =>
  values.length === 1 && (operator === "=" || operator === "in");

/** A label that is absent has no value, and no list of values has that. */
type Wanted = Pick<Requirement, "operator"> & { readonly values: readonly (string | undefined)[] };

const holds = ({ operator, values }: Wanted, value: string | undefined): boolean => {
  switch (operator) {
    case "=":
    case "in":
      return isAmong(values, value);
    case "!=":
    case "notin":
      return !isAmong(values, value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
      return compares((label, bound) => label > bound, value, values[0]);
    case "lt":
      return compares((label, bound) => label < bound, value, values[0]);
  }
};

/**
 * Lists of values that are longer than this are looked up. A tenant may write thousands, and each
 * is compared with every pod of its namespace.
 */
const FEW_VALUES = 8;
const lookups = new WeakMap<readonly (string | undefined)[], ReadonlySet<string | undefined>>();

const isAmong = (values: readonly (string | undefined)[], value: string | undefined): boolean => {
  if (values.length <= FEW_VALUES) return values.includes(value);
  const known = lookups.get(values) ?? new Set(values);
  lookups.set(values, known);
  return known.has(value);
};

export const INTEGER = /^[+-]?[0-9]+$/;

/** The bound is an integer: no other is read (selector-text.ts). */
const compares = (
  test: (label: bigint, bound: bigint) => boolean,
  label = "",
  bound = "",
): boolean => INTEGER.test(label) && test(BigInt(label), BigInt(bound));

/**
 * The same text for equal selectors, with sorted requirements and values. It is empty for a
 * selector of everything. Label queries use it.
 */
export const canonicalSelector = (selector: Selector): string =>
  selector
    .toSorted((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)))
    .map(requirementText)
    .join(",");

const requirementText = ({ key, operator, values }: Requirement): string => {
  const value = values[0] ?? "";
  switch (operator) {
    case "=":
    case "!=":
      return `${key}${operator}${value}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${values.toSorted().join(",")})`;
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "gt":
      return `${key}>${value}`;
    case "lt":
      return `${key}<${value}`;
  }
};

const EXPRESSION_OPERATORS: Readonly<Record<string, Requirement["operator"]>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
};

/**
 * Parses the selector of a manifest. A metric selector is not validated when it is stored (hpa.md
 * 1.3), so that an unknown operator is found here. An absent selector matches everything.
 */
export const selectorOf = (manifest: LabelSelector | undefined): SelectorReading => {
  const requirements: Requirement[] = Object.entries(manifest?.matchLabels ?? {}).map(
    ([key, value]) => ({ key, operator: "=", values: [value] }),
  );
  for (const { key, operator, values = [] } of manifest?.matchExpressions ?? []) {
    const parsed = Object.hasOwn(EXPRESSION_OPERATORS, operator)
      ? EXPRESSION_OPERATORS[operator]
      : undefined;
    if (parsed === undefined)
      return { kind: "invalid", message: `"${operator}" is not a valid label selector operator` };
    const problem = valuesProblem(parsed, values);
    if (problem) return { kind: "invalid", message: problem };
    requirements.push({ key, operator: parsed, values });
  }
  return { kind: "selector", selector: requirements };
};

const valuesProblem = (
  operator: Requirement["operator"],
  values: readonly string[],
): string | undefined => {
  const wantsValues = operator === "in" || operator === "notin";
  if (wantsValues && values.length === 0)
    return "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty";
  if (!wantsValues && values.length > 0)
    return `values: Invalid value: [${values.join(" ")}]: values set must be empty for exists and does not exist`;
  return undefined;
};

/**
 * A list of labelled objects that many autoscalers select from. The first requirement of a selector
 * with a value narrows the search through an index. It is built on first use, so that a thousand
 * autoscalers in one namespace do not each read every pod.
 */
export interface LabelIndex<Item> {
  readonly all: readonly Item[];
  /** The items that the selector matches, in the order of `all`. */
  readonly select: (selector: Selector) => readonly Item[];
  /** How many items `select` looks at. */
  readonly looksAt: (selector: Selector) => number;
}

export const labelIndex = <Item extends { readonly labels: Readonly<Record<string, string>> }>(
  all: readonly Item[],
): LabelIndex<Item> => {
  const byKey = new Map<string, Map<string | undefined, Item[]>>();
  const bucketsOf = (key: string): Map<string | undefined, Item[]> => {
    const known = byKey.get(key);
    if (known) return known;
    const labelled = all.filter((item) => Object.hasOwn(item.labels, key));
    const buckets = Map.groupBy(labelled, (item) => item.labels[key]);
    byKey.set(key, buckets);
    return buckets;
  };
  const candidatesFor = (selector: Selector): readonly Item[] => {
    const narrowing = selector.find(wantsOneValue);
    return narrowing ? (bucketsOf(narrowing.key).get(narrowing.values[0]) ?? []) : all;
  };
  const isLabel = ([only, ...more]: Selector): boolean =>
    only !== undefined && more.length === 0 && wantsOneValue(only);
  return {
    all,
    select: (selector) => {
      const candidates = candidatesFor(selector);
      return isLabel(selector)
        ? candidates
        : candidates.filter((item) => selects(selector, item.labels));
    },
    looksAt: (selector) => candidatesFor(selector).length,
  };
};
