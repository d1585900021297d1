/** The examples below the help of a command. */
export const example = (...calls: readonly string[]): string =>
  `\nExample${calls.length > 1 ? "s" : ""}:\n${calls.map((call) => `  ${call}`).join("\n")}`;
