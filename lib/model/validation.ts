/** The validation levels of `kubectl --validate`. Stored manifests are read with "warn", so that an accepted manifest stays accepted. */
export const VALIDATIONS = ["strict", "warn", "ignore"] as const;

/** "strict" refuses unknown and repeated fields. "warn" warns of them. "ignore" skips them. */
export type Validation = (typeof VALIDATIONS)[number];

const WORDS: Readonly<Record<string, Validation>> = { strict: "strict", true: "strict", warn: "warn", ignore: "ignore", false: "ignore" };

/** kubectl's words for the levels; `undefined` for any other word. */
export const validationOf = (word: string): Validation | undefined => (Object.hasOwn(WORDS, word) ? WORDS[word] : undefined);

/** All accepted words, for messages. */
export const VALIDATION_WORDS = Object.keys(WORDS).join(", ");
