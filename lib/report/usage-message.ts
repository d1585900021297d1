/** Rewrites a message of commander in our grammar: one line, a capital, double quotes, no final period. */
export const usageMessage = (message: string): string => {
  const [first = "", hint = ""] = message.replace(/^error: /, "").split("\n");
  const near = /\(Did you mean (?:one of )?(.+)\?\)/.exec(hint)?.[1];
  const words = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replaceAll("'", '"').replace(/\.$/, "");
  return near === undefined ? words : `${words}, did you mean "${near.replaceAll(", ", '", "')}"?`;
};
