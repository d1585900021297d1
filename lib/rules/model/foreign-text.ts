/**
 * Characters that a terminal or a log viewer executes or hides: controls such as ESC, line breaks
 * and the C1 range, bidirectional overrides, line separators, zero-width and other invisible ones,
 * and halves of a surrogate pair.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const escaped = (character: string): string =>
  ESCAPES[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`;

/**
 * Escapes what is unprintable: `\n`, `\u{1b}`. All other characters stay, so that a text that was
 * escaped stays as it is.
 */
export const printable = (text: string): string => text.replace(UNPRINTABLE, escaped);

/**
 * The same in the escapes of JSON and of quoted YAML: a parser reads the text that was given. Line
 * ends between members stay.
 */
export const printableJson = (text: string): string =>
  text.replace(UNPRINTABLE, (character) =>
    character === "\n" ? character : jsonEscaped(character),
  );

const HEX = 16;
const jsonEscaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(HEX).padStart(4, "0")}`,
  ).join("");

/** True for a text without an unprintable character. */
export const isPrintable = (text: string): boolean => text.search(UNPRINTABLE) === -1;

/**
 * Most characters of a foreign text in a message: enough for a sentence, too few to flood a log, a
 * condition or a page of the journal.
 */
export const FOREIGN_CHARACTERS_MAX = 256;

/**
 * A text of another host, made safe for a log line, a condition and a terminal: it is cut to 256
 * characters, and each unprintable character is escaped. It is cut first, so that a text of
 * megabytes costs no more than a short one.
 */
export const foreignText = (text: string): string => {
  const cut = text.slice(0, FOREIGN_CHARACTERS_MAX + 1).trim();
  const shown = printable(cut);
  return shown.length > FOREIGN_CHARACTERS_MAX
    ? `${shown.slice(0, FOREIGN_CHARACTERS_MAX - 1)}…`
    : shown;
};

/**
 * A reason is one word in Kubernetes. Series and conditions use it as a key, so that any other text
 * is not accepted.
 */
const REASON = /^[A-Za-z][A-Za-z0-9]{0,63}$/;

/** A reason of another host; undefined where the text is not a reason. */
export const foreignReason = (text: string): string | undefined =>
  REASON.test(text) ? text : undefined;

/**
 * Percent-encodes a text as RFC 3986 and SigV4 require: encodeURIComponent leaves five characters
 * that must be encoded too.
 */
export const percentEncoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
