/** How much is asked of the fields of a manifest that is applied, as `kubectl --validate` has it. A manifest that is stored is read by "warn": what was accepted stays accepted. */
export const VALIDATIONS = ["strict", "warn", "ignore"] as const;

/** "strict": a field that is not known, or is written twice, is refused. "warn": it is told and has no effect. "ignore": it has no effect. */
export type Validation = (typeof VALIDATIONS)[number];

const WORDS: Readonly<Record<string, Validation>> = { strict: "strict", true: "strict", warn: "warn", ignore: "ignore", false: "ignore" };

/** kubectl's words for them; `undefined` for any other. */
export const validationOf = (word: string): Validation | undefined => (Object.hasOwn(WORDS, word) ? WORDS[word] : undefined);

/** What else may be written, for messages. */
export const VALIDATION_WORDS = Object.keys(WORDS).join(", ");
