import { asList, asObject, type Json, present } from "../../../model/json.ts";
import type { SourceKind } from "../../../model/metric-source.ts";
import type { Detail } from "../finding.ts";
import { lost, textOf } from "../schedules/timed.ts";

/**
 * Where a trigger asks, and as whom: what of its metadata a registered source has in its place. Two
 * triggers with different places need two sources.
 */
export interface SourcePlace {
  readonly kind: SourceKind;
  /** Of a server: scheme, host, port and the path before the path of each question. */
  readonly address?: string;
  readonly region?: string;
  /** Tenants, and what a proxy asks for. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly parameters?: Readonly<Record<string, string>>;
  /** The TriggerAuthentication, and the modes that the trigger names. */
  readonly authentication?: string;
  readonly authModes?: string;
  readonly unsafeTls?: true;
}

/** What a trigger says of where it asks. */
interface AskingTrigger {
  readonly type: string;
  readonly metadata: Json;
  readonly raw: Json;
}

/** A trigger with its place, and the source that is named for it. */
interface PlacedTrigger {
  readonly of: string;
  readonly place: SourcePlace | undefined;
  readonly source: string | undefined;
}

type PlaceReader = (metadata: Json, type: string) => SourcePlace;

const PAIR = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/s;
/** "X-Scope-OrgID=a,B=c" of KEDA. Names of headers have no case. */
const pairsIn = (text: string | undefined): Readonly<Record<string, string>> | undefined =>
  text === undefined
    ? undefined
    : Object.fromEntries(
        text.split(",").flatMap((pair) => {
          const [, name, value] = PAIR.exec(pair) ?? [];
          return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value]];
        }),
      );

const isUnsafe = (metadata: Json): true | undefined =>
  /^(?:1|t|true)$/i.test(String(metadata["unsafeSsl"] ?? "")) || undefined;

/**
 * An address in the one form that all spellings of it share: the host in small letters, a service
 * without the domain of the cluster, no slashes at the end.
 */
export const addressOf = (text: string | undefined): string | undefined => {
  if (text === undefined || !URL.canParse(text)) return text;
  const { protocol, host, pathname } = new URL(text);
  const short = host.replace(/\.svc\.cluster\.local\.?(?=:|$)/, ".svc");
  return `${protocol}//${short}${pathname.replace(/\/+$/, "")}`;
};

/** How a source is asked, by the modes of KEDA. */
export const AUTH_OF_MODE: Readonly<Record<string, string>> = {
  bearer: "bearer",
  basic: "basic",
  tls: "mtls",
  custom: "header",
  apiKey: "header",
  oauth: "oauth2",
};

/** The modes, and the header or the parameter of a key. */
const authModesOf = (metadata: Json): string | undefined =>
  [textOf(metadata["authModes"]) ?? textOf(metadata["authMode"]), textOf(metadata["keyParamName"])]
    .filter((text) => text !== undefined)
    .join(" ") || undefined;

const ofPrometheus: PlaceReader = (metadata) => {
  const namespace = textOf(metadata["namespace"]);
  const parameters = {
    ...pairsIn(textOf(metadata["queryParameters"])),
    ...(namespace !== undefined && { namespace }),
  };
  const headers = pairsIn(textOf(metadata["customHeaders"]));
  const region = textOf(metadata["awsRegion"]);
  return present({
    kind: region === undefined ? "prometheus" : "amp",
    address: addressOf(textOf(metadata["serverAddress"])),
    region,
    headers,
    parameters: Object.keys(parameters).length > 0 ? parameters : undefined,
    authModes: authModesOf(metadata),
    unsafeTls: isUnsafe(metadata),
  });
};

const REGION_OF_URL = /^https:\/\/sqs\.([a-z0-9-]+)\./;

/** The types of triggers that a registered Redis answers. Sentinel names servers that change. */
export const REDIS_TYPES: ReadonlyMap<string, "redis" | "redis-cluster"> = new Map([
  ["redis", "redis"],
  ["redis-streams", "redis"],
  ["redis-cluster", "redis-cluster"],
  ["redis-cluster-streams", "redis-cluster"],
]);

/** Where the trigger asks; of a cluster, the first server. */
const ofRedis: PlaceReader = (metadata, type) => {
  const first = (...names: readonly string[]): string | undefined =>
    names
      .map((name) => textOf(metadata[name])?.split(",")[0]?.trim())
      .find((text) => text !== undefined && text !== "");
  const host = first("host", "hosts");
  const server =
    first("address", "addresses") ??
    (host === undefined ? undefined : `${host}:${first("port", "ports") ?? "6379"}`);
  const protocol = /^(?:1|t|true|enable)$/i.test(String(metadata["enableTLS"] ?? ""))
    ? "rediss:"
    : "redis:";
  return {
    kind: REDIS_TYPES.get(type) ?? "redis",
    ...(server !== undefined && { address: addressOf(`${protocol}//${server}`) ?? server }),
  };
};

/** The readers of places, by the type of the trigger. */
const READERS: Readonly<Record<string, PlaceReader>> = {
  ...Object.fromEntries([...REDIS_TYPES.keys()].map((type) => [type, ofRedis])),
  prometheus: ofPrometheus,
  "aws-sqs-queue": (metadata) =>
    present({
      kind: "sqs" as const,
      region:
        textOf(metadata["awsRegion"]) ??
        REGION_OF_URL.exec(textOf(metadata["queueURL"]) ?? "")?.[1],
    }),
  "aws-cloudwatch": (metadata) =>
    present({ kind: "cloudwatch" as const, region: textOf(metadata["awsRegion"]) }),
  "metrics-api": (metadata) => {
    const url = textOf(metadata["url"]);
    const parsed = url !== undefined && URL.canParse(url) ? new URL(url) : undefined;
    return present({
      kind: "http" as const,
      address: addressOf(parsed ? parsed.origin : url),
      parameters: parsed?.search ? Object.fromEntries(parsed.searchParams) : undefined,
      authModes: authModesOf(metadata),
      unsafeTls: isUnsafe(metadata),
    });
  },
};

const CLUSTER_WIDE = "ClusterTriggerAuthentication";

/**
 * The place of a trigger; undefined for a type that needs no registered source. A
 * TriggerAuthentication is of the namespace of its ScaledObject.
 */
export const sourcePlaceOf = (
  { type, metadata, raw }: AskingTrigger,
  namespace: string,
): SourcePlace | undefined => {
  const place = Object.hasOwn(READERS, type) ? READERS[type]?.(metadata, type) : undefined;
  if (place === undefined) return undefined;
  const { kind, name } = asObject(raw["authenticationRef"]);
  if (textOf(name) === undefined) return place;
  const authentication =
    kind === CLUSTER_WIDE
      ? `${CLUSTER_WIDE}/${String(name)}`
      : `${namespace}/TriggerAuthentication/${String(name)}`;
  return { ...place, authentication };
};

/** False for what a template has in the place of an address: "${prometheus}". */
export const isAddressed = ({ address }: SourcePlace): boolean =>
  address === undefined || URL.canParse(address);

const NAME_CHARACTERS_MAX = 40;
const HASH_CHARACTERS = 4;

/**
 * A name for the source of a place, the same wherever it is made: from the host or the Region, and
 * from a hash where only a tenant or a credential tells two places apart.
 */
export const sourceNameOf = (place: SourcePlace): string => {
  const { kind, address, region, ...as } = place;
  const host = address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
  const where = (host ?? region ?? "")
    .replace(/\.svc(?:\.[a-z0-9.-]+)?(?=:|$)/, "")
    .replace(/[^a-z0-9]+/g, "-");
  const named = where.startsWith(kind) ? where : `${kind}-${where}`;
  const plain = named.slice(0, NAME_CHARACTERS_MAX).replace(/-+$/, "");
  const path = address !== undefined && host !== undefined ? new URL(address).pathname : "/";
  // Two hosts may begin with the same characters.
  const whole = named.length <= NAME_CHARACTERS_MAX;
  return Object.keys(as).length === 0 && path === "/" && whole
    ? plain
    : `${plain}-${hashOf(sourcePlaceText(place))}`;
};

/** FNV-1a of 32 bits: it only has to differ between the few places of one host. */
const hashOf = (text: string): string => {
  let hash = 0x81_1c_9d_c5;
  for (const character of text)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93) >>> 0;
  return hash.toString(36).padStart(HASH_CHARACTERS, "0").slice(-HASH_CHARACTERS);
};

/** "http://prometheus:9090, header x-scope-orgid=a": what tells one place from another. */
export const sourcePlaceText = (place: SourcePlace): string => {
  const pairs = (of: string, some: Readonly<Record<string, string>> = {}): readonly string[] =>
    Object.entries(some).map(([name, value]) => `${of} ${name}=${value}`);
  const words = [
    place.address,
    place.region === undefined ? undefined : `Region ${place.region}`,
    ...pairs("header", place.headers),
    ...pairs("parameter", place.parameters),
    place.authentication,
    place.authModes === undefined ? undefined : `authentication ${place.authModes}`,
    place.unsafeTls ? "without a check of its certificate" : undefined,
  ].filter((text) => text !== undefined);
  return words.length === 0 ? `the account of ${place.kind}` : words.join(", ");
};

/** Each source name with the different places of the triggers that it would stand for. */
export type SourcePlaces = ReadonlyMap<string, ReadonlySet<string>>;

/** The places of all triggers, by the source that is named for them. */
export const sourcePlaces = (triggers: readonly Omit<PlacedTrigger, "of">[]): SourcePlaces => {
  const places = new Map<string, Set<string>>();
  for (const { place, source } of triggers) {
    if (place === undefined || source === undefined) continue;
    places.set(source, (places.get(source) ?? new Set<string>()).add(sourcePlaceText(place)));
  }
  return places;
};

const SHOWN = 4;

/**
 * Why the source of a trigger cannot stand for it; undefined where it can. On doubt, no document:
 * a query would be asked of another server, or for another tenant.
 */
export const placeConflict = (
  { of, source, place }: PlacedTrigger,
  places: SourcePlaces,
): Detail | undefined => {
  const different = [...((source !== undefined && places.get(source)) || [])].sort();
  if (place === undefined || different.length < 2) return undefined;
  const shown = different.slice(0, SHOWN).join("; ");
  const more = different.length > SHOWN ? `; and ${different.length - SHOWN} more` : "";
  return lost(
    of,
    `one source "${source}" cannot stand for ${different.length} places: ${shown}${more}. Register a source for each (tidemark source discover prints the commands), and use --source auto`,
  );
};

export const triggersIn = (raw: Json): readonly Json[] =>
  asList(asObject(raw["spec"])["triggers"]).map(asObject);
