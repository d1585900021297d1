import type { Build } from "./beside/build.ts";
import type { CoverageCount, PlacedCall } from "./coverage.ts";
import type { CallKind, Fate, Fates, Fault, Slow, Stall } from "./fates.ts";
import type { LateAnswers } from "./late-answers.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Story } from "./story.ts";
import type { WarmCache } from "../../lib/stack/sync/sync-ports.ts";

/**
 * A machine's process: a function environment, a container, or a person's command. It has a clock
 * of its own, may stand still, and may end at any instant.
 */
export interface Process {
  readonly name: string;
  /** Its clock is ahead by this much. */
  skewMs: number;
  pausedUntilMs: number;
  alive: boolean;
  /** By which its syncs work. */
  readonly build: Build;
  readonly cache: WarmCache;
  /** Syncs under way in it. */
  busy: number;
  /** Its clock steps though no sync is under way in it: of a person, or of the planner. */
  readonly steps?: true;
  /** When the platform ends it at the latest; a person's process is not ended. */
  endsMs: number;
  /** Called once when it ends before its work is done. */
  readonly onEnd: Set<() => void>;
}

/**
 * One call over a network. `execute` is what the other side does; `unclear` is what the caller gets
 * when no clear answer reaches it.
 */
export interface Call<Answer> {
  readonly kind: CallKind;
  /** What it is for, in the words of the coverage. */
  readonly name: string;
  readonly by?: PlacedCall["by"];
  readonly what: string;
  readonly execute: () => Answer;
  /**
   * Own patience of the caller, and how long after it the other side may still execute a late
   * request.
   */
  readonly timeoutMs: number;
  readonly lateMs: number;
  /** The caller ends its wait by a limit of its own, which the network does not know. */
  readonly waitsForAnswer?: true;
  /** What the caller gets in place of an answer: a value, or an error thrown. */
  readonly unclear: (fate: Fate) => Answer;
}

export interface Network {
  readonly call: <Answer>(caller: Process, call: Call<Answer>) => Promise<Answer>;
  readonly end: (process: Process, why: string) => void;
  readonly wait: (caller: Process, ms: number) => Promise<void>;
}

type Deliver = (process: Process, happen: () => void) => void;

/**
 * Carries calls between processes and the rest of the world, as the seed's fates say. Promises of a
 * process that ended are never resolved.
 */
export const newNetwork = (
  scheduler: Scheduler,
  fates: Fates,
  {
    story,
    note,
    late,
  }: {
    readonly story: Story;
    readonly note: CoverageCount["note"];
    readonly late?: LateAnswers | undefined;
  },
): Network => {
  const end = (process: Process, why: string): void => {
    if (!process.alive) return;
    process.alive = false;
    story.tell(process.name, `ends: ${why}`);
    for (const ended of process.onEnd) ended();
    process.onEnd.clear();
  };
  const deliver: Deliver = (process, happen) => {
    if (!process.alive) return;
    if (process.pausedUntilMs > scheduler.nowMs())
      scheduler.at(process.pausedUntilMs, () => deliver(process, happen));
    else happen();
  };
  const stalled = (process: Process, stall: Stall, what: string): void => {
    if (stall.kind === "crash") end(process, `crashed at ${what}`);
    const ms =
      stall.kind === "pause"
        ? stall.ms
        : stall.kind === "brink"
          ? process.endsMs - stall.leftMs - scheduler.nowMs()
          : 0;
    if (ms <= 0 || ms === Number.POSITIVE_INFINITY) return;
    process.pausedUntilMs = Math.max(process.pausedUntilMs, scheduler.nowMs() + ms);
    story.tell(process.name, `stands still for ${ms} ms at ${what}`);
  };
  const stepped = (process: Process, { skewMs }: Fate, what: string): void => {
    if (skewMs === undefined || (process.busy === 0 && !process.steps)) return;
    process.skewMs = skewMs;
    story.tell(process.name, `its clock is ${skewMs} ms ahead from ${what} on`);
  };
  const settleAt = <Answer>(
    caller: Process,
    ms: number,
    fate: Fate,
    what: string,
    answer: () => Answer,
    settle: Settle<Answer>,
  ): void =>
    scheduler.at(ms, () => {
      if (!caller.alive) return;
      stalled(caller, fate.after, `the answer to ${what}`);
      deliver(caller, () => {
        scheduler.resumed();
        settled(answer, settle);
      });
    });
  return {
    end,
    wait: (caller, ms) =>
      new Promise((resolve) =>
        scheduler.at(scheduler.nowMs() + ms, () =>
          deliver(caller, () => {
            scheduler.resumed();
            resolve();
          }),
        ),
      ),
    call: (caller, call) =>
      new Promise((resolve, reject) => {
        const drawn = fates.next(call.kind);
        const fate = { ...drawn, slow: late?.(caller, call, drawn) };
        note(call, fate);
        stepped(caller, fate, call.what);
        stalled(caller, fate.before, call.what);
        deliver(caller, () => travel(caller, call, fate, { resolve, reject }));
      }),
  };

  function travel<Answer>(
    caller: Process,
    call: Call<Answer>,
    fate: Fate,
    settle: Settle<Answer>,
  ): void {
    const sentMs = scheduler.nowMs();
    const { fault, outMs, backMs } = fate;
    const { what, execute } = call;
    if (fault !== "none") story.tell(caller.name, `${what}: ${fault}`);
    const unclearAt = (ms: number): void =>
      settleAt(caller, ms, fate, what, () => call.unclear(fate), settle);
    const answered = (answer: () => Answer): void =>
      settleAt(caller, scheduler.nowMs() + backMs, fate, what, answer, settle);
    const lateMs = sentMs + Math.floor(fate.lateness * call.lateMs);
    const silent = (): void => unclearAt(sentMs + call.timeoutMs);
    const unheard = (): void => {};
    const happen: Readonly<Record<Fault, () => void>> = {
      none: () => {
        if (fate.slow) slowly(caller, call, fate, fate.slow, settle);
        else executeAt(sentMs + outMs, execute, answered);
      },
      denied: () => unclearAt(sentMs + outMs + backMs),
      throttled: () => unclearAt(sentMs + outMs + backMs),
      "failed before": () => unclearAt(sentMs + outMs + backMs),
      copied: () => executeAt(sentMs + outMs, execute, () => unclearAt(scheduler.nowMs() + backMs)),
      "failed after": () =>
        executeAt(sentMs + outMs, execute, () => unclearAt(scheduler.nowMs() + backMs)),
      "lost request": silent,
      "lost answer": () => {
        executeAt(sentMs + outMs, execute, unheard);
        silent();
      },
      late: () => {
        executeAt(lateMs, execute, unheard);
        silent();
      },
      repeated: () => {
        executeAt(sentMs + outMs, execute, unheard);
        executeAt(sentMs + outMs + 1, execute, answered);
      },
      orphaned: () => {
        executeAt(lateMs, execute, unheard);
        end(caller, `crashed after ${what} was sent`);
      },
    };
    happen[fault]();
  }

  /** The request arrives late, and its answer later still; its caller may have given up, or be gone. */
  function slowly<Answer>(
    caller: Process,
    call: Call<Answer>,
    fate: Fate,
    slow: Slow,
    settle: Settle<Answer>,
  ): void {
    const { what } = call;
    const sentMs = scheduler.nowMs();
    const { arrivesMs, answeredMs, endMs } = slow;
    story.tell(caller.name, `${what}: arrives after ${arrivesMs} ms, answered at ${answeredMs} ms`);
    const silentFate: Fate = { ...fate, fault: "late" };
    const isHeard = call.waitsForAnswer || answeredMs < call.timeoutMs;
    executeAt(sentMs + arrivesMs, call.execute, (answer) => {
      if (isHeard) settleAt(caller, sentMs + answeredMs, fate, what, answer, settle);
    });
    if (!isHeard)
      settleAt(caller, sentMs + call.timeoutMs, fate, what, () => call.unclear(silentFate), settle);
    if (endMs !== undefined)
      scheduler.at(endMs, () => end(caller, "killed while requests are on their way"));
  }

  function executeAt<Answer>(
    ms: number,
    execute: () => Answer,
    then: (answer: () => Answer) => void,
  ): void {
    scheduler.at(ms, () => then(outcomeOf(execute)));
  }
};

interface Settle<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

const settled = <Answer>(answer: () => Answer, { resolve, reject }: Settle<Answer>): void => {
  try {
    resolve(answer());
  } catch (error) {
    reject(error);
  }
};

/** What the other side did, as a thunk that gives the answer or throws its refusal. */
const outcomeOf = <Answer>(execute: () => Answer): (() => Answer) => {
  try {
    const answer = execute();
    return () => answer;
  } catch (error) {
    return () => {
      throw error;
    };
  }
};
