import { TidemarkError } from "./errors.ts";

/** What a caller may do: edit includes view. */
export const ROLES = ["view", "edit"] as const;
export type Role = (typeof ROLES)[number];

/** A right for the callers whose ARN matches a pattern. */
export interface Grant {
  readonly id: string;
  readonly arn: string;
  readonly role: Role;
  /** The names of clusters, where `*` stands for any letters. */
  readonly cluster: string;
  /**
   * The names of namespaces, in the same form. Absent: all of the cluster, with its own settings.
   */
  readonly namespace?: string;
  readonly by: string;
  readonly atMs: number;
}

export interface AccessRecord {
  /** True: a caller without a grant may do nothing. */
  readonly required: boolean;
  readonly grants: readonly Grant[];
  /** Raised by every edit. 0 where nothing is stored. */
  readonly version: number;
}

/** A namespace, all of a cluster, or all of the fleet. */
export interface Place {
  readonly cluster?: string;
  readonly namespace?: string;
}

/** What allows a request: a grant, or nothing where none is needed. */
export interface Allowed {
  readonly grant?: string;
}

export interface Rights {
  readonly caller: string;
  /** The grants that name the caller. */
  readonly grants: readonly Grant[];
  /** True where grants limit the caller. */
  readonly limited: boolean;
  /**
   * Undefined: it is not allowed. All of a cluster or of the fleet takes one grant on all of it.
   */
  readonly allows: (role: Role, place: Place) => Allowed | undefined;
  /** True where the caller may look at some part of the cluster. */
  readonly touches: (cluster: string) => boolean;
}

const WITHOUT_LIMIT: Allowed = {};

/**
 * The rights of a caller by its verified ARN. A caller whom a grant names has its grants and
 * nothing else. Another caller has what its URL gives, unless grants are required.
 */
export const rightsOf = ({ required, grants: all }: AccessRecord, caller: string): Rights => {
  const grants = all.filter(({ arn }) => matchesArn(arn, caller));
  const limited = required || grants.length > 0;
  return {
    caller,
    grants,
    limited,
    allows: (role, place) => {
      if (!limited) return WITHOUT_LIMIT;
      const found = grants.find(
        (grant) => (grant.role === "edit" || role === "view") && covers(grant, place),
      );
      return found && { grant: found.id };
    },
    touches: (cluster) => !limited || grants.some((grant) => matchesName(grant.cluster, cluster)),
  };
};

/**
 * On doubt no: several grants on namespaces are never all of a cluster, because it may have others.
 */
const covers = (grant: Grant, { cluster, namespace }: Place): boolean => {
  if (cluster === undefined) return grant.cluster === ANY && grant.namespace === undefined;
  if (!matchesName(grant.cluster, cluster)) return false;
  return (
    grant.namespace === undefined ||
    (namespace !== undefined && matchesName(grant.namespace, namespace))
  );
};

export const ANY = "*";

/**
 * True where the text is the pattern, in which each `*` stands for any characters or none. It takes
 * no longer than the product of both lengths, whatever the pattern is.
 */
export const matchesName = (pattern: string, text: string): boolean => {
  const [first = "", ...rest] = pattern.split(ANY);
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
};

/** An ARN of IAM or STS: its head with the account, and the parts of its resource. */
const ARN = /^(arn:aws[a-z-]{0,20}:(?:iam|sts)::\d{12}):([!-~]+)$/;

/**
 * True where a caller's ARN matches the pattern: the same partition, service and account, and as
 * many parts between the slashes, each of which matches. A `*` never stands for a slash, and
 * letters count as they are written: AWS gives each name in one spelling.
 */
export const matchesArn = (pattern: string, caller: string): boolean => {
  const [, head, resource = ""] = ARN.exec(pattern) ?? [];
  const [, callerHead, callerResource = ""] = ARN.exec(caller) ?? [];
  if (head === undefined || head !== callerHead) return false;
  const [parts, callerParts] = [resource.split("/"), callerResource.split("/")];
  return (
    parts.length === callerParts.length &&
    parts.every((part, at) => matchesName(part, callerParts[at] ?? ""))
  );
};

const ARN_CHARACTERS_MAX = 512;
const ARN_WORDS =
  "must be the ARN of a caller, with its account: arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION, arn:aws:iam::ACCOUNT:user/NAME or arn:aws:iam::ACCOUNT:root, where * stands for any characters of one part";

/**
 * How many parts the resource of a caller's ARN has, by its first part. The path of a user has any
 * number.
 */
const PARTS: Readonly<Record<string, (parts: number) => boolean>> = {
  "iam user": (parts) => parts >= 2,
  "iam root": (parts) => parts === 1,
  "sts assumed-role": (parts) => parts === 3,
  "sts federated-user": (parts) => parts === 2,
};

/** Why no caller can ever match this pattern, or undefined. */
export const arnFault = (pattern: string): string | undefined => {
  const [, head = "", resource = ""] =
    pattern.length <= ARN_CHARACTERS_MAX ? (ARN.exec(pattern) ?? []) : [];
  const parts = resource.split("/");
  const service = head.split(":")[2] ?? "";
  if (service === "iam" && parts[0] === "role")
    return `${ARN_WORDS}; a role calls as its session: ${head.replace(":iam:", ":sts:")}:assumed-role/${parts.at(-1)}/*`;
  const fits = PARTS[`${service} ${parts[0]}`];
  return fits?.(parts.length) && parts.every((part) => part !== "") ? undefined : ARN_WORDS;
};

const NAME_PATTERN = /^[a-z0-9*](?:[a-z0-9*-]{0,61}[a-z0-9*])?$/;

/** Why no cluster or namespace can have a name of this pattern, or undefined. */
export const namePatternFault = (pattern: string): string | undefined =>
  NAME_PATTERN.test(pattern) ? undefined : "must be small letters, digits, - and *, at most 63";

/**
 * What allows it. Throws `service.no-grant`, whose message repeats what the caller has named, and
 * nothing that is stored.
 */
export const mustAllow = (rights: Rights, role: Role, place: Place): Allowed => {
  const allowed = rights.allows(role, place);
  if (allowed) return allowed;
  throw new TidemarkError(
    "service.no-grant",
    `Cannot ${role} ${placeWords(place)}: "${rights.caller}" has no grant for it; ask for one, or run tidemark auth can-i`,
    {
      caller: rights.caller,
    },
  );
};

const placeWords = ({ cluster, namespace }: Place): string => {
  if (cluster === undefined) return "the fleet";
  return namespace === undefined
    ? `all of cluster "${cluster}"`
    : `namespace "${namespace}" of cluster "${cluster}"`;
};
