import { bareHost, isOwnHost, isPrivateHost } from "../../../stack/cluster/reachable.ts";
import { isCertificates, pemData } from "../../../stack/cluster/access/pem.ts";
import { namePatternFault } from "../../../rules/model/access.ts";
import { awsDomain, isOfPartition } from "../../../rules/model/aws-partitions.ts";
import {
  isSecretOf,
  partitionWords,
  sourceSecretName,
  sourceSecretWords,
} from "../../../rules/model/aws-names.ts";
import {
  AWS_KINDS,
  mayBeSent,
  protocolsOf,
  REDIS_KINDS,
  type AwsPlace,
  type RegisteredSource,
  type SecretAuth,
  SOURCE_LIMITS,
  type SourceService,
  signedServiceOf,
} from "../../../rules/model/metric-source.ts";

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const PORT = /^(?:[a-z0-9](?:[a-z0-9-]{0,13}[a-z0-9])?)$/;
const PATH = /^(?:\/[\w.~-]+)*$/;
const VALUE = /^[ -~]+$/;

/** Parameters of each question. The limit of samples is the field aws.maxSamples. */
const OWN_PARAMETER = /^(query|time|match\[\]|max_samples_processed_(error|warning)_threshold)$/;

/**
 * The faults of a source that can be found before it is stored; each names its field. The sync
 * checks addresses again when it asks.
 */
export const sourceFaults = (
  name: string,
  source: RegisteredSource,
  trusted: { readonly ownAddresses: boolean },
): readonly string[] => [
  ...(LABEL.test(name)
    ? []
    : [`the name "${name}" must be small letters, digits and -, at most 63`]),
  ...placeFaults(source),
  ...(source.aws === undefined ? [] : awsFaults(source.kind, source.aws)),
  ...(source.url === undefined ? [] : urlFaults(source.url, source, trusted.ownAddresses)),
  ...(REDIS_KINDS.includes(source.kind) ? redisFaults(source) : []),
  ...keyFaults(source),
  ...(source.service === undefined ? [] : serviceFaults(source.service)),
  ...(source.auth === undefined || source.auth.kind === "sigv4"
    ? []
    : authFaults(name, source.auth, source.service !== undefined)),
  ...(source.auth?.kind === "mtls" && source.url !== undefined && !isSecure(source)
    ? [`auth of kind mtls needs a url that begins with ${protocolsOf(source.kind).secure}//`]
    : []),
  ...fixedFaults(
    "headers",
    source.headers,
    mayBeSent,
    "a header of small letters that is neither set by the client nor a credential",
  ),
  ...fixedFaults(
    "parameters",
    source.parameters,
    (parameter) => /^[\w.\-[\]]{1,64}$/.test(parameter) && !OWN_PARAMETER.test(parameter),
    "a parameter that is no part of the question",
  ),
  ...patternFaults("clusters", source.clusters),
  ...patternFaults("namespaces", source.namespaces),
  ...rangeFaults("timeoutSeconds", source.timeoutSeconds),
  ...rangeFaults("maxMetrics", source.maxMetrics),
  ...dollarFaults(source),
  ...authorityFaults(source),
  ...(source.partialAnswers === undefined || source.kind === "prometheus"
    ? []
    : [`partialAnswers is for prometheus, and this is ${source.kind}`]),
];

const isSecure = ({ kind, url }: RegisteredSource): boolean =>
  url?.startsWith(`${protocolsOf(kind).secure}//`) === true;

/** What has a meaning over HTTP only. */
const redisFaults = ({
  kind,
  url = "",
  service,
  auth,
  headers,
  parameters,
}: RegisteredSource): readonly string[] =>
  trueOf([
    [
      service !== undefined,
      `service is not for ${kind}: an API server forwards HTTP only. Give url, with private and a VPC that leads there`,
    ],
    [
      auth !== undefined && !REDIS_AUTH.has(auth.kind),
      `auth of ${kind} must be of kind basic (user and password, "default" for the user of a password alone) or mtls`,
    ],
    [headers !== undefined, `headers are not for ${kind}, which is not asked by HTTP`],
    [parameters !== undefined, `parameters are not for ${kind}, which is not asked by HTTP`],
    [
      URL.canParse(url) && !/^\/?$/.test(new URL(url).pathname),
      "url has a path; write the number of the database in the manifest",
    ],
  ]);
const REDIS_AUTH: ReadonlySet<string> = new Set(["basic", "mtls"]);

const KEY_CHARACTERS_MAX = 520;

const keyFaults = ({ kind, keys = [] }: RegisteredSource): readonly string[] => {
  if (!REDIS_KINDS.includes(kind))
    return keys.length === 0
      ? []
      : [`keys is for ${REDIS_KINDS.join(" and ")}, and this is ${kind}`];
  return trueOf([
    [
      keys.length === 0,
      "keys is empty, so that no key may be counted; give names or patterns such as jobs:*, of another database than 0 as db3/jobs:*",
    ],
    [
      keys.length > SOURCE_LIMITS.patterns,
      `keys has ${keys.length} patterns, and the limit is ${SOURCE_LIMITS.patterns}`,
    ],
    [
      keys.some((key) => key === "" || key.length > KEY_CHARACTERS_MAX),
      `keys: a pattern must have 1 to ${KEY_CHARACTERS_MAX} characters`,
    ],
  ]);
};

/** What TLS cannot use is refused here by name, and not by the first question. */
const authorityFaults = (source: RegisteredSource): readonly string[] => {
  const { caData, kind } = source;
  if (caData === undefined) return [];
  const pem = pemData.safeParse(caData);
  return trueOf([
    [
      !pem.success || !isCertificates(pem.data),
      "caData must be certificates in PEM, in base64: base64 -w0 ca.crt",
    ],
    [
      !isSecure(source),
      `caData is for a url that begins with ${protocolsOf(kind).secure}//; of a service, the API server of the cluster calls it`,
    ],
  ]);
};

const dollarFaults = ({ kind, maxDollars }: RegisteredSource): readonly string[] => {
  if (maxDollars === undefined) return [];
  return AWS_KINDS.includes(kind)
    ? rangeFaults("maxDollars", maxDollars)
    : [`maxDollars is for ${AWS_KINDS.join(", ")}, which AWS charges for, and this is ${kind}`];
};

type Faults = readonly (readonly [isFault: boolean, words: string])[];
const trueOf = (faults: Faults): readonly string[] =>
  faults.flatMap(([isFault, words]) => (isFault ? [words] : []));

/**
 * A service of AWS has its place there. Any other source has an address, or is a service of the
 * clusters.
 */
const placeFaults = (source: RegisteredSource): readonly string[] => {
  const { kind, url, service, aws, auth, headers } = source;
  if (!AWS_KINDS.includes(kind)) {
    const isSigned = signedServiceOf(source) !== undefined;
    const faults: Faults = [
      [(url === undefined) === (service === undefined), "give either url or service"],
      [
        isSigned && service !== undefined,
        "auth of kind sigv4 is for a url: the API server takes the header Authorization of a service for itself",
      ],
      [
        isSigned && !aws,
        "auth of kind sigv4 needs aws with region, roleArn and externalId: the role signs",
      ],
      [
        !isSigned && aws !== undefined,
        `aws is for ${AWS_KINDS.join(", ")} and for auth of kind sigv4, and this is ${kind} without it`,
      ],
    ];
    return trueOf(faults);
  }
  const given = Object.entries({ url, service, auth, headers }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  return [
    ...(aws ? [] : [`give aws with region, roleArn and externalId: ${kind} is a service of AWS`]),
    ...given.map((name) => `${name} is not for ${kind}, whose requests are signed with its role`),
  ];
};

const ROLE = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@-]+-source-[\w+=,.@-]+$/;
const EXTERNAL_ID = /^[\w+=,.@:/-]{2,1224}$/;
const WORKSPACE = /^ws-[0-9a-f-]{1,61}$/;
const QUEUE_PATTERN = /^(?:\d{12}\/)?[\w*-]{1,80}(?:\.fifo)?$/;

const ACCOUNT = /^\d{12}$/;
const METRIC_NAMESPACE = /^[\w.\-/#:*]{1,255}$/;

const awsFaults = (kind: RegisteredSource["kind"], place: AwsPlace): readonly string[] => {
  const {
    region,
    roleArn,
    externalId,
    workspace,
    queues = [],
    metricNamespaces = [],
    accounts = [],
    search,
    maxSamples,
  } = place;
  const faults: Faults = [
    [awsDomain(region) === undefined, `aws.region "${region}" is no region of AWS`],
    [
      !ROLE.test(roleArn),
      'aws.roleArn must be the ARN of a role without a path that is named STACK-source-NAME, such as "arn:aws:iam::123456789012:role/tidemark-prod-source-orders"',
    ],
    [
      ROLE.test(roleArn) && awsDomain(region) !== undefined && !isOfPartition(roleArn, region),
      partitionWords("aws.roleArn", region),
    ],
    [
      !EXTERNAL_ID.test(externalId),
      "aws.externalId must have 2 to 1224 letters, digits and +=,.@:/-",
    ],
    [
      kind === "amp" && !WORKSPACE.test(workspace ?? ""),
      'aws.workspace must be the id of a workspace, such as "ws-1a2b3c"',
    ],
    [kind !== "amp" && workspace !== undefined, `aws.workspace is for amp, and this is ${kind}`],
    [kind !== "amp" && maxSamples !== undefined, `aws.maxSamples is for amp, and this is ${kind}`],
    [
      kind === "sqs" && queues.length === 0,
      "aws.queues is empty, so that no queue may be counted; give names or patterns such as orders-*",
    ],
    [kind !== "sqs" && queues.length > 0, `aws.queues is for sqs, and this is ${kind}`],
    [
      kind === "cloudwatch" && metricNamespaces.length === 0,
      "aws.metricNamespaces is empty, so that no metric may be asked; give namespaces or patterns such as AWS/SQS or AWS/*",
    ],
    [
      kind !== "cloudwatch" && metricNamespaces.length > 0,
      `aws.metricNamespaces is for cloudwatch, and this is ${kind}`,
    ],
    [
      kind !== "cloudwatch" && accounts.length > 0,
      `aws.accounts is for cloudwatch, and this is ${kind}`,
    ],
    [
      kind !== "cloudwatch" && search !== undefined,
      `aws.search is for cloudwatch, and this is ${kind}`,
    ],
    [
      queues.length > SOURCE_LIMITS.queues,
      `aws.queues has ${queues.length} patterns, and the limit is ${SOURCE_LIMITS.queues}`,
    ],
  ];
  return [
    ...trueOf(faults),
    ...(maxSamples === undefined ? [] : rangeFaults("maxSamples", maxSamples)),
    ...queues.flatMap((queue) =>
      QUEUE_PATTERN.test(queue)
        ? []
        : [`aws.queues: "${queue}" must be a name or a pattern of queues, or ACCOUNT/PATTERN`],
    ),
    ...accounts.flatMap((account) =>
      ACCOUNT.test(account)
        ? []
        : [`aws.accounts: "${account}" must be the twelve digits of an account`],
    ),
    ...metricNamespaces.flatMap((namespace) =>
      METRIC_NAMESPACE.test(namespace)
        ? []
        : [
            `aws.metricNamespaces: "${namespace}" must be a namespace of CloudWatch or a pattern: AWS/SQS, AWS/*`,
          ],
    ),
  ];
};

/** "prometheus.monitoring.svc", with or without a domain of the cluster. */
const CLUSTER_HOST = /^[a-z0-9-]+\.[a-z0-9-]+\.svc(?:\.|$)/;

const urlFaults = (
  text: string,
  { kind, private: isPrivate }: Pick<RegisteredSource, "kind" | "private">,
  ownAddresses: boolean,
): readonly string[] => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The parser normalizes the host of a URL of the web only.
  const asWeb = text.replace(/^rediss?:/, "http:");
  if (!url || !URL.canParse(asWeb)) return ["url is no URL"];
  const { secure, plain } = protocolsOf(kind);
  const mayBePlain = isPrivate || ownAddresses;
  const host = bareHost(new URL(asWeb).hostname);
  const faults: Faults = [
    [
      url.protocol !== secure && !(url.protocol === plain && mayBePlain),
      `url must begin with ${secure}//, or with ${plain}// where private is true`,
    ],
    [
      url.username !== "" || url.password !== "",
      "url has a user or a password; put them into a secret, with auth",
    ],
    [url.search !== "" || url.hash !== "", "url has a query or a fragment; give parameters"],
    [
      !ownAddresses && isOwnHost(host),
      `url leads to ${host}, an address of this machine, of its network link or of a metadata service`,
    ],
    [
      CLUSTER_HOST.test(host),
      `url leads to ${host}, a name that only pods of the cluster resolve; ${REDIS_KINDS.includes(kind) ? "give the name of a load balancer in the VPC, or ask redis_exporter by a Prometheus" : "give service in place of it: --service NAMESPACE/NAME:PORT"}`,
    ],
    [
      !mayBePlain && isPrivateHost(host),
      `url leads to ${host} in a private network; set private to true where that is meant`,
    ],
  ];
  return trueOf(faults);
};

const serviceFaults = ({ namespace, name, port, path }: SourceService): readonly string[] => [
  ...(LABEL.test(namespace) ? [] : [`service.namespace "${namespace}" is no name of a namespace`]),
  ...(LABEL.test(name) ? [] : [`service.name "${name}" is no name of a service`]),
  ...(PORT.test(port) ? [] : [`service.port "${port}" is neither a number nor a name of a port`]),
  ...(PATH.test(path) && !path.split("/").includes("..")
    ? []
    : [`service.path "${path}" must be empty or /segments without a / at its end`]),
];

const authFaults = (
  name: string,
  { kind, secretId, header }: SecretAuth,
  ofService: boolean,
): readonly string[] => [
  ...(isSecretOf(secretId, sourceSecretName(name)) ? [] : [sourceSecretWords(name)]),
  ...(ofService && kind !== "header" && kind !== "headers"
    ? [
        `auth of a service must be of kind header or headers: the API server takes the header Authorization for itself. For ${kind}, register the server by --url, with --private where it is in a private network`,
      ]
    : []),
  ...(kind === "header" && (header === undefined || !mayBeSent(header))
    ? ["auth.header must name a header of small letters, such as x-api-key"]
    : []),
  ...(kind !== "header" && header !== undefined
    ? [`auth.header is for kind header, and this is ${kind}`]
    : []),
];

const fixedFaults = (
  field: string,
  fixed: Readonly<Record<string, string>> = {},
  isAllowed: (name: string) => boolean,
  words: string,
): readonly string[] => [
  ...(Object.keys(fixed).length > SOURCE_LIMITS.fixed
    ? [`${field} has ${Object.keys(fixed).length}, and the limit is ${SOURCE_LIMITS.fixed}`]
    : []),
  ...Object.keys(fixed).flatMap((name) =>
    isAllowed(name) ? [] : [`${field}: "${name}" is not ${words}`],
  ),
  ...Object.entries(fixed).flatMap(([name, value]) =>
    VALUE.test(value) && value.length <= SOURCE_LIMITS.fixedCharacters
      ? []
      : [
          `${field}.${name} must be printable ASCII, at most ${SOURCE_LIMITS.fixedCharacters} characters`,
        ],
  ),
];

const patternFaults = (field: string, patterns: readonly string[]): readonly string[] => {
  if (patterns.length === 0)
    return [
      `${field} is empty, so that nobody may ask it; give names, patterns such as prod-*, or *`,
    ];
  if (patterns.length > SOURCE_LIMITS.patterns)
    return [`${field} has ${patterns.length} patterns, and the limit is ${SOURCE_LIMITS.patterns}`];
  return patterns.flatMap((pattern) => {
    const fault = namePatternFault(pattern);
    return fault === undefined ? [] : [`${field}: "${pattern}" ${fault}`];
  });
};

const rangeFaults = (
  field: "timeoutSeconds" | "maxMetrics" | "maxDollars" | "maxSamples",
  value: number,
): readonly string[] => {
  const { least, most } = SOURCE_LIMITS[field];
  return Number.isInteger(value) && value >= least && value <= most
    ? []
    : [`${field} must be a whole number from ${least} to ${most}, and is ${value}`];
};
