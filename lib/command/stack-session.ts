import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Caller, defaultCaller } from "../answers/remote/caller.ts";
import {
  findStack,
  type NamedStack,
  type StackUrl,
  stackUrl,
} from "../answers/remote/find-stack.ts";
import {
  requestExchange,
  requestSender,
  type SenderOptions,
} from "../answers/remote/send-request.ts";
import { remoteService } from "../answers/remote/service.ts";
import { shellWord } from "../stack/report/shell-word.ts";
import type { Session } from "./io.ts";

type CallerIn = (region: string, profile?: string) => Caller;

const senderTo = (stack: StackUrl, caller: Caller, clock: () => number): SenderOptions => ({
  ...{ stack, caller, clock },
  wait: async (ms) => wait(ms),
  random: Math.random,
});

/** Queries go to the URL that only reads, and edits to the one that edits. */
interface Wires {
  readonly GET: SenderOptions;
  readonly POST: SenderOptions;
}

/** The options with which another command works on the same stack. */
type StackOptions = Readonly<Record<"stack" | "region" | "profile" | "via", string | undefined>>;

const optionWords = (options: StackOptions): string =>
  Object.entries(options)
    .flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${shellWord(value)}`]))
    .join(" ");

/** A stack changes with its syncs, whose period is 15 seconds by default. */
const REFRESH_SECONDS = 15;

const sessionOf = (wires: Wires, place: string, options: StackOptions): Session => {
  const { clock, caller } = wires.GET;
  const senders = { GET: requestSender(wires.GET), POST: requestSender(wires.POST) };
  const exchanges = { GET: requestExchange(wires.GET), POST: requestExchange(wires.POST) };
  return {
    place,
    service: remoteService((request) => senders[request.method](request), randomUUID),
    // The clock of this machine, because signatures are refused when the clocks differ by more than
    // five minutes.
    nowMs: clock(),
    clock,
    dashboard: {
      // Loaded on demand: commands read answers, and pass none on.
      answerApi: async (request) =>
        (await import("../answers/remote/pass-on.ts")).passOn(exchanges, randomUUID)(request),
      caller: caller.name,
      clock,
      place,
      target: optionWords(options),
      refreshSeconds: REFRESH_SECONDS,
    },
    close: async () => {},
  };
};

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
  const wire = senderTo(stack, callerIn(stack.region, profile), clock);
  const options = { stack: url, region: undefined, profile, via: undefined };
  return sessionOf({ GET: wire, POST: wire }, `the stack at ${url}`, options);
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
  const wires = { GET: senderTo(view, caller, clock), POST: senderTo(api, caller, clock) };
  const { name, region, profile, via } = named;
  const options = { stack: name, region, profile, via };
  return sessionOf(wires, `stack ${name} in ${api.region}`, options);
};
