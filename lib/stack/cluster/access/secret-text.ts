import * as z from "zod";

/** Limit of Secrets Manager. A longer text is refused before it is parsed. */
const TEXT_BYTES_MAX = 65_536;

export type SecretReading =
  | { readonly kind: "read"; readonly value: unknown }
  | { readonly kind: "unreadable"; readonly why: string };

/**
 * Parses the text of a secret: JSON, or one YAML document. An error only has a position: parsers
 * quote the lines around an error, and any of them may hold the token. For the same reason the
 * error of a parser is never a cause.
 */
export const readSecretText = async (text: string): Promise<SecretReading> => {
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX)
    return unreadable(`it has more than ${TEXT_BYTES_MAX} bytes`);
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
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      stringKeys: true,
      logLevel: "silent",
    });
    const [error] = document.errors;
    if (error === undefined) return { kind: "read", value: document.toJS() };
    const { line, col } = lines.linePos(error.pos[0]);
    return unreadable(`line ${line}, column ${col} is neither JSON nor YAML (${error.code})`);
  } catch {
    // The text is nested deeper than the stack allows, or has an alias without an anchor.
    return unreadable("it is nested too deeply, or an alias in it has no anchor");
  }
};

/**
 * A token, without the line break at the end of token files. A token that is not valid in a header
 * is refused here, with the name of its field, and not by the first call.
 */
export const bearerToken = z
  .string()
  .transform((token) => token.trim())
  .refine(
    (token) => /^[!-~]+$/.test(token),
    "must be printable ASCII without blanks, and not empty",
  );

/** What a user and a password are in a header. */
export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

/** A value that is valid in a header. */
export const headerText = z
  .string()
  .transform((text) => text.trim())
  .refine((text) => /^[ -~]+$/.test(text), "must be printable ASCII, and not empty");

export const filled = z.string().min(1, "must not be empty");

/**
 * Fields that a message may name, because they belong to the format. Any other name in a broken
 * secret may be a part of its token.
 */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["exec", "would run a program"],
  ["auth-provider", "would run a program or read a file"],
  ["auth-provider-config", "would run a program or read a file"],
  ["cmd-path", "would run a program"],
  ["tokenFile", "would read a file"],
  ["token-file", "would read a file"],
  ["certificate-authority", "would read a file: give certificate-authority-data"],
  ["client-certificate", "would read a file: give client-certificate-data"],
  ["client-key", "would read a file: give client-key-data"],
  ["proxy-url", "is not supported: the server must be reached directly"],
]);

/** Why a field that is not allowed is refused. Only fields of the format are named. */
const unknownWords = (keys: readonly string[]): string => {
  const known = keys.find((key) => WORDS.has(key));
  return known === undefined
    ? "has a field that is not allowed"
    : `has "${known}", which ${WORDS.get(known)}`;
};

/**
 * A path such as "users[0].user.token". It has only names of the format and positions, never names
 * of the content.
 */
const pathText = (path: readonly PropertyKey[]): string => {
  const text = path
    .map((part) =>
      typeof part === "number"
        ? `[${part}]`
        : FORMAT_NAME.test(String(part))
          ? `.${String(part)}`
          : ".…",
    )
    .join("");
  return text === "" ? "it" : text.replace(/^\./, "");
};
const FORMAT_NAME =
  /^(?:apiVersion|kind|preferences|current-context|clusters|users|contexts|name|cluster|user|context|namespace|server|certificate-authority-data|tls-server-name|insecure-skip-tls-verify|disable-compression|token|client-certificate-data|client-key-data|username|password|as|as-uid|as-groups|as-user-extra|caData|tokenFrom|clientCertData|clientKeyData|serverName|url|value)$/;

/**
 * The first fault of a secret: its position, and what is expected there. It quotes nothing of the
 * content.
 */
export const faultText = ({ issues }: z.ZodError): string => {
  const dangerous = issues.find(
    (issue) => issue.code === "unrecognized_keys" && issue.keys.some((key) => WORDS.has(key)),
  );
  const issue = dangerous ?? issues[0];
  if (issue === undefined) return "it cannot be read";
  return `${pathText(issue.path)} ${expectation(issue)}`;
};

const expectation = (issue: z.core.$ZodIssue): string => {
  if (issue.code === "unrecognized_keys") return unknownWords(issue.keys);
  if (issue.code === "invalid_type")
    return `must be ${EXPECTED[issue.expected] ?? "of another type"}`;
  // Messages of this file. Messages of the library are not used, because they may quote the value.
  return issue.code === "custom" || issue.code === "too_small"
    ? issue.message
    : "has a value that is not allowed";
};

const EXPECTED: Readonly<Record<string, string>> = {
  string: "text",
  array: "a list",
  object: "an object",
  record: "an object",
  boolean: "true or false",
  nonoptional: "given",
};
