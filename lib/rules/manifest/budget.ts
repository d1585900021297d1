import { manifestUnreadable, type SourcePosition } from "./errors.ts";

/** Bytes of one text. Its tree takes tens of times as much memory. */
export const MAX_TEXT_BYTES = 2 * 1024 * 1024;
/** Bytes of all texts of one step. A request to a deployed stack cannot be larger either. */
export const MAX_STEP_BYTES = 5_000_000;
/** Manifests of one step. Each one is a write of its own. */
export const MAX_MANIFESTS = 1_000;
/**
 * Limit of one manifest as JSON, because a change item holds two of them and an item of the table
 * has at most 400 KB.
 */
export const MAX_MANIFEST_BYTES = 128 * 1024;
/** Limit of nested Lists. */
export const MAX_LIST_DEPTH = 3;
/** YAML documents of one step, empty ones included. */
export const MAX_DOCUMENTS = 5_000;
/** YAML tokens. An ordinary text of 2 MiB has nine hundred thousand. */
export const MAX_LEXEMES = 1_000_000;
/** Keys, values, lists and objects; what an alias repeats is counted again. */
export const MAX_NODES = 500_000;
/** Nesting depth. A manifest with everything that a cluster adds has twelve. */
export const MAX_DEPTH = 100;
/** Aliases in one document. The parser also counts the aliases inside what they repeat. */
export const MAX_ALIASES = 100;
/**
 * Processor time for reading. The other limits keep every text far below it; this one covers their
 * gaps.
 */
export const MAX_CPU_MS = 20_000;

const LIMITS = {
  bytes: {
    most: MAX_STEP_BYTES,
    words: `the files of one step have more than ${MAX_STEP_BYTES} bytes`,
  },
  manifests: { most: MAX_MANIFESTS, words: `one step has more than ${MAX_MANIFESTS} manifests` },
  documents: {
    most: MAX_DOCUMENTS,
    words: `one step has more than ${MAX_DOCUMENTS} documents, empty ones included`,
  },
  lexemes: { most: MAX_LEXEMES, words: `one step has more than ${MAX_LEXEMES} YAML tokens` },
  nodes: {
    most: MAX_NODES,
    words: `one step has more than ${MAX_NODES} keys and values, counted with what aliases repeat`,
  },
} as const;

type Counted = keyof typeof LIMITS;

/**
 * The budget of one step, shared by all its texts, so that a thousand small files cost no more than
 * one large file.
 */
export interface Budget {
  /**
   * Counts an amount before the work on it begins. Throws `manifest.unreadable` above the limit.
   */
  readonly spend: (what: Counted, amount: number, at: SourcePosition) => void;
  /** Throws `manifest.unreadable` when the processor time is used up. */
  readonly checkTime: (at: SourcePosition) => void;
}

const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** What to do about a step that is too large. */
const DIVIDE = "apply it in several steps";

/** `divide`: what to do about a step that is too large, where it is not an apply. */
export const newBudget = (cpuMs: () => number = threadCpuMs, divide: string = DIVIDE): Budget => {
  const spent: Record<Counted, number> = {
    bytes: 0,
    manifests: 0,
    documents: 0,
    lexemes: 0,
    nodes: 0,
  };
  const untilMs = cpuMs() + MAX_CPU_MS;
  return {
    spend: (what, amount, at) => {
      spent[what] += amount;
      const { most, words } = LIMITS[what];
      if (spent[what] > most) throw manifestUnreadable(at, `${words}; ${divide}`);
    },
    checkTime: (at) => {
      if (cpuMs() > untilMs)
        throw manifestUnreadable(
          at,
          `reading it takes more than ${MAX_CPU_MS / 1000} s of processor time; ${divide}`,
        );
    },
  };
};
