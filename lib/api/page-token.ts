/** Format of the tokens. A token of another version is refused. */
export const TOKEN_VERSION = 1;

/** The token of a page: version, query and cursor, as base64url of JSON. It holds names and times only, and a caller can make one up. */
export const pageToken = (question: object, cursor: object): string =>
  Buffer.from(JSON.stringify([TOKEN_VERSION, questionText(question), cursor])).toString("base64url");

export const questionText = (question: object): string =>
  JSON.stringify(Object.entries(question).toSorted(([one], [other]) => (one < other ? -1 : 1)));
