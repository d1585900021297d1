/** Secrets Manager holds at most 65,536 bytes; more is not looked at, so that no parser works on it. */
const TEXT_BYTES_MAX = 65_536;

export type SecretReading = { readonly kind: "read"; readonly value: unknown } | { readonly kind: "unreadable"; readonly why: string };

/**
 * The value of a secret's text: JSON, or one YAML document. What is wrong with it is told by its position alone: parsers quote the lines around an error, and any of them may
 * hold the token. For the same reason no error of a parser is kept as a cause.
 */
export const readSecretText = async (text: string): Promise<SecretReading> => {
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX) return unreadable(`it has more than ${TEXT_BYTES_MAX} bytes`);
  return jsonOf(text) ?? (await yamlOf(text));
};

const unreadable = (why: string): SecretReading => ({ kind: "unreadable", why });

const jsonOf = (text: string): SecretReading | undefined => {
  try {
    return { kind: "read", value: JSON.parse(text) };
  } catch {
    // YAML then, which also tells where JSON breaks off.
    return undefined;
  }
};

const yamlOf = async (text: string): Promise<SecretReading> => {
  // Loaded for the first secret that is no JSON: a function without one never loads it.
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  try {
    // Silent: the parser's warnings go to the process, and quote the text.
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true, logLevel: "silent" });
    const [error] = document.errors;
    if (error === undefined) return { kind: "read", value: document.toJS() };
    const { line, col } = lines.linePos(error.pos[0]);
    return unreadable(`line ${line}, column ${col} is neither JSON nor YAML (${error.code})`);
  } catch {
    // Nested deeper than the stack, or an alias without its anchor.
    return unreadable("it is nested too deeply, or an alias in it has no anchor");
  }
};
