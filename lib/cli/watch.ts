import type { CommandIo } from "./io.ts";

const WATCH_EVERY_MS = 5_000;

/** Runs the work every five seconds, or as often as `everyMs` says, until Ctrl-C, or until it says that the reader of the output has gone. A failure ends it. */
export const watch = async (
  io: Pick<CommandIo, "interruptible" | "watchEveryMs">,
  work: (isFirst: boolean) => Promise<boolean>,
  everyMs: () => number = () => WATCH_EVERY_MS,
): Promise<void> => {
  const repeated = async (signal: AbortSignal): Promise<void> => {
    for (let isFirst = true; await work(isFirst); isFirst = false) if (await isAborted(signal, io.watchEveryMs ?? everyMs())) return;
  };
  await (io.interruptible ? io.interruptible(repeated) : repeated(new AbortController().signal));
};

/** Waits for the next time to print; true when Ctrl-C came first. */
const isAborted = (signal: AbortSignal, afterMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(true);
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(signal.aborted);
    };
    const timer = setTimeout(end, afterMs);
    signal.addEventListener("abort", end);
  });
