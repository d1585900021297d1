/** Characters of a foreign text that a message repeats: enough for a sentence, too few to flood a log, a condition or a page of the journal. */
export const FOREIGN_CHARACTERS_MAX = 256;

/** Characters that a terminal or a log reader obeys instead of showing: controls with ESC and line breaks, bidirectional overrides, separators and other invisible ones. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const escaped = (character: string): string => ESCAPES[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`;

/**
 * Words of another host, fit for a log line, a condition and a terminal: cut to 256 characters, and everything that is not shown as it is becomes an escape. Cut first: a text of
 * megabytes costs no more than a short one.
 */
export const foreignWords = (text: string): string => {
  const cut = text.slice(0, FOREIGN_CHARACTERS_MAX + 1).trim();
  const shown = cut.replace(OBEYED, escaped);
  return shown.length > FOREIGN_CHARACTERS_MAX ? `${shown.slice(0, FOREIGN_CHARACTERS_MAX - 1)}…` : shown;
};

/** A reason is one word in Kubernetes, and series and conditions use it as a key: anything else is none. */
const REASON = /^[A-Za-z][A-Za-z0-9]{0,63}$/;

/** A foreign reason where it is one; undefined where it is not. */
export const foreignReason = (text: string): string | undefined => (REASON.test(text) ? text : undefined);
