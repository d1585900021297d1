import {
  type CheckedPoint,
  type ConnectionReport,
  failed,
  passed,
  checkReport,
  skipped,
  warning,
} from "../cluster/check/report.ts";
import { connect, type ConnectOptions } from "../cluster/connect.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import type {
  MetricSourceRecord,
  SourceKind,
  SourceService,
} from "../../rules/model/metric-source.ts";
import type { Answer, ApiFailure, MetricValue } from "../../rules/model/observation.ts";
import { decimalText } from "../../rules/model/quantity.ts";
import { queryKey } from "../../rules/model/query.ts";
import type { ClusterRecord, ConnectionRecord } from "../../rules/model/records.ts";
import { checkQuestionOf, KINDS, type SourceQuestion } from "../../rules/sources/kinds.ts";
import type { OwnAccount } from "./aws.ts";
import { sourceClient } from "./source-client.ts";

/** A source to ask, and the cluster for which it is asked. */
export interface CheckedSource {
  readonly source: MetricSourceRecord;
  readonly cluster: Pick<ClusterRecord, "name">;
  /** The way to the cluster, for a source that is a service of it. */
  readonly reached?: Pick<ConnectionRecord, "connection" | "kubeSystemUid">;
  readonly question: SourceQuestion;
}

export interface CheckSourceOptions extends ConnectOptions {
  /** True where the source may be on this machine. */
  readonly ownAddresses: boolean;
  /** In the embedded run only: an account of AWS whose services are on this machine. */
  readonly ownAccount?: OwnAccount;
}

/** Time for credentials and the answer together. */
const CHECK_MS = 20_000;

/**
 * Asks a source one question as a sync does, with new credentials and connections. It changes
 * nothing, and never rejects for what the source, the cluster or AWS does.
 */
export const askOnce = async (
  { source, cluster, reached, question }: CheckedSource,
  options: CheckSourceOptions,
): Promise<ConnectionReport> => {
  const label = source.service ? `answer in ${cluster.name}` : "answer";
  const query = checkQuestionOf(source, question);
  if (query === undefined)
    return checkReport(source.name, [
      skipped(label, `nothing was asked: ${KINDS[source.kind].needs}`),
    ]);
  const client = sourceClient({
    clock: options.clock,
    ownAddresses: options.ownAddresses,
    ...(options.ownAccount && { ownAccount: options.ownAccount }),
  });
  const untilMs = options.clock() + CHECK_MS;
  try {
    const { connection, kubeSystemUid } = reached ?? {};
    const connected =
      source.service && connection
        ? await connect({ name: cluster.name, connection, kubeSystemUid }, options)
        : undefined;
    try {
      const context = {
        cluster: cluster.name,
        leftMs: () => untilMs - options.clock(),
        ...(connected?.getFromService && { getFromService: connected.getFromService }),
      };
      const startedMs = options.clock();
      const answer = (await client.ask(source, [query], context)).get(queryKey(query));
      return checkReport(
        source.name,
        pointsOf(source, label, { answer, tookMs: options.clock() - startedMs }),
      );
    } finally {
      connected?.close();
    }
  } catch (error) {
    if (!isTidemarkError(error)) throw error;
    return checkReport(source.name, [
      failed(label, error.message, `look at the cluster: tidemark cluster check ${cluster.name}`),
    ]);
  } finally {
    client.close();
  }
};

interface Asked {
  readonly answer: Answer<readonly MetricValue[]> | undefined;
  readonly tookMs: number;
}

const pointsOf = (
  source: MetricSourceRecord,
  label: string,
  { answer, tookMs }: Asked,
): readonly CheckedPoint[] => {
  const credential = source.aws ? "role" : source.auth ? "secret" : undefined;
  const found =
    credential === undefined
      ? []
      : [
          passed(
            credential,
            source.aws ? "it was assumed" : "it was read, and is for the address of the source",
          ),
        ];
  if (answer?.kind === "answered")
    return [...found, answeredPoint(source, label, { items: answer.items, tookMs })];
  const failure = answer?.failure ?? {
    code: 0,
    reason: "NoAnswer",
    message: "the question was not asked",
  };
  if (failure.reason === "NoCredential")
    return [
      failed(credential ?? label, failure.message, CREDENTIAL_FIX[source.aws ? "role" : "secret"]),
    ];
  return [...found, failed(label, failure.message, fixOf(source, failure))];
};

const answeredPoint = (
  { kind }: MetricSourceRecord,
  label: string,
  { items, tookMs }: { readonly items: readonly MetricValue[]; readonly tookMs: number },
): CheckedPoint => {
  const [value] = items;
  const time = `${Math.round(tookMs)} ms`;
  if (value !== undefined) return passed(label, `the value ${decimalText(value.milli)} in ${time}`);
  const { answersEmpty } = KINDS[kind];
  if (answersEmpty !== undefined) return passed(label, `${answersEmpty} answers in ${time}`);
  return warning(
    label,
    `no value in ${time}: the query found no series`,
    "correct the query, or say with whenEmpty what no series means",
  );
};

const CREDENTIAL_FIX = {
  role: "make the role with the name that the source gives, let its trust name the role of the function sync with the ExternalId of the source, and allow it what docs/sources.md says",
  secret: "store the secret with the url of the source and its credential, as docs/sources.md says",
} as const;

const VPC =
  "the function sync must be in a VPC that leads there (docs/operations.md), and the source private";

const BY_REASON: Readonly<Record<string, string>> = {
  AddressRefused:
    "register an address outside of this machine; one in a private network needs --private and a VPC",
  TlsVerificationFailed:
    "give the authority with --ca-data, or as caData in the secret of the source, or the server a certificate for its name",
  UnknownHost: `correct the name in --url; for a private name ${VPC}`,
  ConnectionRefused: "correct the port, or start the server",
  Unreachable: `for a private address ${VPC}`,
  Timeout: `let the server answer faster, or raise --timeout-seconds (10 at most); for a private address ${VPC}`,
  NotAllowed: "name what the source allows, or register the source again with more",
  PartialAnswer:
    "let every store answer; where warnings are usual and a value may lack a part, register the source with --partial-answers",
  WrongResult: "write an instant query with one series or one number, such as sum(rate(x[2m]))",
  QueryRefused: "correct the query, or the limit that it exceeds",
  RefusedByAws:
    "correct the Region, the queue or the workspace of the source, and what its role allows (docs/sources.md)",
  Throttled: "ask less often, with everySeconds in the manifests, or ask AWS for a higher rate",
  SeveralSeries: "aggregate the query, as with sum(…)",
  NoService: "ask from the stack that syncs the cluster",
};

/** What to do about an answer of the API server, or of the service behind it. */
const byServiceStatus = (
  name: string,
  service: SourceService,
): Readonly<Record<number, string>> => {
  const allow = `let the cluster allow it: tidemark cluster rbac --source ${name} | kubectl apply -f -; if it does, the service itself wants a credential (--auth header)`;
  return {
    401: allow,
    403: allow,
    404: `correct the namespace, the name, the port or the path: kubectl -n ${service.namespace} get service ${service.name}`,
    503: `no pod of the service is ready: kubectl -n ${service.namespace} get endpoints ${service.name}`,
  };
};

const REDIRECT = "register the address to which the server redirects: no redirect is followed";

/** What to do about an answer with this status. */
const byStatus = (
  { name, service, auth }: MetricSourceRecord,
  code: number,
): string | undefined => {
  const ofService = service && byServiceStatus(name, service)[code];
  if (ofService) return ofService;
  if (code === 401 || code === 403) {
    if (auth?.kind === "sigv4")
      return "let the role call the address, and correct --auth-service and --aws-region (docs/sources.md)";
    return auth
      ? "correct the credential in the secret, or its rights on the server"
      : "register it with --auth and --secret";
  }
  if (code === 404)
    return "correct the path in --url: what a question adds begins with /api/v1 for a Prometheus";
  if (code >= 500) return "look at the log of the server";
  return code >= 300 && code < 400 ? REDIRECT : undefined;
};

/**
 * A service is asked through the API server of its cluster, so that these failures are of the
 * connection of the cluster.
 */
const OF_THE_CLUSTER: ReadonlySet<string> = new Set([
  "UnknownHost",
  "ConnectionRefused",
  "Unreachable",
  "TlsVerificationFailed",
]);
const CLUSTER_FIX =
  "the API server of the cluster cannot be reached: tidemark cluster check says what to do";

const DIVIDE =
  "divide only by what is above 0, as in a / (b > 0): then there is no series where b is 0, and whenEmpty says what that means";

/** What to do about a value that is no finite number. */
const NOT_A_NUMBER: Readonly<Partial<Record<SourceKind, string>>> = {
  prometheus: DIVIDE,
  amp: DIVIDE,
  http: "correct --pointer, which must lead to a number or a quantity in the document",
};

const fixOf = (source: MetricSourceRecord, { code, reason }: ApiFailure): string =>
  (source.service && OF_THE_CLUSTER.has(reason) ? CLUSTER_FIX : undefined) ??
  BY_REASON[reason] ??
  (reason === "NotANumber" ? NOT_A_NUMBER[source.kind] : undefined) ??
  byStatus(source, code) ??
  "register the address of a server of this kind (docs/sources.md)";
