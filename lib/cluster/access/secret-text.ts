/** Limit of Secrets Manager. A longer text is refused before it is parsed. */
const TEXT_BYTES_MAX = 65_536;

export type SecretReading = { readonly kind: "read"; readonly value: unknown } | { readonly kind: "unreadable"; readonly why: string };

/**
 * Parses the text of a secret: JSON, or one YAML document. An error only has a position: parsers quote the lines around an error, and any of them may hold the token. For the same
 * reason the error of a parser is never a cause.
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
    // The YAML parser comes next. It also finds the position of an error in JSON.
    return undefined;
  }
};

const yamlOf = async (text: string): Promise<SecretReading> => {
  // It is loaded for the first secret that is not JSON.
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  try {
    // The log level is silent, because warnings of the parser go to the process and quote the text.
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true, logLevel: "silent" });
    const [error] = document.errors;
    if (error === undefined) return { kind: "read", value: document.toJS() };
    const { line, col } = lines.linePos(error.pos[0]);
    return unreadable(`line ${line}, column ${col} is neither JSON nor YAML (${error.code})`);
  } catch {
    // The text is nested deeper than the stack allows, or has an alias without an anchor.
    return unreadable("it is nested too deeply, or an alias in it has no anchor");
  }
};
