/**
 * A word as a person types it in a POSIX shell: quoted where it holds more than plain characters.
 */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
