/** Tells the tokens of one version from those of another. */
export const TOKEN_VERSION = 1;

/** A list's token: where it goes on, and for which question, as base64url of JSON. It holds names and times alone; whoever may ask may also make one up. */
export const pageToken = (question: object, place: object): string =>
  Buffer.from(JSON.stringify([TOKEN_VERSION, questionText(question), place])).toString("base64url");

export const questionText = (question: object): string =>
  JSON.stringify(Object.entries(question).toSorted(([one], [other]) => (one < other ? -1 : 1)));
