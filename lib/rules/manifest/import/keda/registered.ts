import {
  keyText,
  mayCountKey,
  mayCountQueue,
  mayReadNamespace,
  type RegisteredSource,
  type SourceKind,
} from "../../../model/metric-source.ts";
import { matchesName } from "../../../model/access.ts";
import type { Json } from "../../../model/json.ts";
import type { Detail } from "../finding.ts";
import { changed, lost, textOf } from "../schedules/timed.ts";
import { BY_EXPORTER, redisKeyOf } from "./redis.ts";
import { addressOf, AUTH_OF_MODE, REDIS_TYPES, type SourcePlace } from "./places.ts";
import type { Trigger } from "./triggers.ts";

/** What is known of the registered sources that are named for triggers. */
export interface Registered {
  readonly sources: ReadonlyMap<string, Pick<RegisteredSource, Compared>>;
  /** True where these are all sources of the stack. */
  readonly isAll: boolean;
}
export const NONE_REGISTERED: Registered = { sources: new Map(), isAll: false };
type Compared =
  | "kind"
  | "url"
  | "service"
  | "aws"
  | "auth"
  | "headers"
  | "parameters"
  | "keys"
  | "namespaces";
type Source = Pick<RegisteredSource, Compared>;

/** A fault refuses the trigger; a doubt is noted. */
type Difference = { readonly fault: string } | { readonly doubt: string };

/**
 * What the record of the source of a trigger says else than the trigger. On doubt, no document: a
 * query would be asked of another server, or for another tenant.
 */
export const registeredDetails = (
  trigger: Trigger,
  namespace: string,
  { sources, isAll }: Registered,
): readonly Detail[] => {
  const { of, place, source } = trigger;
  // A query by an exporter asks another place than the trigger.
  if (place === undefined || source === undefined || BY_EXPORTER.test(source)) return [];
  const record = sources.get(source);
  if (record === undefined)
    return isAll
      ? [
          changed(
            of,
            `no source "${source}" is registered yet: register it before the takeover; tidemark source discover prints the command`,
          ),
        ]
      : [];
  const differences = [
    ...(kindsMatch(place, record)
      ? [
          ...addressDifference(place, record),
          ...regionDifference(place, record),
          ...pairDifferences("header", place.headers, sentHeaders(record)),
          ...pairDifferences("parameter", place.parameters, record.parameters),
          ...authDifference(place, record),
          ...scopeDifference(trigger, record),
        ]
      : [{ fault: `it is of kind ${record.kind}, and the trigger asks ${place.kind}` }]),
    ...(record.namespaces.some((pattern) => matchesName(pattern, namespace))
      ? []
      : [{ fault: `autoscalers of namespace "${namespace}" may not ask it` }]),
  ];
  return differences.map((one) =>
    "fault" in one
      ? lost(of, `source "${source}": ${one.fault}; register a source for it, and name that one`)
      : changed(of, `source "${source}": ${one.doubt}`),
  );
};

const PROMETHEUS_KINDS: readonly SourceKind[] = ["prometheus", "amp"];

/** A request to Amazon Managed Prometheus may be signed by a source of kind prometheus. */
const kindsMatch = ({ kind }: SourcePlace, record: Source): boolean =>
  kind === record.kind || [kind, record.kind].every((of) => PROMETHEUS_KINDS.includes(of));

const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

interface ServiceAddress {
  readonly name: string;
  /** Undefined where the host is only a name, as it is found from the namespace of KEDA. */
  readonly namespace: string | undefined;
  readonly port: string;
  readonly path: string;
}

/** The service behind a host that only the cluster knows: "prometheus", "prometheus.monitoring". */
const serviceAddressOf = (address: string): ServiceAddress | undefined => {
  if (!URL.canParse(address)) return undefined;
  const { hostname, protocol, port, pathname } = new URL(address);
  const [, name, namespace, svc] = /^([a-z0-9-]+)(?:\.([a-z0-9-]+))?(\.svc)?$/.exec(hostname) ?? [];
  if (name === undefined || (svc !== undefined && namespace === undefined)) return undefined;
  return {
    name,
    namespace,
    port: port || (PORTS[protocol] ?? ""),
    path: pathname.replace(/\/+$/, ""),
  };
};

const addressDifference = ({ address }: SourcePlace, record: Source): readonly Difference[] => {
  if (address === undefined) return [];
  const inCluster = serviceAddressOf(address);
  if (record.service) return serviceDifference(address, inCluster, record.service);
  const url = addressOf(record.url);
  if (url === undefined || url === address) return [];
  // A host that only the cluster knows has another name outside of it.
  return inCluster
    ? [{ doubt: `its address ${url} must be another name of ${address}` }]
    : [{ fault: `its address is ${url}, and the trigger asks ${address}` }];
};

const serviceDifference = (
  address: string,
  asked: ServiceAddress | undefined,
  service: NonNullable<Source["service"]>,
): readonly Difference[] => {
  const { namespace, name, port, path } = service;
  const text = `${namespace}/${name}:${port}${path}`;
  if (asked === undefined)
    return [{ doubt: `its service ${text} must be another name of ${address}` }];
  const isSame =
    asked.name === name &&
    asked.path === path.replace(/\/+$/, "") &&
    (asked.namespace ?? namespace) === namespace &&
    // The number of a port that has a name is not known here.
    (asked.port === port || Number.isNaN(Number(port)));
  return isSame ? [] : [{ fault: `it asks the service ${text}, and the trigger ${address}` }];
};

const regionDifference = ({ region }: SourcePlace, { aws }: Source): readonly Difference[] =>
  region === undefined || aws === undefined || aws.region === region
    ? []
    : [{ fault: `it asks in Region ${aws.region}, and the trigger in ${region}` }];

/** Undefined where the secret has headers that are not known here. */
const sentHeaders = ({ headers = {}, auth }: Source): Source["headers"] | "unknown" =>
  auth?.kind === "headers" || auth?.kind === "header" ? "unknown" : headers;

const pairDifferences = (
  of: string,
  asked: Readonly<Record<string, string>> = {},
  sent: Readonly<Record<string, string>> | "unknown" = {},
): readonly Difference[] => {
  const names = [
    ...new Set([...Object.keys(asked), ...(sent === "unknown" ? [] : Object.keys(sent))]),
  ];
  return names.sort().flatMap((name): readonly Difference[] => {
    const [wanted, own] = [asked[name], sent === "unknown" ? undefined : sent[name]];
    if (wanted === own) return [];
    if (sent === "unknown")
      return [{ doubt: `its secret must have the ${of} ${name} with the value of the trigger` }];
    return [{ fault: `its ${of} ${name} is ${shown(own)}, and the trigger's ${shown(wanted)}` }];
  });
};

const shown = (value: string | undefined): string =>
  value === undefined ? "not set" : `"${value}"`;

const authDifference = (
  { authentication, authModes = "" }: SourcePlace,
  { auth, service, aws }: Source,
): readonly Difference[] => {
  if (authentication === undefined || aws || service) return [];
  if (auth === undefined)
    return [{ doubt: `it asks without a credential, and the trigger as ${authentication}` }];
  const kinds = authModes.split(/[\s,]+/).flatMap((mode) => AUTH_OF_MODE[mode] ?? []);
  return kinds.length === 0 || kinds.includes(auth.kind === "headers" ? "header" : auth.kind)
    ? []
    : [{ doubt: `it asks by ${auth.kind}, and the trigger by ${kinds.join(" and ")}` }];
};

const QUEUE = /\/(\d{12})\/([^/]+)$/;

/** What a source in AWS may read at all, by the type of the trigger. */
const SCOPES: Readonly<Record<string, (metadata: Json, record: Source) => readonly Difference[]>> =
  {
    "aws-sqs-queue": ({ queueURL }, record) => {
      const url = textOf(queueURL) ?? "";
      const [, accountId = "", queue = url] = QUEUE.exec(url) ?? [];
      return mayCountQueue(record, { queue, accountId })
        ? []
        : [{ fault: `it may not count the queue "${queue}" (its option --queue)` }];
    },
    "aws-cloudwatch": ({ namespace }, record) => {
      const of = textOf(namespace);
      if (of === undefined || mayReadNamespace(record, of)) return [];
      const option = "its option --metric-namespace";
      return [{ fault: `it may not read the namespace "${of}" of CloudWatch (${option})` }];
    },
  };

const keyDifference = (metadata: Json, record: Source): readonly Difference[] => {
  const asked = redisKeyOf(metadata);
  return mayCountKey(record, asked)
    ? []
    : [{ fault: `it may not count the key "${keyText(asked)}" (its option --key)` }];
};

const scopeDifference = ({ type, metadata }: Trigger, record: Source): readonly Difference[] =>
  REDIS_TYPES.has(type)
    ? keyDifference(metadata, record)
    : (Object.hasOwn(SCOPES, type) && SCOPES[type]?.(metadata, record)) || [];
