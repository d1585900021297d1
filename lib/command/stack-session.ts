import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Caller, defaultCaller } from "../answers/remote/caller.ts";
import {
  findStack,
  type NamedStack,
  type StackUrl,
  stackUrl,
} from "../answers/remote/find-stack.ts";
import { requestSender, type SendRequest } from "../answers/remote/send-request.ts";
import { remoteService } from "../answers/remote/service.ts";
import type { Session } from "./io.ts";

type CallerIn = (region: string, profile?: string) => Caller;

const senderTo = (stack: StackUrl, caller: Caller, clock: () => number): SendRequest =>
  requestSender({ stack, caller, clock, wait: async (ms) => wait(ms), random: Math.random });

const sessionOf = (ask: SendRequest, place: string, clock: () => number): Session => ({
  place,
  service: remoteService(ask, randomUUID),
  // The clock of this machine, because signatures are refused when the clocks differ by more than
  // five minutes.
  nowMs: clock(),
  clock,
  close: async () => {},
});

/**
 * Opens a deployed stack as the caller that the AWS SDK finds. It sends no request. Throws a usage
 * error for a wrong URL.
 */
export const openStack = (
  {
    url,
    profile,
    from,
  }: { readonly url: string; readonly profile?: string; readonly from: string },
  callerIn: CallerIn = defaultCaller,
  clock: () => number = Date.now,
): Session => {
  const stack = stackUrl(url, from);
  return sessionOf(
    senderTo(stack, callerIn(stack.region, profile), clock),
    `the stack at ${url}`,
    clock,
  );
};

/**
 * Opens a deployed stack by its name. Queries go to the URL of `view`, which every policy for
 * people allows, and edits to the URL of `api`. Throws the errors of `findStack`.
 */
export const openNamedStack = async (
  named: NamedStack,
  callerIn: CallerIn = defaultCaller,
  clock: () => number = Date.now,
): Promise<Session> => {
  const { view, api } = await findStack(named);
  const caller = callerIn(api.region, named.profile);
  const senders = { GET: senderTo(view, caller, clock), POST: senderTo(api, caller, clock) };
  return sessionOf(
    (request) => senders[request.method](request),
    `stack ${named.name} in ${api.region}`,
    clock,
  );
};
