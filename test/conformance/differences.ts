/** One field that is not as expected. */
export interface Difference {
  readonly field: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** Field by field, in depth; an absent member and one that is undefined are the same. */
export const differences = (
  expected: unknown,
  actual: unknown,
  field = "",
): readonly Difference[] => {
  if (Object.is(expected, actual)) return [];
  if (
    isComposite(expected) &&
    isComposite(actual) &&
    Array.isArray(expected) === Array.isArray(actual)
  ) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) =>
      differences(expected[key], actual[key], field === "" ? key : `${field}.${key}`),
    );
  }
  return [{ field, expected, actual }];
};

const isComposite = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
