import {
  type FunctionPlace,
  functionPlace,
  SIGNATURE_LIVES_MS,
  type SignedCall,
  signedAtMs,
  signedCall,
  signedFor,
  STS_QUERY,
} from "../answers/api/signed-call.ts";
import { KEY_HEADER } from "../answers/api/paths.ts";
import { refusal, type VerifiedRequest } from "../answers/api/request-and-answer.ts";
import { foreignText } from "../rules/model/foreign-text.ts";
import { type Exchange, exchange } from "../stack/cluster/transport/exchange.ts";

/** What the platform says of an invocation. The caller cannot write it. */
export interface Invocation {
  readonly invokedFunctionArn: string;
  readonly awsRequestId: string;
}

const no = (why: string, status = 403): Error =>
  refusal("api.no-identity", `Cannot answer: ${why}`, { status });

/** An event that is no signed call has nothing that may be read. */
const EMPTY = { method: "GET", path: "", query: "", headers: {}, body: Buffer.alloc(0) } as const;

/**
 * The request of a signed call, with the caller that STS names, or with the reason why there is
 * none. On doubt there is no caller.
 */
export const invokedRequest = async (
  event: unknown,
  { invokedFunctionArn, awsRequestId: id }: Invocation,
  clock: () => number,
): Promise<VerifiedRequest> => {
  const place = functionPlace(invokedFunctionArn);
  const read = signedCall.safeParse(event);
  if (!read.success || !place)
    return {
      ...{ ...EMPTY, id },
      unproven: no(
        "this stack is called by lambda:Invoke with a signed call; use the command, with --via invoke (docs/security.md)",
      ),
    };
  const { request, proof } = read.data;
  const whole = {
    ...request,
    // Whoever sees a signed call can send it once more while its signature is good. An edit without
    // a key has its signature as one, so that it is made once.
    headers: { [KEY_HEADER]: proof.signature, ...request.headers },
    body: Buffer.from(request.body),
    id,
  };
  try {
    return { ...whole, by: await callerOf(place, read.data, clock()) };
  } catch (error) {
    return { ...whole, unproven: error instanceof Error ? error : no("the caller is not known") };
  }
};

/** The ARN of the signer. Throws `api.no-identity`. */
const callerOf = async (place: FunctionPlace, call: SignedCall, nowMs: number): Promise<string> => {
  const apartMs = Math.abs(signedAtMs(call.proof.date) - nowMs);
  // Also where there is no such time.
  if (!(apartMs <= SIGNATURE_LIVES_MS))
    throw no(
      `the signature is of ${call.proof.date}, and is good for ${SIGNATURE_LIVES_MS / 60_000} minutes around ${new Date(nowMs).toISOString()}; set the clock of the caller`,
    );
  const arn = arnIn(await askSts(place, call));
  const [, partition, , , account] = arn.split(":");
  if (account !== place.account || !place.arn.startsWith(`arn:${partition}:`))
    throw no(
      `the signature is of another account of AWS, and this stack is in ${place.account}; take a role of that account`,
    );
  return arn;
};

/** The answer takes some 100 ms. A function that answers people lives for a minute. */
const STS = { timeoutMs: 3_000, maxBytes: 64 * 1024 };
const ATTEMPTS = 2;

/**
 * Everything but the four parts of the proof is made here. The environment variables have the names
 * of the SDK's; the host that is signed stays the one of STS.
 */
const askSts = async (place: FunctionPlace, { request, proof }: SignedCall): Promise<Exchange> => {
  const { hostname, headers } = signedFor(place, request);
  const { accessKeyId, date, sessionToken, signature } = proof;
  const sent = {
    ...headers,
    "x-amz-date": date,
    ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
  };
  const scope = `${accessKeyId}/${date.slice(0, 8)}/${place.region}/sts/aws4_request`;
  const names = Object.keys(sent).toSorted().join(";");
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${names}, Signature=${signature}`;
  const {
    protocol,
    hostname: to,
    port,
  } = new URL(
    process.env["AWS_ENDPOINT_URL_STS"] || process.env["AWS_ENDPOINT_URL"] || `https://${hostname}`,
  );
  const options = {
    method: "GET",
    hostname: to,
    ...(port !== "" && { port }),
    path: `/?${new URLSearchParams(STS_QUERY)}`,
    headers: { ...sent, authorization },
  };
  for (let attempt = 1; ; attempt++) {
    const outcome = await exchange({ secure: protocol === "https:", options, ...STS });
    if (attempt === ATTEMPTS || !isPassing(outcome)) return outcome;
  }
};

const isPassing = (outcome: Exchange): boolean =>
  outcome.kind === "broken" || outcome.status === 429 || outcome.status >= 500;

/** The answer is XML, and the ARN of a caller has none of its signs. */
const ARN = /<Arn>(arn:[!-%'-;=?-~]+)<\/Arn>/g;
const CODE = /<Code>([A-Za-z]{1,64})<\/Code>/;
const UNAVAILABLE = 503;

const arnIn = (outcome: Exchange): string => {
  if (outcome.kind === "broken" || isPassing(outcome)) {
    const why =
      outcome.kind === "broken" ? (outcome.error.code ?? outcome.error.message) : outcome.status;
    throw no(
      `STS did not say whose the signature is (${foreignText(String(why))}); try again`,
      UNAVAILABLE,
    );
  }
  const text = outcome.bytes.toString("utf8");
  const [arn, ...more] = [...text.matchAll(ARN)].map(([, found = ""]) => found);
  if (outcome.status === 200 && arn !== undefined && more.length === 0) return arn;
  throw no(
    `AWS does not accept the signature (${CODE.exec(text)?.[1] ?? outcome.status}): it must be of this request, for this function, of credentials that are valid now`,
  );
};
