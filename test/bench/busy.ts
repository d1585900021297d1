import { cpus } from "node:os";

const busyMs = (): number =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);

/**
 * Watches how much of the machine other programs take; `ownMs` is the CPU that the measured ones
 * took meanwhile. Figures of a busy machine are too large.
 */
export const watchOthers = (): { readonly share: (ownMs: number) => number } => {
  const [busy, startedMs] = [busyMs(), performance.now()];
  return {
    share: (ownMs) =>
      Math.max(0, busyMs() - busy - ownMs) / ((performance.now() - startedMs) * cpus().length),
  };
};
