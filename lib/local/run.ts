import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { TidemarkError } from "../model/errors.ts";
import { DEFAULT_TIMING } from "../sync/timing.ts";
import { closing } from "./closing.ts";
import { drive } from "./engine/drive.ts";
import { type FolderLayout, folderLayout } from "./folder-layout.ts";
import { holdFolder } from "./folder-lock.ts";
import { clearHalfBegun } from "./half-begun.ts";
import { openRun, type Run } from "./open-run.ts";
import type { RunOptions } from "./options.ts";
import { runSources } from "./run-sources.ts";
import { setupOf } from "./setup.ts";
import type { Terminal } from "./terminal.ts";
import { summaryLines } from "./view/summary.ts";
import type { View } from "./view/view.ts";
import { viewOf } from "./view/view-of.ts";

/** How long a run waits for a command that has the folder. */
const PATIENCE_MS = 10_000;
/** Between two looks at the tables for the view. */
const REFRESH_MS = 250;

/**
 * One run from start to summary. It ends when its virtual time is over or the signal aborts, finishing what was begun. Throws `local.folder-in-use`,
 * `local.folder-differs` and what manifests and traces may throw; everything that was opened is closed then too.
 */
export const run = async (options: RunOptions, terminal: Terminal, stop: AbortController): Promise<void> => {
  const layout = folderLayout(options.data);
  makeFolder(layout);
  const closer = closing();
  try {
    const held = await holdFolder(layout, "run", PATIENCE_MS);
    closer.add(held.release);
    clearHalfBegun(layout);
    const opened = await openRun(layout, setupOf(layout, options), options, closer);
    held.publish({ tablesEndpoint: opened.tables.endpoint, queueEndpoint: opened.queues.endpoint, seriesUrl: opened.series.url });
    closer.add(() => held.publish({}));
    await play(layout, opened, options, terminal, stop);
  } finally {
    await closer.closeAll();
  }
};

/** Keys lie in the folder: it is its owner's alone. */
const makeFolder = ({ dir }: FolderLayout): void => {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new TidemarkError("local.unwritable", `Cannot use "${dir}": ${cause instanceof Error ? cause.message : String(cause)}`, { dir }, { cause });
  }
};

const play = async (layout: FolderLayout, opened: Run, options: RunOptions, terminal: Terminal, stop: AbortController): Promise<void> => {
  const { clock, setup } = opened;
  const startMs = clock.now();
  const endMs = options.for === undefined ? undefined : startMs + options.for;
  const startedAt = performance.now();
  terminal.write(`${opened.greeting.join("\n")}\n`);
  const view = viewOf(terminal, opened, { startMs: setup.about.startMs, ...(endMs !== undefined && { endMs }) });
  const real = setup.about.kind === "kubeconfig";
  const { sources, close } = runSources(layout, opened, view, real ? DEFAULT_TIMING.lifeMs : undefined);
  try {
    const driven = drive({ sources, clock, endMs: endMs ?? Number.POSITIVE_INFINITY, signal: stop.signal, oneAtATime: !real });
    await watched(view, driven, stop);
  } finally {
    await close();
  }
  await view.end();
  const statistics = await scaledStatistics(opened);
  const summary = summaryLines({
    playedMs: clock.now() - startMs,
    wallMs: performance.now() - startedAt,
    events: opened.reader.seen(),
    tally: opened.counter.tally(),
    pace: clock.pace(),
    ...(statistics && { statistics }),
    deadLetters: opened.queues.dead.counts().visible,
  });
  terminal.write(`\n${summary.join("\n")}\n`);
};

/** Of the workloads that somebody scales; what the others cost is nobody's achievement. */
const scaledStatistics = async ({ world, reader }: Run) => {
  const targets = new Set((await reader.autoscalers()).map(({ namespace, target }) => `${namespace}/${target?.name}`));
  return world.statistics()?.filter(({ namespace, name }) => targets.has(`${namespace}/${name}`));
};

/** Refreshes the view until what is driven has ended; if either fails, the other stops. */
const watched = async (view: View, driven: Promise<void>, stop: AbortController): Promise<void> => {
  const ended = new AbortController();
  const refreshing = (async () => {
    try {
      while (!ended.signal.aborted) {
        await view.refresh();
        await sleep(REFRESH_MS, undefined, { signal: ended.signal }).catch(() => undefined);
      }
    } catch (error) {
      stop.abort();
      throw error;
    }
  })();
  try {
    await driven;
  } finally {
    ended.abort();
    await refreshing;
  }
};
