import { type Exchange, exchange } from "../lib/cluster/transport/exchange.ts";
import { type Signer, signedPost } from "./signed-post.ts";

/** The right that this call needs. A test compares the roles of the stack with it. */
export const INVOKE_RIGHT = "lambda:InvokeFunction";

export interface Invoker extends Signer {
  readonly functionName: string;
}

/** Calls a function once and waits for its answer. */
export const invokeFunction = async (
  invoker: Invoker,
  body: string,
  limits: { readonly timeoutMs: number; readonly maxBytes: number },
): Promise<Exchange> => {
  const path = `/2015-03-31/functions/${encodeURIComponent(invoker.functionName)}/invocations`;
  return exchange({ ...(await signedPost(invoker, { service: "lambda", path, contentType: "application/json", body })), ...limits });
};
