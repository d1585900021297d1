import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Io, Session } from "../../lib/command/io.ts";
import { answerByService } from "../../lib/dashboard/serve/answer-by-service.ts";
import { openTarget } from "../../lib/command/session.ts";
import { writeIdentity } from "../../lib/embedded/folder/identity.ts";
import { folderLayout, TABLE_NAMES } from "../../lib/embedded/layout.ts";
import { saveClock } from "../../lib/embedded/engine/clock.ts";
import { ensureTables, startTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/embedded/tables/tables-client.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { tableDefinitions } from "../../lib/stack/store/table/tables.ts";
import { NOON } from "../noon.ts";
import { serviceWorld, tablesOn } from "../service/world/context.ts";
import { fillShop } from "../service/world/shop.ts";

const TIDEMARK = join(import.meta.dirname, "../../bin/tidemark.js");

export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Folder {
  /** Data folder of a run that has ended; its clock stands at noon of the first of March. */
  readonly data: string;
  /** Writes a file beside it and gives its path. */
  readonly write: (name: string, content: string) => string;
  /** Runs the command in a process of its own; `--data` is added unless `bare`. */
  readonly tidemark: (
    args: readonly string[],
    more?: {
      readonly stdin?: string;
      readonly env?: Readonly<Record<string, string>>;
      readonly bare?: true;
    },
  ) => Promise<Said>;
  readonly remove: () => void;
}

/** The tables of a shop, filled once for all folders of this process. */
let filled: Promise<string> | undefined;

const filledTables = async (): Promise<string> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-shop-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  const engine = await startTables(dir);
  const client = tablesClient(engine.endpoint);
  await ensureTables(client, tableDefinitions(TABLE_NAMES));
  client.destroy();
  const tables = tablesOn(engine.endpoint);
  let nowMs = NOON;
  let uids = 0;
  const context = {
    tables,
    insert: insertByStatement(tables),
    clock: () => nowMs,
    by: "ada",
    newUid: () => `uid-${++uids}`,
  };
  await fillShop({
    context,
    set: (ms) => {
      nowMs = ms;
    },
  });
  await engine.close();
  return dir;
};

/** A data folder on disk with the two clusters of `fillShop`, as a run that has ended left it. */
export const shopFolder = async (): Promise<Folder> => {
  filled ??= filledTables();
  const folder = emptyFolder();
  const layout = folderLayout(folder.data);
  saveClock(layout, {
    kind: "virtual",
    nowMs: NOON,
    wallMs: Date.now(),
    speed: 60,
    untilMs: NOON + 15_000,
  });
  cpSync(await filled, layout.tables, { recursive: true });
  writeIdentity(layout, { kind: "simulated", seed: 1, startMs: NOON - 7_200_000, deployments: [] });
  return folder;
};

export const emptyFolder = (): Folder => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-cli-"));
  const data = join(dir, "data");
  mkdirSync(data);
  return {
    data,
    write: (name, content) => {
      const path = join(dir, name);
      writeFileSync(path, content);
      return path;
    },
    tidemark: (args, more = {}) => run(more.bare ? args : [...args, "--data", data], more),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
};

/** The shops in memory by the words that name them. */
const shops = new Map<string, (by: string) => Session>();

/** Opens what a command line names: a shop in memory of this process, or the real target. */
export const openHere: Io["open"] = async (target, by) =>
  (target.kind === "folder" && shops.get(target.dir)?.(by)) || openTarget(target, by);

/**
 * The same shop in memory, for commands of this process, which find it by `--data` as they find a
 * folder: opening a folder takes most commands longer than all that they do then.
 */
export const shopInMemory = async (): Promise<Folder> => {
  const { context, set } = await serviceWorld();
  await fillShop({ context, set });
  const folder = emptyFolder();
  const clock = (): number => NOON;
  const place = `folder ${folder.data}, no run is alive`;
  shops.set(folder.data, (by) => {
    const service = openService({ ...context, clock, by, newUid: randomUUID, ownAddresses: true });
    return {
      service,
      place,
      ended: true,
      nowMs: NOON,
      clock,
      endsInOrder: true,
      dashboard: {
        answerApi: answerByService({ ...context, service, clock, by }),
        caller: async () => by,
        ...{ clock, place, target: `--data ${folder.data}`, refreshSeconds: 2 },
      },
      close: async () => {},
    };
  });
  const remove = (): void => {
    shops.delete(folder.data);
    folder.remove();
  };
  return { ...folder, remove };
};

/** Without the line that says where the output was made; head.test.ts looks at it. */
export const withoutHead = ({ code, out, err }: Said): Said => ({
  code,
  out: out.replace(HEAD, ""),
  err: err.replace(HEAD, ""),
});
const HEAD = /^In (?:folder|stack|the stack) .*:\n/;

const run = async (
  args: readonly string[],
  {
    stdin = "",
    env = {},
  }: { readonly stdin?: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Said> => {
  const child = spawn(process.execPath, [TIDEMARK, ...args], { env: { ...process.env, ...env } });
  child.stdin.end(stdin);
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return withoutHead({ code, out, err });
};
