import type { SyncReport } from "../../lib/stack/report/sync-report.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import type { Environments } from "./environments.ts";
import type { Invocation } from "./invocation.ts";
import { type Machine, WATCHDOG_MS } from "./machine.ts";
import type { Network, Process } from "./process.ts";
import type { QueuedMessage, SimulatedQueue } from "./queue.ts";
import type { Random } from "./random.ts";
import { newLooked } from "./rivals.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Story } from "./story.ts";
import { TEMPLATE } from "./template.ts";

/**
 * A standard queue may deliver a message at any time, also while it is hidden: a share of the
 * failed ones comes again as early as this.
 */
const EARLY = 1 / 2;
const EARLY_MS = 20_000;
const BUSY_RETRY_MS = 500;

export interface Platform {
  readonly deliver: (queued: QueuedMessage) => void;
  readonly played: Played;
  /** When a process was last ended because a sync outlived its life. */
  readonly lastEndMs: () => number;
}

/** How many syncs ended how. */
export interface Played {
  completed: number;
  dropped: number;
  failed: number;
  ended: number;
}

interface Begun {
  readonly invocation: Invocation;
  /** What the end of its process does to it. */
  readonly ended: () => void;
}

/**
 * Runs one sync per message in some environment, ends what outlives its life, and delivers again
 * what failed.
 */
export const newPlatform = (world: {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly story: Story;
  readonly random: Random;
  readonly environments: Environments;
  readonly queue: () => SimulatedQueue;
  readonly lifeMs: number;
  /** What ends a sync that outlives its life may stand still with it. */
  readonly machine?: Machine | undefined;
  readonly portsOf: (invocation: Invocation) => SyncPorts;
  /** False: a planted platform that lets a stalled process go on. */
  readonly endsStalled: boolean;
  /** Told of a programmer's mistake, which is never a fault of the world: it ends the seed. */
  readonly broke: (error: unknown, by: Invocation) => void;
}): Platform => {
  const { scheduler, story } = world;
  const played: Played = { completed: 0, dropped: 0, failed: 0, ended: 0 };
  let made = 0;
  const again = (queued: QueuedMessage): void => {
    if (queued.received >= TEMPLATE.receivesMax) return;
    world
      .queue()
      .redeliver(
        queued,
        world.random.chance(EARLY)
          ? EARLY_MS + world.random.int(0, EARLY_MS)
          : TEMPLATE.visibilityMs,
      );
  };
  const begun = (queued: QueuedMessage, process: Process): Begun => {
    const { message } = queued;
    const invocation: Invocation = {
      name: `sync-${++made}`,
      process,
      message,
      startMs: scheduler.nowMs(),
      over: false,
      epoch: undefined,
      loads: false,
      pagesRead: new Set(),
      claimedAt: 0,
      rivals: new Set(),
      looked: newLooked(),
      uids: new Map(),
      kinds: [],
      shown: new Map(),
      decided: new Map(),
    };
    process.endsMs = Math.min(
      process.busy > 0 ? process.endsMs : Number.POSITIVE_INFINITY,
      invocation.startMs + world.lifeMs,
    );
    process.busy++;
    const ended = (): void => {
      if (invocation.over) return;
      invocation.over = true;
      played.ended++;
      again(queued);
    };
    process.onEnd.add(ended);
    if (world.endsStalled)
      scheduler.at(invocation.startMs + world.lifeMs, () => endOfLife(invocation));
    return { invocation, ended };
  };
  let lastEndMs = 0;
  const endOfLife = (invocation: Invocation): void => {
    if (invocation.over) return;
    const stillUntilMs = world.machine?.stillUntilMs() ?? 0;
    if (stillUntilMs > scheduler.nowMs()) {
      scheduler.at(stillUntilMs + WATCHDOG_MS, () => endOfLife(invocation));
      return;
    }
    lastEndMs = scheduler.nowMs();
    world.network.end(invocation.process, `${invocation.name} outlived its life`);
  };
  const over = ({ invocation, ended }: Begun): void => {
    invocation.over = true;
    invocation.process.busy--;
    // A process lives on: it must not hold all that its earlier syncs saw.
    invocation.process.onEnd.delete(ended);
  };
  const told = (invocation: Invocation, report: SyncReport): void => {
    if (report.kind === "completed") played.completed++;
    else played.dropped++;
    story.tell(invocation.process.name, () => `${invocation.name} ${wordsOf(report)}`);
  };
  return {
    played,
    lastEndMs: () => lastEndMs,
    deliver: (queued) => {
      const process = world.environments.take();
      if (process.pausedUntilMs > scheduler.nowMs())
        return world.queue().redeliver(queued, BUSY_RETRY_MS);
      queued.received++;
      const started = begun(queued, process);
      const { invocation } = started;
      const { cluster, partition, dueMs } = queued.message;
      story.tell(
        process.name,
        () =>
          `${invocation.name} begins ${cluster}/${partition} due ${new Date(dueMs).toISOString().slice(14, 23)}`,
      );
      process.build.sync(world.portsOf(invocation), queued.message).then(
        (report) => {
          over(started);
          queued.deleted = true;
          told(invocation, report);
        },
        (error: unknown) => {
          over(started);
          played.failed++;
          story.tell(
            process.name,
            `${invocation.name} fails: ${error instanceof Error ? error.message : String(error)}`,
          );
          if (isMistake(error)) world.broke(error, invocation);
          again(queued);
        },
      );
      scheduler.resumed();
    },
  };
};

const isMistake = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;

const wordsOf = (report: SyncReport): string => {
  if (report.kind === "dropped") return `drops its message: ${report.why}`;
  const events = report.events
    .map(({ id, from, to, outcome }) => `${id} ${from} to ${to} ${outcome}`)
    .join(", ");
  return `completes epoch ${report.epoch}${events && `: ${events}`}${report.openIntents > 0 ? `, ${report.openIntents} open` : ""}`;
};
