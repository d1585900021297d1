/** Most decompressed bytes of one answer. One series has some 300; a query that gives many series is refused by its reader. */
export const MAX_SOURCE_BYTES = 256 * 1024;

/** Questions in flight: of one source in one sync, and of all sources. */
export const PARALLEL = { ofSource: 8, all: 32 } as const;
