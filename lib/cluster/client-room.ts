/** Room for clients where the memory is not known, and the least there is. */
export const CLIENTS_LEAST = 64;

/** Memory of one warm client with its connections, twice what `npm run bench -- clients` measures. */
const CLIENT_MIB = 0.5;

/** Memory of the process beside its clients: the peak of a sync of 1,000 autoscalers (`npm run bench -- cluster`). */
const BESIDE_MIB = 300;

/**
 * How many clients a function with this much memory keeps. An environment gets the messages of all clusters in turn, so with fewer clients than clusters each sync opens one: it reads a secret or asks EKS, and
 * makes a new TLS connection. Fails to few: a process without memory ends in the middle of a sync.
 */
export const clientRoom = (memoryMib: number): number =>
  Number.isFinite(memoryMib) ? Math.max(CLIENTS_LEAST, Math.floor((memoryMib - BESIDE_MIB) / CLIENT_MIB)) : CLIENTS_LEAST;
