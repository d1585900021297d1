/** Splits label names at blanks or commas. */
export const labelNames = (text: string | undefined): readonly string[] => (text ?? "").split(/[\s,]+/).filter((name) => name !== "");

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * The chosen labels of an autoscaler, to join other series on (watermark.md 2.15). A label that it does not have is empty. Names that a series cannot have, or already has, are left
 * out.
 */
export const chosenLabels = (
  labels: Readonly<Record<string, string>>,
  names: readonly string[],
  taken: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names
      .filter((name) => LABEL_NAME.test(name) && !(name in taken))
      .map((name) => [name, typeof labels[name] === "string" && Object.hasOwn(labels, name) ? labels[name] : ""]),
  );
