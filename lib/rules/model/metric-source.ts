import { matchesName } from "./access.ts";
import { SECOND_MS } from "./time-text.ts";

/**
 * A metric source outside the cluster, as an administrator registered it. A manifest only names it:
 * it can hold neither an address nor a credential.
 */
export interface RegisteredSource {
  readonly kind: SourceKind;
  /** Where its server is. Absent where it is a service of the cluster itself. */
  readonly url?: string;
  /** A service of each cluster, which is asked through the API server of that cluster. */
  readonly service?: SourceService;
  /**
   * The place in AWS, for the kinds that are services of AWS and for requests that are signed as
   * theirs are.
   */
  readonly aws?: AwsPlace;
  /**
   * PEM of the authority of the certificate of `url`, in base64, where it is none of the system's.
   * It is no secret, so that a source without a credential can have one.
   */
  readonly caData?: string;
  readonly auth?: SourceAuth;
  /** Sent with each question, such as the tenant of Mimir or Thanos. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly parameters?: Readonly<Record<string, string>>;
  /** Patterns of the clusters and namespaces whose autoscalers may ask it. */
  readonly clusters: readonly string[];
  readonly namespaces: readonly string[];
  readonly timeoutSeconds: number;
  /** Most different questions of one sync of a partition. */
  readonly maxMetrics: number;
  /**
   * Most dollars a month that the questions of one partition may cost by list prices. Only services
   * of AWS charge for them.
   */
  readonly maxDollars?: number;
  /** True where its address may be in a private network, and where it may be asked without TLS. */
  readonly private: boolean;
  /**
   * `prometheus`: true where an answer with warnings counts. A part of the data may be missing from
   * it, as where Thanos or Mimir did not reach a store.
   */
  readonly partialAnswers?: boolean;
  /**
   * `redis` and `redis-cluster`: patterns of the keys whose items may be counted: "jobs:*" in
   * database 0, or "db3/jobs:*" in database 3.
   */
  readonly keys?: readonly string[];
}

export const SOURCE_KINDS = [
  "prometheus",
  "http",
  "redis",
  "redis-cluster",
  "sqs",
  "amp",
  "cloudwatch",
] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** Kinds that are services of AWS, asked with a role. */
export const AWS_KINDS: readonly SourceKind[] = ["sqs", "amp", "cloudwatch"];

/** Kinds that are a Redis, which is asked over TCP and not by HTTP. */
export const REDIS_KINDS: readonly SourceKind[] = ["redis", "redis-cluster"];

/** How the address of a source begins: with TLS, and without. */
export const protocolsOf = (
  kind: SourceKind,
): { readonly secure: string; readonly plain: string } =>
  REDIS_KINDS.includes(kind)
    ? { secure: "rediss:", plain: "redis:" }
    : { secure: "https:", plain: "http:" };

export interface AwsPlace {
  readonly region: string;
  readonly roleArn: string;
  /** What the trust of the role asks for, so that no other source can use the role. */
  readonly externalId: string;
  /** `amp`: the workspace, "ws-…". */
  readonly workspace?: string;
  /**
   * `amp`: samples that one question may process. The service refuses a dearer one, and does not
   * charge for it.
   */
  readonly maxSamples?: number;
  /**
   * `sqs`: patterns of queues, "orders-*" in the account of the role or "123456789012/orders-*".
   */
  readonly queues?: readonly string[];
  /** `cloudwatch`: patterns of the namespaces of CloudWatch whose metrics may be asked: "AWS/*". */
  readonly metricNamespaces?: readonly string[];
  /**
   * `cloudwatch`: accounts whose metrics may be asked beside the account of the role, which
   * monitors them.
   */
  readonly accounts?: readonly string[];
  /**
   * `cloudwatch`: true where expressions may find their own series (SEARCH, SELECT), in any
   * namespace and at any cost.
   */
  readonly search?: boolean;
}

export const accountOf = (roleArn: string): string => roleArn.split(":")[4] ?? "";

/**
 * True where the source may count the messages of the queue. An empty account is the one of the
 * role.
 */
export const mayCountQueue = (
  { aws }: Pick<RegisteredSource, "aws">,
  { queue, accountId }: { readonly queue: string; readonly accountId: string },
): boolean => {
  const own = accountOf(aws?.roleArn ?? "");
  const account = accountId || own;
  return (aws?.queues ?? []).some((pattern) => {
    const [of, name] = pattern.includes("/") ? pattern.split("/") : [own, pattern];
    return of === account && matchesName(name ?? "", queue);
  });
};

const DATABASE = /^db(\d{1,4})\//;

/** How the keys of a source write a key: with its database, where it is not 0. */
export const keyText = ({ key, database }: KeyPlace): string =>
  database === 0 && !DATABASE.test(key) ? key : `db${database}/${key}`;

/** Reads what `keyText` writes, or a pattern of it. */
export const keyIn = (text: string): KeyPlace => {
  const [prefix = "", database = "0"] = DATABASE.exec(text) ?? [];
  return { key: text.slice(prefix.length), database: Number(database) };
};

interface KeyPlace {
  readonly key: string;
  readonly database: number;
}

/**
 * True where the source may count the items of the key. A Redis that several teams share would
 * otherwise show each of them how much the others have.
 */
export const mayCountKey = (
  { keys = [] }: Pick<RegisteredSource, "keys">,
  { key, database }: KeyPlace,
): boolean => keys.map(keyIn).some((of) => of.database === database && matchesName(of.key, key));

/** True where the source may read metrics of this namespace of CloudWatch. */
export const mayReadNamespace = (
  { aws }: Pick<RegisteredSource, "aws">,
  namespace: string,
): boolean => (aws?.metricNamespaces ?? []).some((pattern) => matchesName(pattern, namespace));

/**
 * True where the source may read metrics of this account. An empty account is the one of the role.
 */
export const mayReadAccount = (
  { aws }: Pick<RegisteredSource, "aws">,
  accountId: string,
): boolean =>
  accountId === "" ||
  accountId === accountOf(aws?.roleArn ?? "") ||
  (aws?.accounts ?? []).includes(accountId);

export interface SourceService {
  readonly namespace: string;
  readonly name: string;
  /** Number or name of the port. */
  readonly port: string;
  readonly scheme: ServiceScheme;
  /** Before the path of each question: "/prometheus". */
  readonly path: string;
}

export const SERVICE_SCHEMES = ["http", "https"] as const;
type ServiceScheme = (typeof SERVICE_SCHEMES)[number];

export const SECRET_AUTH_KINDS = [
  "basic",
  "bearer",
  "header",
  "headers",
  "mtls",
  "oauth2",
] as const;
export const AUTH_KINDS = [...SECRET_AUTH_KINDS, "sigv4"] as const;

const HEADER = /^[a-z0-9][a-z0-9-]{0,63}$/;
/** Headers that the client, the API server or a proxy sets, or that say who asks. */
const OWN_HEADER =
  /^(host|accept|accept-encoding|user-agent|content-.*|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|cookie|authorization|proxy-.*|impersonate-.*|x-remote-.*|x-forwarded-.*|forwarded)$/;

/** True for a header of small letters that a source may have sent. */
export const mayBeSent = (header: string): boolean =>
  HEADER.test(header) && !OWN_HEADER.test(header);

/** How a question is authenticated. */
export type SourceAuth = SecretAuth | SignedAuth;

/** The secret holds the credential and the address that may get it. */
export interface SecretAuth {
  readonly kind: (typeof SECRET_AUTH_KINDS)[number];
  readonly secretId: string;
  /** Name of the header, for `header`. */
  readonly header?: string;
}

/** Signature Version 4 with the role in `aws`, for an address that a service of AWS guards. */
export interface SignedAuth {
  readonly kind: "sigv4";
  readonly service: SignedService;
}

/**
 * What a session may do at most behind an address that this service guards. The role limits it
 * further, by resource.
 */
export const SIGNED_SERVICES = {
  "execute-api": ["execute-api:Invoke"],
  lambda: ["lambda:InvokeFunctionUrl", "lambda:InvokeFunction"],
  "vpc-lattice-svcs": ["vpc-lattice-svcs:Invoke"],
  aps: ["aps:QueryMetrics"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type SignedService = keyof typeof SIGNED_SERVICES;
export const SIGNED_SERVICE_NAMES = Object.keys(SIGNED_SERVICES) as readonly SignedService[];

/** The service of AWS as whose requests the ones to this address are signed. */
export const signedServiceOf = ({
  auth,
}: Pick<RegisteredSource, "auth">): SignedService | undefined =>
  auth?.kind === "sigv4" ? auth.service : undefined;

/** A registered source with its name and the number of its edits. */
export interface MetricSourceRecord extends RegisteredSource {
  readonly name: string;
  readonly version: number;
  readonly updatedMs: number;
  readonly updatedBy: string;
}

export const SOURCE_LIMITS = {
  timeoutSeconds: { least: 1, most: 10, default: 3 },
  maxMetrics: { least: 1, most: 10_000, default: 1_000 },
  /** A thousand metrics of CloudWatch that are asked once a minute cost $438 a month. */
  maxDollars: { least: 1, most: 1_000_000, default: 500 },
  /** Of one question to Amazon Managed Prometheus: $0.0001, or $17.50 a month at 15 s. */
  maxSamples: { least: 1, most: 50_000_000, default: 1_000_000 },
  patterns: 100,
  /** They become a part of the policy of a session, which has 2,048 characters. */
  queues: 20,
  /** Fixed headers and parameters, and the characters of each. */
  fixed: 20,
  /** Characters of `caData`: some ten certificates. */
  caData: 20_000,
  fixedCharacters: 1_024,
} as const;

/** An answer of a registered source that came in time, and late. */
export interface SlowAnswer {
  readonly source: string;
  /** From the request to its answer: of several requests the slowest. */
  readonly seconds: number;
  readonly timeoutSeconds: number;
}

/** The share of its time limit from which on an answer is slow. */
const SLOW = 0.5;
const TENTH_MS = 100;

/** What is remembered of an answer that took so long; undefined where it was not slow. */
export const slowAnswer = (
  { name, timeoutSeconds }: Pick<MetricSourceRecord, "name" | "timeoutSeconds">,
  tookMs: number,
): SlowAnswer | undefined =>
  tookMs >= SLOW * timeoutSeconds * SECOND_MS
    ? { source: name, seconds: Math.round(tookMs / TENTH_MS) / 10, timeoutSeconds }
    : undefined;

/** True where autoscalers of this namespace of this cluster may ask the source. */
export const mayAsk = (
  { clusters, namespaces }: Pick<RegisteredSource, "clusters" | "namespaces">,
  place: { readonly cluster: string; readonly namespace: string },
): boolean =>
  clusters.some((pattern) => matchesName(pattern, place.cluster)) &&
  namespaces.some((pattern) => matchesName(pattern, place.namespace));

/**
 * Segments of the path to a service through the API server, not yet encoded. A role names the last
 * but one as its resource name.
 */
export const proxyName = ({
  scheme,
  name,
  port,
}: Pick<SourceService, "scheme" | "name" | "port">): string => `${scheme}:${name}:${port}`;
