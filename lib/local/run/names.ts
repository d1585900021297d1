/** Names of what the embedded run keeps; other rooms that open a data folder need those of the tables. */
export const TABLE_NAMES = { stateTable: "tidemark-state", historyTable: "tidemark-history" } as const;

export const SYNC_QUEUE = "sync";
export const DEAD_LETTERS = "sync-dead";

export const FUNCTION_NAMES = { schedule: "schedule", sync: "sync" } as const;
