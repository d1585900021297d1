import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { TidemarkError } from "../../rules/model/errors.ts";
import { isObject } from "../../rules/model/json.ts";
import { type FolderLayout, DEFAULT_DATA_FOLDER, folderLayout } from "../layout.ts";
import {
  isMissing,
  isSystemError,
  readJsonIfThere,
  shapeOf,
  writeWhole,
} from "../host/whole-file.ts";

/** Where what a run serves answers, once it does. */
interface Endpoints {
  readonly tablesEndpoint?: string;
  readonly queueEndpoint?: string;
  /** Where scrapers find the series. */
  readonly seriesUrl?: string;
  /** Where the recorded queues are. */
  readonly sourceQueuesUrl?: string;
}

/**
 * A living process that uses the folder: the run, or a command that opened it while no run was
 * there.
 */
export interface Holder extends Endpoints {
  readonly pid: number;
  readonly identity: string;
  readonly role: "run" | "command";
  /** Wall time, for people. */
  readonly startedAt: string;
}

const ENDPOINTS = [
  "tablesEndpoint",
  "queueEndpoint",
  "seriesUrl",
  "sourceQueuesUrl",
] as const satisfies readonly (keyof Endpoints)[];

const isHolder = (value: unknown): value is Holder =>
  isObject(value) &&
  Number.isInteger(value["pid"]) &&
  (value["role"] === "run" || value["role"] === "command") &&
  [value["identity"], value["startedAt"]].every(isText) &&
  ENDPOINTS.every((name) => value[name] === undefined || isText(value[name]));

const isText = (value: unknown): value is string => typeof value === "string";

export interface HeldFolder {
  /** Tells other processes where tables, queue and series answer. */
  readonly publish: (endpoints: Endpoints) => void;
  readonly release: () => void;
}

/** Time between two checks of a process that waits for another. */
const LOOK_AGAIN_MS = 50;
/** Name of a lock file, and of its draft: the pid, a UUID, and of the draft the pid again. */
const LOCK_FILE = /^(\d+)-[0-9a-f-]{36}\.json(?:\.\d+\.draft)?$/;

/**
 * Locks the folder for this process. It waits up to `patienceMs` for commands that have the lock.
 * Throws `local.folder-in-use` when a run has it.
 *
 * Every process first writes a file of its own and then looks for other files. If two processes
 * start at once, the later look sees both files. So they never both continue: at worst both release
 * the folder and try again. No process takes over the file of another, so a stale file can be
 * removed.
 */
export const holdFolder = async (
  layout: FolderLayout,
  role: Holder["role"],
  patienceMs: number,
): Promise<HeldFolder> => {
  makeLocks(layout);
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const ownLock = writeOwnFile(layout, role);
    const other = othersAlive(layout, ownLock);
    if (!other) return ownLock;
    ownLock.release();
    // A run lasts for hours, so a process that waits for it would seem to hang. Commands end within
    // seconds.
    if (other.role === "run" || performance.now() > giveUpAt) throw inUse(layout, other);
    await wait(LOOK_AGAIN_MS + Math.random() * LOOK_AGAIN_MS);
  }
};

/** The living run of this folder, if there is one. Changes nothing. */
export const livingRun = (layout: FolderLayout): Holder | undefined =>
  livingHolders(layout).find((holder) => holder.role === "run");

/** Throws `local.folder-in-use` when a run is alive on the folder. Changes nothing. */
export const refuseLivingRun = (layout: FolderLayout): void => {
  const run = livingRun(layout);
  if (run) throw inUse(layout, run);
};

/** True when the folder `locks` holds nothing but lock files, or is not there. */
export const holdsOnlyLocks = (layout: FolderLayout): boolean =>
  entriesOf(layout).every((name) => LOCK_FILE.test(name));

/**
 * Not recursive: where no folder can be made, as in /proc, Node's recursive mkdir never returns.
 */
const makeLocks = (layout: FolderLayout): void => {
  try {
    mkdirSync(layout.locks, { mode: 0o700 });
  } catch (error) {
    if (!(isSystemError(error) && error.code === "EEXIST")) throw error;
  }
};

const writeOwnFile = (
  layout: FolderLayout,
  role: Holder["role"],
): HeldFolder & { readonly path: string } => {
  const path = join(layout.locks, `${process.pid}-${randomUUID()}.json`);
  const holder: Holder = {
    pid: process.pid,
    identity: processIdentity(process.pid) ?? "",
    role,
    startedAt: new Date().toISOString(),
  };
  writeWhole(path, JSON.stringify(holder));
  return {
    path,
    publish: (endpoints) => writeWhole(path, JSON.stringify({ ...holder, ...endpoints })),
    release: () => rmSync(path, { force: true }),
  };
};

/** Another process that uses the folder now. Files of dead processes are removed. */
const othersAlive = (
  layout: FolderLayout,
  ownLock: { readonly path: string },
): Holder | undefined => {
  const locks = locksOf(layout);
  for (const { path, holder, pid } of locks) {
    // A draft names no holder yet. A living process with its pid may be writing it now.
    if (!holder && processIdentity(pid) === undefined) rmSync(path, { force: true });
    else if (holder && !isAlive(holder)) rmSync(path, { force: true });
  }
  return locks.find(({ path, holder }) => holder && isAlive(holder) && path !== ownLock.path)
    ?.holder;
};

const livingHolders = (layout: FolderLayout): readonly Holder[] =>
  locksOf(layout).flatMap(({ holder }) => (holder && isAlive(holder) ? [holder] : []));

/** False when the process is dead, or when its pid belongs to another process by now. */
const isAlive = ({ pid, identity }: Holder): boolean => processIdentity(pid) === identity;

const locksOf = (
  layout: FolderLayout,
): readonly {
  readonly path: string;
  readonly pid: number;
  readonly holder: Holder | undefined;
}[] =>
  entriesOf(layout).flatMap((name) => {
    const pid = LOCK_FILE.exec(name)?.[1];
    if (pid === undefined) return [];
    const path = join(layout.locks, name);
    // A file that cannot be read may be of a newer version that lives: it is an error, so that
    // nothing goes on beside it.
    return [
      {
        path,
        pid: Number(pid),
        holder: name.endsWith(".json")
          ? readJsonIfThere(path, shapeOf(isHolder, "lock"))
          : undefined,
      },
    ];
  });

const entriesOf = (layout: FolderLayout): readonly string[] => {
  try {
    return readdirSync(layout.locks);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

const inUse = (layout: FolderLayout, { pid, role, startedAt }: Holder): TidemarkError =>
  new TidemarkError(
    "local.folder-in-use",
    `Cannot use "${layout.dir}": a ${role} with pid ${pid} has it since ${startedAt}${role === "command" ? "; try again when it has ended" : ""}`,
    { dir: layout.dir, pid, role, startedAt },
  );

/**
 * What tells a living process from every other that had or will have its pid: the instant it
 * started, in the words of the system. Nothing when it is dead or a zombie. A pid is not enough:
 * after a reboot, or in a container, another process soon has the same pid.
 */
export const processIdentity = (pid: number): string | undefined =>
  process.platform === "linux" ? fromProc(pid) : fromPs(pid);

const fromProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // proc(5): the name in parentheses may hold spaces; field 3, the state, follows it, and field
    // 22 is the start time in ticks since boot.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${rest[18]}`;
  } catch {
    // ENOENT or ESRCH: there is no such process.
    return undefined;
  }
};

/**
 * The words of ps depend on language and time zone, in which a run and a command beside it may
 * differ.
 */
const SAME_WORDS = { LC_ALL: "C", TZ: "UTC0" } as const;

const fromPs = (pid: number): string | undefined => {
  try {
    const words = ["-o", "state=", "-o", "lstart=", "-p", String(pid)];
    const printed = execFileSync("ps", words, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, ...SAME_WORDS },
    });
    const [state = "", ...started] = printed.trim().split(/\s+/);
    return state === "" || state.startsWith("Z") ? undefined : started.join(" ");
  } catch {
    // ps ends with 1 when no process has the pid.
    return undefined;
  }
};

/** The data folder of a command that names none, or those between which it cannot choose. */
export type FolderSearch =
  | { readonly kind: "one"; readonly dir: string }
  | {
      readonly kind: "several";
      readonly dirs: readonly string[];
      readonly alive: boolean;
      /** The folder whose files were written last. */
      readonly last: string;
    };

/**
 * Looks among `.tidemark` and the folders that runs make beside it (folder-name.ts): the one on
 * which a run is alive; else the only one there is. Where there are more it chooses none, because
 * an edit in the wrong one would scale something else.
 */
export const findFolder = (): FolderSearch => {
  const dirs = readdirSync(".").filter(isCandidate).toSorted();
  const alive = dirs.filter((dir) => livingRun(folderLayout(dir)) !== undefined);
  const choice = alive.length > 0 ? alive : dirs;
  return choice.length > 1
    ? { kind: "several", dirs: choice, alive: alive.length > 0, last: lastUsed(choice) }
    : { kind: "one", dir: choice[0] ?? DEFAULT_DATA_FOLDER };
};

const lastUsed = (dirs: readonly string[]): string =>
  dirs.reduce((last, dir) => (writtenMs(dir) > writtenMs(last) ? dir : last));

/** A run writes the file of its clock all the time; a folder of another kind has none. */
const writtenMs = (dir: string): number =>
  statSync(folderLayout(dir).clock, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** A folder that a command without --data may mean; undefined where there is none. */
export const defaultFolderThere = (): string | undefined => {
  const search = findFolder();
  if (search.kind === "several") return search.dirs[0];
  return isCandidate(search.dir) ? search.dir : undefined;
};

const isCandidate = (name: string): boolean =>
  (name === DEFAULT_DATA_FOLDER || name.startsWith(`${DEFAULT_DATA_FOLDER}-`)) &&
  statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
