import { printable } from "./printable.ts";

/** Most characters of a foreign text in a message: enough for a sentence, too few to flood a log, a condition or a page of the journal. */
export const FOREIGN_CHARACTERS_MAX = 256;

/**
 * A text of another host, made safe for a log line, a condition and a terminal: it is cut to 256 characters, and each unprintable character is escaped. It is cut first, so that a text
 * of megabytes costs no more than a short one.
 */
export const foreignText = (text: string): string => {
  const cut = text.slice(0, FOREIGN_CHARACTERS_MAX + 1).trim();
  const shown = printable(cut);
  return shown.length > FOREIGN_CHARACTERS_MAX ? `${shown.slice(0, FOREIGN_CHARACTERS_MAX - 1)}…` : shown;
};

/** A reason is one word in Kubernetes. Series and conditions use it as a key, so that any other text is not accepted. */
const REASON = /^[A-Za-z][A-Za-z0-9]{0,63}$/;

/** A reason of another host; undefined where the text is not a reason. */
export const foreignReason = (text: string): string | undefined => (REASON.test(text) ? text : undefined);
