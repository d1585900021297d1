import * as fc from "fast-check";
import { stringify } from "yaml";

/**
 * Secrets of every form that were broken by a hand or an editor, each with a marker where its
 * token, password or key stands.
 */

/**
 * A part of every secret value. Two of it in a row occur nowhere else, and breaking the text at one
 * place leaves others whole.
 */
export const MARKER = "Zq7";
const SECRET = MARKER.repeat(8);
const SERVER = "https://127.0.0.1:1";
const CA = Buffer.from("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").toString(
  "base64",
);

type Value =
  | string
  | number
  | boolean
  | null
  | readonly Value[]
  | { readonly [key: string]: Value };

const shortForms: readonly Value[] = [
  { server: SERVER, caData: CA, token: SECRET },
  {
    server: SERVER,
    caData: CA,
    clientCertData: CA,
    clientKeyData: Buffer.from(SECRET).toString("base64") + SECRET,
  },
];
const users: readonly Value[] = [
  { token: SECRET },
  { username: "me", password: SECRET },
  { "client-certificate-data": CA, "client-key-data": SECRET },
  { token: SECRET, as: "ada", "as-groups": ["one"] },
  { exec: { command: SECRET } },
];
const kubeconfigs = users.map(
  (user): Value => ({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "main",
    clusters: [{ name: "one", cluster: { server: SERVER, "certificate-authority-data": CA } }],
    users: [{ name: "me", user }],
    contexts: [{ name: "main", context: { cluster: "one", user: "me" } }],
  }),
);

/**
 * A value of another type or at another place: a list around it, a key of the secret, the secret in
 * place of a name.
 */
const misplaced: readonly ((value: Value) => Value)[] = [
  (value) => [value],
  () => SECRET,
  () => ({ [SECRET]: SECRET }),
  () => [SECRET],
  () => null,
  () => 7,
  (value) => ({ ...(typeof value === "object" && value !== null ? value : {}), [SECRET]: "x" }),
  (value) => ({ exec: SECRET, value }),
];

/** Applies a change to the part that is reached by taking one child after the other. */
const changedAt = (
  value: Value,
  steps: readonly number[],
  change: (value: Value) => Value,
): Value => {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== "object" || value === null) return change(value);
  if (Array.isArray(value)) {
    const at = step % Math.max(1, value.length);
    return value.map((item: Value, index) => (index === at ? changedAt(item, rest, change) : item));
  }
  const keys = Object.keys(value);
  const chosen = keys[step % Math.max(1, keys.length)];
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === chosen ? changedAt(item, rest, change) : item,
    ]),
  );
};

const documents: fc.Arbitrary<Value> = fc
  .tuple(
    fc.constantFrom(...shortForms, ...kubeconfigs),
    fc.option(fc.tuple(fc.array(fc.nat(9), { maxLength: 5 }), fc.constantFrom(...misplaced)), {
      freq: 3,
    }),
  )
  .map(([value, change]) => (change ? changedAt(value, ...change) : value));

const printed = fc.constantFrom<(value: Value) => string>(
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, undefined, 2),
  (value) => stringify(value),
  (value) => stringify(value, { collectionStyle: "flow", lineWidth: 40 }),
);

const INSERTED = [
  "{",
  "}",
  "[",
  "]",
  '"',
  "'",
  ":",
  ",",
  "\t",
  "\n",
  "\n\t",
  "# ",
  "&a ",
  "*a ",
  "!!js/function ",
  "| ",
  "> ",
  "%",
  "@",
  "`",
  "\\",
  "? ",
  "- ",
  "---\n",
  "\u0000",
  "\u001b[31m",
  "\u2028",
];

/** One slip of the hand in a text. `at` is a share of its length. */
const slips = fc
  .tuple(
    fc.nat(8),
    fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    fc.constantFrom(...INSERTED),
  )
  .map(([kind, share, inserted]) => (text: string): string => {
    const at = Math.floor(share * text.length);
    const line = text.lastIndexOf("\n", at) + 1;
    const end = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at);
    switch (kind) {
      case 0:
        return text.slice(0, at) + text.slice(at + 1);
      case 1:
        return text.slice(0, at);
      case 2:
        return text.slice(at);
      case 3:
        return `${text.slice(0, line)}\t${text.slice(line).trimStart()}`;
      case 4:
        // A line, and so a key, twice.
        return `${text.slice(0, end)}\n${text.slice(line, end)}${text.slice(end)}`;
      default:
        return text.slice(0, at) + inserted + text.slice(at);
    }
  });

/** The text of a secret with up to three slips. */
export const brokenSecrets: fc.Arbitrary<string> = fc
  .tuple(documents, printed, fc.array(slips, { maxLength: 3 }))
  .map(([value, print, changes]) => changes.reduce((text, change) => change(text), print(value)));
