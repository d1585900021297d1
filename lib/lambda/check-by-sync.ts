import type { ConnectionReport } from "../stack/cluster/check/report.ts";
import { type Exchange, exchange } from "../stack/cluster/transport/exchange.ts";
import { decodeDocument } from "../stack/cluster/wire/decode-json.ts";
import { TidemarkError } from "../rules/model/errors.ts";
import { foreignText } from "../rules/model/foreign-text.ts";
import type { ServiceContext } from "../answers/service/context.ts";
import { checkEvent, reportIn } from "./check-event.ts";
import { type Signer, signed } from "./signed-request.ts";
import { sourceEvent } from "./source-event.ts";

/**
 * A check takes 30 s at most (lib/stack/cluster/request-limits.ts), and the function lives no
 * longer; a cold start comes before.
 */
const INVOKE_MS = 35_000;
const LIMITS = { timeoutMs: INVOKE_MS, maxBytes: 512 * 1024 };

/** The right that this call needs. A test compares the roles of the stack with it. */
const INVOKE_RIGHT = "lambda:InvokeFunction";

interface Invoker extends Signer {
  readonly functionName: string;
}

/** Calls a function once and waits for its answer. */
const invokeFunction = async (invoker: Invoker, body: string): Promise<Exchange> => {
  const path = `/2015-03-31/functions/${encodeURIComponent(invoker.functionName)}/invocations`;
  return exchange({
    ...(await signed(invoker, {
      service: "lambda",
      path,
      contentType: "application/json",
      body,
    })),
    ...LIMITS,
  });
};

/** Has the function `sync` look at a cluster. Throws `service.busy` without an answer. */
export const checkBySync =
  (sync: Invoker): NonNullable<ServiceContext["checkConnection"]> =>
  (target) =>
    reportOf(sync, checkEvent(target), `look at cluster "${target.name}"`);

/** Has the function `sync` ask a source. Throws `service.busy` without an answer. */
export const checkSourceBySync =
  (sync: Invoker): NonNullable<ServiceContext["checkSource"]> =>
  (target) =>
    reportOf(sync, sourceEvent(target), `ask source "${target.source.name}"`);

const reportOf = async (sync: Invoker, event: string, doing: string): Promise<ConnectionReport> => {
  const outcome = await invokeFunction(sync, event);
  const report =
    outcome.kind === "answered" && outcome.status === 200
      ? reportIn(decodeDocument(outcome.bytes))
      : undefined;
  if (report) return report;
  throw new TidemarkError(
    "service.busy",
    `Cannot ${doing}: the function "${sync.functionName}" ${whyNot(outcome)}; try again`,
    {},
  );
};

/**
 * What the platform said. A failure inside the function is only named: its log has the rest, and a
 * message could quote a secret.
 */
const whyNot = (outcome: Exchange): string => {
  if (outcome.kind === "broken")
    return `gave no answer within ${INVOKE_MS / 1000} s (${foreignText(outcome.error.code ?? outcome.error.message)})`;
  const { status, headers, bytes } = outcome;
  if (headers["x-amz-function-error"] !== undefined)
    return "failed or ran out of time; its log says why";
  const { Message, message } = decodeDocument(bytes) ?? {};
  const words = foreignText(String(Message ?? message ?? ""));
  if (status === 403) return `may not be called: ${words} (${INVOKE_RIGHT} is needed)`;
  return status === 429 ? "is busy with syncs (429)" : `was answered ${status}: ${words}`;
};
