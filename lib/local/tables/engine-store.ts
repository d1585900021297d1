import { createRequire } from "node:module";
import type { Server } from "node:http";
import dynalite from "dynalite";

/** The LevelDB of an engine, as far as it is used here. */
export interface EngineStore {
  /** Rewrites what lies between two keys without what was overwritten or deleted. LevelDB does it in a thread of its own. Absent in memory. */
  compactRange?(from: string, to: string): Promise<void>;
}

interface EngineModule {
  create: (options: unknown) => { readonly db: EngineStore };
}

interface LevelClass {
  readonly prototype: Record<"keys" | "values", (this: unknown, ...args: unknown[]) => Closable>;
}

interface Closable {
  close: () => Promise<void>;
  return?: () => Promise<void>;
}

const requireOfEngine = createRequire(createRequire(import.meta.url).resolve("dynalite"));
const engine: EngineModule = requireOfEngine("./db/index.js");

/**
 * The engine ends the iterator of each Query and Scan by its method `return`, which iterators of this version of LevelDB's binding do not have, and so never ends one. An open iterator holds a
 * snapshot: nothing that was overwritten or deleted since is ever given free. A week of three autoscalers left 416 MB on the disk in place of 6, and each read some memory. So iterators get that method.
 */
const endsIterators = ({ prototype }: LevelClass): void => {
  for (const name of ["keys", "values"] as const) {
    const original = prototype[name];
    prototype[name] = function (...args) {
      const iterator = original.apply(this, args);
      iterator.return = () => iterator.close();
      return iterator;
    };
  }
};
endsIterators(requireOfEngine("level").Level);
endsIterators(requireOfEngine("memory-level").MemoryLevel);

/** An engine on a LevelDB folder, or in memory, and its store, which the engine keeps to itself. */
export const openEngine = (path: string | undefined): { readonly server: Server; readonly store: EngineStore } => {
  const { create } = engine;
  let store: EngineStore | undefined;
  engine.create = (options) => {
    const made = create(options);
    store = made.db;
    return made;
  };
  try {
    const server = dynalite({ ...(path !== undefined && { path }), createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
    if (!store) throw new TypeError("the embedded engine has opened no store");
    return { server, store };
  } finally {
    engine.create = create;
  }
};
