import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Caller, defaultCaller } from "../remote/caller.ts";
import { requestSender } from "../remote/send-request.ts";
import { remoteService } from "../remote/service.ts";
import { stackUrl } from "../remote/stack-url.ts";
import type { Session } from "./io.ts";

/** Opens a deployed stack as the caller that the AWS SDK finds. It sends no request. Throws a usage error for a wrong URL. */
export const openStack = (
  { url, from }: { readonly url: string; readonly from: string },
  callerIn: (region: string) => Caller = defaultCaller,
  clock: () => number = Date.now,
): Session => {
  const stack = stackUrl(url, from);
  const ask = requestSender({ stack, caller: callerIn(stack.region), clock, wait: async (ms) => wait(ms), random: Math.random });
  return {
    service: remoteService(ask, randomUUID),
    // The clock of this machine, because signatures are refused when the clocks differ by more than five minutes.
    nowMs: clock(),
    close: async () => {},
  };
};
