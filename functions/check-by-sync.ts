import { SignatureV4 } from "@smithy/signature-v4";
import { Sha256 } from "../lib/aws/sha256.ts";
import type { AwsCredentials } from "../lib/cluster/access/eks-token.ts";
import { type Exchange, exchange } from "../lib/cluster/transport/exchange.ts";
import { parseObject } from "../lib/cluster/transport/failure.ts";
import { awsDomain } from "../lib/model/eks.ts";
import { TidemarkError } from "../lib/model/errors.ts";
import { foreignWords } from "../lib/model/foreign-words.ts";
import type { ServiceContext } from "../lib/service/context.ts";
import { checkEvent, reportIn } from "./check-event.ts";

/** The right that this call needs. A test compares the roles of the stack with it. */
export const INVOKE_RIGHT = "lambda:InvokeFunction";

/** A check takes 30 s at most (lib/cluster/limits.ts), and the function lives no longer; a cold start comes before. */
const INVOKE_MS = 35_000;
const ANSWER_BYTES_MAX = 512 * 1024;

export interface CheckBySync {
  readonly functionName: string;
  readonly credentials: () => Promise<AwsCredentials>;
  readonly region: () => Promise<string>;
  readonly clock: () => number;
}

/** Has the function `sync` look at a cluster. Asked by one signed POST: the client of the SDK would add more to the bundle than all of this. Throws `service.busy` without an answer. */
export const checkBySync =
  (wire: CheckBySync): NonNullable<ServiceContext["checkConnection"]> =>
  async (target) => {
    const outcome = await exchange({ ...(await signedPost(wire, checkEvent(target))), timeoutMs: INVOKE_MS, maxBytes: ANSWER_BYTES_MAX });
    const report = outcome.kind === "answered" && outcome.status === 200 ? reportIn(parseObject(outcome.bytes)) : undefined;
    if (report) return report;
    throw new TidemarkError(
      "service.busy",
      `Cannot look at cluster "${target.name}": the function "${wire.functionName}" ${whyNot(outcome)}; try again`,
      {},
    );
  };

const signedPost = async ({ functionName, credentials, region, clock }: CheckBySync, body: string) => {
  const inRegion = await region();
  const { protocol, hostname, port } = lambdaUrl(inRegion);
  const path = `/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`;
  const signer = new SignatureV4({ service: "lambda", region: inRegion, credentials, sha256: Sha256 });
  const given = { host: port === "" ? hostname : `${hostname}:${port}`, "content-type": "application/json" };
  const { headers } = await signer.sign({ method: "POST", protocol, hostname, path, headers: given, body }, { signingDate: new Date(clock()) });
  return { secure: protocol === "https:", options: { method: "POST", hostname, path, headers, ...(port !== "" && { port }) }, body };
};

/** The endpoint of Lambda. The environment variables are those of the AWS SDK. */
const lambdaUrl = (region: string): URL =>
  new URL(process.env["AWS_ENDPOINT_URL_LAMBDA"] || process.env["AWS_ENDPOINT_URL"] || `https://lambda.${region}.${awsDomain(region)}`);

/** What the platform said. A failure inside the function is only named: its log has the rest, and a message could quote a secret. */
const whyNot = (outcome: Exchange): string => {
  if (outcome.kind === "broken") return `gave no answer within ${INVOKE_MS / 1000} s (${foreignWords(outcome.error.code ?? outcome.error.message)})`;
  const { status, headers, bytes } = outcome;
  if (headers["x-amz-function-error"] !== undefined) return "failed or ran out of time; its log says why";
  const { Message, message } = parseObject(bytes) ?? {};
  const words = foreignWords(String(Message ?? message ?? ""));
  if (status === 403) return `may not be called: ${words} (${INVOKE_RIGHT} is needed)`;
  return status === 429 ? "is busy with syncs (429)" : `was answered ${status}: ${words}`;
};
