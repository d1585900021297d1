import * as http from "node:http";
import * as https from "node:https";
import type { ServiceAnswer } from "../cluster/cluster-client.ts";
import {
  bareHost,
  foreignLookup,
  isOwnHost,
  isPrivateHost,
  OWN_ADDRESS,
  PRIVATE_ADDRESS,
  publicLookup,
} from "../cluster/reachable.ts";
import { type Broken, exchange } from "../cluster/transport/exchange.ts";
import { diagnosis } from "../cluster/transport/failure.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import type { ApiFailure } from "../../rules/model/observation.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";
import type { RegisteredRequest } from "../../rules/sources/source.ts";

/**
 * Most decompressed bytes of one answer. One series has some 300; a query that gives many series is
 * refused by its reader.
 */
export const MAX_SOURCE_BYTES = 256 * 1024;

/**
 * Requests to one source at once. One that takes longer than `SLOW_MS` gives its place to the
 * questions of other namespaces, up to `all`: fewer than the 20 that a Prometheus answers at once.
 */
export const QUESTIONS_PARALLEL = { quick: 8, all: 16 } as const;
export const SLOW_MS = 100;

/** After so many failed syncs in a row a source is asked in one sync of so many. */
const OPENS_AFTER = 3;
const ASKED_EVERY = 4;
/**
 * It is asked after this time too. An environment that syncs seldom would otherwise report a
 * missing metric for many minutes after the source has come back, and each such report begins a
 * stabilization anew.
 */
const ASKED_AFTER_MS = 60_000;

/**
 * Spares a source that does not answer, and the syncs that would wait for it. It lives as long as
 * its environment.
 */
export interface Circuit {
  /**
   * Begins the questions of one sync. Words for why nothing is asked in it; undefined where the
   * source is asked.
   */
  readonly begin: () => string | undefined;
  /** Ends them: the error of the source, where no question was answered because of it. */
  readonly end: (error: string | undefined) => void;
}

/** `clock`: wall clock in milliseconds. */
export const circuitOf = (clock: () => number): Circuit => {
  let failures = 0;
  let failedMs = 0;
  let last = "";
  let skipped = 0;
  return {
    begin: () => {
      if (failures < OPENS_AFTER || clock() - failedMs >= ASKED_AFTER_MS) return undefined;
      skipped = (skipped + 1) % ASKED_EVERY;
      return skipped === 0
        ? undefined
        : `is asked in one of ${ASKED_EVERY} syncs, or after ${ASKED_AFTER_MS / SECOND_MS} s, since it failed ${failures} times in a row; the last error: ${last}`;
    },
    end: (error) => {
      failures = error === undefined ? 0 : failures + 1;
      failedMs = clock();
      last = error ?? "";
      skipped = 0;
    },
  };
};

export interface DirectRequest {
  readonly url: string;
  /** True where the address may be in a private network, and where it may be asked without TLS. */
  readonly private: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM of the authority of the server's certificate, where it is none of the system's. */
  readonly ca: string | undefined;
  /** What the server sees of us, where it asks for a certificate. */
  readonly client?: ClientCertificate | undefined;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** A form that is sent by POST. Absent: a GET. */
  readonly form?: string;
  /** Gives the headers of the signed request, where the address asks for a signature. */
  readonly sign?: SignRequest;
}

/** The headers of a GET with its signature. */
export type SignRequest = (request: {
  readonly url: URL;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}) => Promise<Readonly<Record<string, string>>>;

/** A certificate and its key, in PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

type Limits = { readonly timeoutMs: number; readonly maxBytes: number };
/** A GET to a source, whichever way leads there. */
export type SendToSource = (request: RegisteredRequest, limits: Limits) => Promise<ServiceAnswer>;

export interface DirectSender {
  readonly send: (request: DirectRequest, limits: Limits) => Promise<ServiceAnswer>;
  readonly close: () => void;
}

/**
 * Sends one GET to the address of a source, or a form to its token server. It follows no redirect,
 * because only the address in the record was registered, and it checks each address after the name
 * was resolved. An error names a known cause and never the address: tenants read it.
 */
export const directSender = ({
  ownAddresses,
}: {
  readonly ownAddresses: boolean;
}): DirectSender => {
  const options = {
    keepAlive: true,
    maxSockets: QUESTIONS_PARALLEL.all,
    maxFreeSockets: QUESTIONS_PARALLEL.quick,
  };
  // Agents reuse connections by host and port, so that connections to private networks have agents
  // of their own.
  const agents = {
    plain: new http.Agent({ ...options, ...(!ownAddresses && { lookup: foreignLookup }) }),
    public: new https.Agent({ ...options, ...(!ownAddresses && { lookup: publicLookup }) }),
    private: new https.Agent({ ...options, ...(!ownAddresses && { lookup: foreignLookup }) }),
  };
  const agentFor = (url: URL, isPrivate: boolean): http.Agent =>
    url.protocol !== "https:" ? agents.plain : isPrivate ? agents.private : agents.public;
  return {
    send: async (request, limits) => {
      const url = URL.canParse(request.url) ? new URL(request.url) : undefined;
      if (url === undefined) return notAsked("its address is no URL");
      const why = refusedAddress(url, request.private, ownAddresses);
      if (why !== undefined) return notAsked(why);
      const outgoing = {
        secure: url.protocol === "https:",
        options: { agent: agentFor(url, request.private), ...(await optionsOf(url, request)) },
        ...(request.form !== undefined && { body: request.form }),
        ...limits,
      };
      const first = await exchange(outgoing);
      // A server closes idle connections while the process is frozen. Each may be sent again.
      const outcome =
        first.kind === "broken" && first.reused && first.because === "network"
          ? await exchange(outgoing)
          : first;
      return outcome.kind === "broken"
        ? { kind: "failed", failure: brokenSource(outcome, limits.timeoutMs) }
        : outcome;
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
};

const optionsOf = async (
  url: URL,
  { path: below, parameters, headers: given, ca, client, form, sign }: DirectRequest,
) => {
  const path = `${url.pathname.replace(/\/$/, "")}${below}`;
  const headers = {
    ...given,
    accept: "application/json",
    "user-agent": "tidemark",
    "accept-encoding": "gzip",
    ...(form !== undefined && {
      "content-type": "application/x-www-form-urlencoded",
      "content-length": String(Buffer.byteLength(form)),
    }),
  };
  return {
    method: form === undefined ? "GET" : "POST",
    hostname: bareHost(url.hostname),
    port: url.port || (url.protocol === "https:" ? 443 : 80),
    path: `${path}${queryText(parameters)}`,
    headers: sign ? await sign({ url, path, parameters, headers }) : headers,
    ...(ca !== undefined && { ca }),
    ...client,
  };
};

/** In the canonical form of a signature: a blank is %20, and not +. Any server reads it. */
export const queryText = (parameters: Readonly<Record<string, string>>): string => {
  const text = new URLSearchParams(parameters)
    .toString()
    .replaceAll("+", "%20")
    .replaceAll("*", "%2A");
  return text === "" ? "" : `?${text}`;
};

export const notAsked = (why: string): ServiceAnswer => ({
  kind: "failed",
  failure: { code: 0, reason: "AddressRefused", message: `the source cannot be asked: ${why}` },
});

const refusedAddress = (
  { protocol, hostname, username, password }: URL,
  isPrivate: boolean,
  ownAddresses: boolean,
): string | undefined => {
  if (username !== "" || password !== "") return "its URL has a user or a password";
  if (protocol !== "https:" && !(protocol === "http:" && (isPrivate || ownAddresses)))
    return "its URL must begin with https://, or with http:// where the source is private";
  if (ownAddresses) return undefined;
  if (isOwnHost(hostname))
    return "its address is one of this machine, of its network link or of a metadata service";
  return isPrivateHost(hostname) && !isPrivate ? PRIVATE_WORDS : undefined;
};

export const PRIVATE_WORDS =
  "its address is in a private network, and the source does not say private";

export const brokenSource = (broken: Broken, timeoutMs: number): ApiFailure => {
  const { reason } = diagnosis(broken, timeoutMs);
  return {
    code: 0,
    reason,
    message: `the source cannot be asked: ${wordsOf(broken, reason, timeoutMs)}`,
  };
};

const WORDS: Readonly<Record<string, string>> = {
  TlsVerificationFailed:
    "its certificate is not signed by a known authority, or not made for its address",
  ConnectionRefused: "nothing listens at its address",
  UnknownHost: "its name does not resolve",
  Unreachable: "no route leads to it",
  ConnectionReset: "the connection broke before the answer was complete",
};

/**
 * The text of the library may name the address, so that only known words are used, and the code of
 * the error.
 */
const wordsOf = (broken: Broken, reason: string, timeoutMs: number): string => {
  if (isTidemarkError(broken.error, OWN_ADDRESS))
    return "its name resolves to an address of this machine, of its network link or of a metadata service";
  if (isTidemarkError(broken.error, PRIVATE_ADDRESS)) return PRIVATE_WORDS;
  if (broken.because !== "network") return diagnosis(broken, timeoutMs).state;
  const { code } = broken.error;
  return `${WORDS[reason] ?? "the connection failed"}${code === undefined ? "" : ` (${code})`}`;
};
