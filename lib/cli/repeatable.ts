/** Collects the values of an option that can be given several times. */
export const repeatable = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];
