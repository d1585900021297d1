/** Percent-encodes a text as RFC 3986 and SigV4 require: encodeURIComponent leaves five characters that must be encoded too. */
export const percentEncoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
