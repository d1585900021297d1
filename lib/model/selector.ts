/** A parsed label selector: all requirements must hold; none at all selects everything. */
export type Selector = readonly Requirement[];

export interface Requirement {
  readonly key: string;
  readonly operator: "in" | "notin" | "exists" | "!" | "gt" | "lt";
  readonly values: readonly string[];
}

/** The selector of a manifest, in the manifest's own order (messages print it so). */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

/** True when every requirement holds; a label that is absent satisfies "notin" and "!". */
export const matches = (selector: Selector, labels: Readonly<Record<string, string>>): boolean =>
  selector.every((requirement) => holds(requirement, Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined));

const holds = ({ operator, values }: Requirement, value: string | undefined): boolean => {
  switch (operator) {
    case "in":
      return value !== undefined && values.includes(value);
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
      return value !== undefined && Number(value) > Number(values[0]);
    case "lt":
      return value !== undefined && Number(value) < Number(values[0]);
  }
};
