/** The words of commander, which reads command lines, in the grammar of every other message: one line, a capital, double quotes, no full stop. */
export const usageWords = (message: string): string => {
  const [first = "", hint = ""] = message.replace(/^error: /, "").split("\n");
  const near = /\(Did you mean (?:one of )?(.+)\?\)/.exec(hint)?.[1];
  const words = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replaceAll("'", '"').replace(/\.$/, "");
  return near === undefined ? words : `${words}, did you mean "${near.replaceAll(", ", '", "')}"?`;
};
