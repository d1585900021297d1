import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { TidemarkError } from "../model/errors.ts";
import type { FolderLayout } from "./folder-layout.ts";
import { processIdentity } from "./process-identity.ts";
import { readJsonIfThere, writeWhole } from "./whole-file.ts";

const holderSchema = z.object({
  pid: z.int(),
  identity: z.string(),
  role: z.enum(["run", "command"]),
  /** Wall time, for people. */
  startedAt: z.string(),
  /** Where the tables answer, once they do. */
  tablesEndpoint: z.string().optional(),
  queueEndpoint: z.string().optional(),
  /** Where scrapers find the series. */
  seriesUrl: z.string().optional(),
});

/** A living process that uses the folder: the run, or a command that opened it while no run was there. */
export type Holder = z.infer<typeof holderSchema>;

export interface HeldFolder {
  /** Tells other processes where tables, queue and series answer. */
  readonly publish: (endpoints: Pick<Holder, "tablesEndpoint" | "queueEndpoint" | "seriesUrl">) => void;
  readonly release: () => void;
}

/** How often a process that found somebody else looks again. */
const LOOK_AGAIN_MS = 50;

/**
 * Takes the folder for this process alone, waiting up to `patienceMs` for commands that have it now. Throws `local.folder-in-use` when a run has it.
 *
 * Every process first writes a file of its own and then looks for others. Of two that come at once, the later look therefore sees both files: never do both go on,
 * at worst both step back and try again. There is no takeover of a file that somebody else may be taking over too, so a stale file can simply be removed.
 */
export const holdFolder = async (layout: FolderLayout, role: Holder["role"], patienceMs: number): Promise<HeldFolder> => {
  mkdirSync(layout.locks, { recursive: true });
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const mine = writeOwnFile(layout, role);
    const other = livingHolders(layout).find((holder) => holder.path !== mine.path);
    if (!other) return mine;
    mine.release();
    // A run stays for hours: waiting for it would only look like a hang. Commands are gone in a moment.
    if (other.role === "run" || performance.now() > giveUpAt) throw inUse(layout, other);
    await wait(LOOK_AGAIN_MS + Math.random() * LOOK_AGAIN_MS);
  }
};

/** The run that lives on this folder now, if one does. Files of dead processes are removed on the way. */
export const livingRun = (layout: FolderLayout): Holder | undefined => livingHolders(layout).find((holder) => holder.role === "run");

const writeOwnFile = (layout: FolderLayout, role: Holder["role"]): HeldFolder & { readonly path: string } => {
  const path = join(layout.locks, `${process.pid}-${randomUUID()}.json`);
  const holder: Holder = { pid: process.pid, identity: processIdentity(process.pid) ?? "", role, startedAt: new Date().toISOString() };
  writeWhole(path, JSON.stringify(holder));
  return {
    path,
    publish: (endpoints) => writeWhole(path, JSON.stringify({ ...holder, ...endpoints })),
    release: () => rmSync(path, { force: true }),
  };
};

const livingHolders = (layout: FolderLayout): readonly (Holder & { readonly path: string })[] =>
  lockFiles(layout).flatMap((path) => {
    // A file that cannot be read may be of a newer version that lives: then nobody else goes on.
    const holder = readJsonIfThere(path, holderSchema);
    if (holder && processIdentity(holder.pid) === holder.identity) return [{ ...holder, path }];
    // Dead, or its pid belongs to another process by now. Its owner can never come back, so nobody can lose this file by our hand.
    rmSync(path, { force: true });
    return [];
  });

/** Looking leaves no trace: a folder that nobody has used is not made by asking about it. */
const lockFiles = (layout: FolderLayout): readonly string[] => {
  if (!existsSync(layout.locks)) return [];
  return readdirSync(layout.locks)
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(layout.locks, name));
};

const inUse = (layout: FolderLayout, { pid, role, startedAt }: Holder): TidemarkError =>
  new TidemarkError(
    "local.folder-in-use",
    `Cannot use "${layout.dir}": a ${role} with pid ${pid} has it since ${startedAt}${role === "command" ? "; try again when it has ended" : ""}`,
    { dir: layout.dir, pid, role, startedAt },
  );
