declare module "dynalite" {
  import type { Server } from "node:http";

  interface DynaliteOptions {
    readonly path?: string;
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
  }

  const dynalite: (options?: DynaliteOptions) => Server;
  export = dynalite;
}
