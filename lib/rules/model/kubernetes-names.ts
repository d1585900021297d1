import { asList, asObject, type Json } from "./json.ts";

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED})?`;

const MAX_LABEL = 63;
const MAX_SUBDOMAIN = 253;

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const LABEL_SHAPE = whole(LABEL);
const SUBDOMAIN_SHAPE = whole(SUBDOMAIN);
const QUALIFIED_SHAPE = whole(QUALIFIED);
const LABEL_VALUE_SHAPE = whole(LABEL_VALUE);

/** The API's message for a text that does not match; tests compare these words (hpa.md 1.3). */
const mismatch = (what: string, pattern: string, examples: readonly string[]): string =>
  `${what} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${pattern}')`;

const NOT_A_LABEL = mismatch(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL,
  ["my-name", "123-abc"],
);
const NOT_A_SUBDOMAIN = mismatch(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  SUBDOMAIN,
  ["example.com"],
);
const NOT_QUALIFIED = mismatch(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED,
  ["MyName", "my.name", "123-abc"],
);
const NOT_A_LABEL_VALUE = mismatch(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  LABEL_VALUE,
  ["MyValue", "my_value", "12345"],
);

const faults = (value: string, most: number, shape: RegExp, words: string): string[] => [
  ...(value.length > most ? [`must be no more than ${most} characters`] : []),
  ...(shape.test(value) ? [] : [words]),
];

/** Faults of a DNS-1123 label in the API's words. */
export const labelFaults = (value: string): string[] =>
  faults(value, MAX_LABEL, LABEL_SHAPE, NOT_A_LABEL);

export const subdomainFaults = (value: string): string[] =>
  faults(value, MAX_SUBDOMAIN, SUBDOMAIN_SHAPE, NOT_A_SUBDOMAIN);

export const labelValueFaults = (value: string): string[] =>
  faults(value, MAX_LABEL, LABEL_VALUE_SHAPE, NOT_A_LABEL_VALUE);

/** True for NAMESPACE/NAME of a service account. */
export const isServiceAccount = (text: string): boolean => {
  const [namespace = "", name = "", ...more] = text.split("/");
  return more.length === 0 && [...labelFaults(namespace), ...subdomainFaults(name)].length === 0;
};

export const SERVICE_ACCOUNT_WORDS =
  "the service account must be NAMESPACE/NAME, such as tidemark/tidemark";

/** Faults of `[prefix/]name`, the form of label keys, annotation keys and resource names. */
export const qualifiedNameFaults = (value: string): string[] => {
  const parts = value.split("/");
  if (parts.length > 2)
    return [
      `a qualified name ${NOT_QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = parts.at(-1) ?? "";
  return [...(parts.length === 2 ? prefixFaults(parts[0] ?? "") : []), ...namePartFaults(name)];
};

const prefixFaults = (prefix: string): string[] =>
  (prefix === "" ? ["must be non-empty"] : subdomainFaults(prefix)).map(
    (fault) => `prefix part ${fault}`,
  );

const namePartFaults = (name: string): string[] =>
  [
    ...(name === "" ? ["must be non-empty"] : []),
    ...faults(name, MAX_LABEL, QUALIFIED_SHAPE, NOT_QUALIFIED),
  ].map((fault) => `name part ${fault}`);

/** Faults of a text as one segment of a URL path. */
export const pathSegmentFaults = (value: string): string[] => {
  if (value === "." || value === "..") return [`may not be '${value}'`];
  return ["/", "%"]
    .filter((sign) => value.includes(sign))
    .map((sign) => `may not contain '${sign}'`);
};

/** Resources of containers without a prefix. */
const OF_CONTAINERS = new Set(["cpu", "memory", "ephemeral-storage"]);
/** Other resources without a prefix, for example in quotas. */
const STANDARD = new Set([
  ...OF_CONTAINERS,
  ...["requests", "limits"].flatMap((side) => [...OF_CONTAINERS].map((name) => `${side}.${name}`)),
  ...[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
  ],
  ...["storage", "requests.storage", "services.nodeports", "services.loadbalancers"],
]);
const HUGE_PAGES = /^hugepages-/;
const QUOTA_HUGE_PAGES = /^(requests\.)?hugepages-/;
const QUOTA_PREFIX = "requests.";
const NATIVE_DOMAIN = "kubernetes.io/";

/** Faults of a name as a container's resource (hpa.md 1.3, containerResource). */
export const resourceFaults = (name: string): string[] => [
  ...shapeFaults(name),
  ...useFaults(name),
];

const shapeFaults = (name: string): string[] => {
  const ofName = qualifiedNameFaults(name);
  if (ofName.length > 0 || name.includes("/")) return ofName;
  return STANDARD.has(name) || QUOTA_HUGE_PAGES.test(name)
    ? []
    : ["must be a standard resource type or fully qualified"];
};

const useFaults = (name: string): string[] => {
  if (!name.includes("/"))
    return OF_CONTAINERS.has(name) || HUGE_PAGES.test(name)
      ? []
      : ["must be a standard resource for containers"];
  if (name.includes(NATIVE_DOMAIN)) return [];
  // The name of an extended resource must leave room for the prefix of its quota.
  const extended =
    !name.startsWith(QUOTA_PREFIX) && qualifiedNameFaults(QUOTA_PREFIX + name).length === 0;
  return extended ? [] : ["doesn't follow extended resource name standard"];
};

const UID = /^[A-Za-z0-9._-]{1,128}$/;
const OWNER = /^[A-Za-z0-9._:-]{1,253}$/;
const LABEL_KEY = /^[A-Za-z0-9._/-]+$/;
const LABEL_TEXT = /^[A-Za-z0-9._-]*$/;
const isSubdomain = (text: string): boolean =>
  text.length <= MAX_SUBDOMAIN && SUBDOMAIN_SHAPE.test(text);
const isLabel = (text: string): boolean => text.length <= MAX_LABEL && LABEL_SHAPE.test(text);

/**
 * What no API server lets an object be called, as "name" and the text; undefined where all is
 * allowed. Names reach keys of tables, addresses of requests, and words that a shell completes, so
 * that an object of a cluster becomes ours only by this check. A name that is absent is none of a
 * hostile server; who needs it looks for it. Capitals are harmless, and some kinds have them. Of
 * labels only the characters are looked at, because
 * ten thousand pods are read every few seconds.
 */
export const strangeName = (metadata: Json): readonly [what: string, text: string] | undefined => {
  const { name, namespace, uid, labels, ownerReferences } = metadata;
  if (typeof name === "string" && name !== "" && !isSubdomain(name.toLowerCase()))
    return ["name", name];
  if (typeof namespace === "string" && namespace !== "" && !isLabel(namespace))
    return ["namespace", namespace];
  if (typeof uid === "string" && uid !== "" && !UID.test(uid)) return ["uid", uid];
  const owner = asList(ownerReferences)
    .map((reference) => asObject(reference)["name"])
    .find((of) => typeof of === "string" && of !== "" && !OWNER.test(of));
  if (owner !== undefined) return ["owner", String(owner)];
  return strangeLabel(asObject(labels));
};

const strangeLabel = (labels: Json): ReturnType<typeof strangeName> => {
  for (const key in labels) {
    if (!LABEL_KEY.test(key)) return ["label", key];
    const value = labels[key];
    if (typeof value === "string" && !LABEL_TEXT.test(value)) return ["label", value];
  }
  return undefined;
};
