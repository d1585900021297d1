/** Names of what the embedded run keeps; other rooms that open a data folder need the names of the tables. */
export const TABLE_NAMES = { stateTable: "tidemark-state", historyTable: "tidemark-history" } as const;

export const SYNC_QUEUE = "sync";
export const DEAD_LETTERS = "sync-dead";

export const FUNCTION_NAMES = { schedule: "schedule", sync: "sync" } as const;

/** Of the clusters that a run makes by itself, each has a server of its own in the process of the run. */
export const CLUSTERS_MAX = 200;
export const AUTOSCALERS_MAX = 10_000;
/** Autoscalers of a cluster where only the number of clusters is given. */
export const AUTOSCALERS_EACH = 100;

const MAX_LENGTH = 63;

/** A valid name of a cluster, made of any text: small letters, digits and dashes. */
export const labelOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, "") || "cluster";

/** A word as a person types it in a POSIX shell: quoted where it holds more than plain characters. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** What a person types to start a run: in the clone `npm start`, which runs the TypeScript; with the installed package its command. */
export const START_WORDS = import.meta.url.endsWith(".ts") ? "npm start --" : "npx tidemark start";
