import type { Duplex } from "node:stream";

/** Time and connections of the calls to one cluster. */
export interface Surroundings {
  /** Calls back after a time. Returns what cancels the call. */
  readonly after: (ms: number, happen: () => void) => () => void;
  /** Opens a connection, which emits "connect" once it stands. Absent: a socket of this machine. */
  readonly connection?: () => Duplex;
}

/** Those of the machine that the process runs on. */
export const OF_THE_MACHINE: Surroundings = {
  after: (ms, happen) => {
    const timer = setTimeout(happen, ms);
    return () => clearTimeout(timer);
  },
};
