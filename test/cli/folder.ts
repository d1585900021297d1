import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { writeIdentity } from "../../lib/local/folder/identity.ts";
import { folderLayout, TABLE_NAMES } from "../../lib/local/folder/layout.ts";
import { saveClock } from "../../lib/local/engine/clock.ts";
import { ensureTables, startTables } from "../../lib/local/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/local/tables/tables-client.ts";
import { insertByStatement } from "../../lib/store/history/item.ts";
import { tableDefinitions } from "../../lib/store/table/tables.ts";
import { NOON } from "../noon.ts";
import { tablesOn } from "../service/world/context.ts";
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
    more?: { readonly stdin?: string; readonly env?: Readonly<Record<string, string>>; readonly bare?: true },
  ) => Promise<Said>;
  readonly remove: () => void;
}

/** A data folder on disk with the two clusters of `fillShop`, as a run that has ended left it. */
export const shopFolder = async (): Promise<Folder> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-cli-"));
  const data = join(dir, "data");
  const layout = folderLayout(data);
  mkdirSync(data);
  saveClock(layout, { kind: "virtual", nowMs: NOON, wallMs: Date.now(), speed: 60, untilMs: NOON + 15_000 });
  const engine = await startTables(layout.tables);
  const client = tablesClient(engine.endpoint);
  await ensureTables(client, tableDefinitions(TABLE_NAMES));
  client.destroy();
  const tables = tablesOn(engine.endpoint);
  let nowMs = NOON;
  let uids = 0;
  const context = { tables, insert: insertByStatement(tables), clock: () => nowMs, by: "ada", newUid: () => `uid-${++uids}` };
  await fillShop({
    context,
    set: (ms) => {
      nowMs = ms;
    },
  });
  await engine.close();
  writeIdentity(layout, { kind: "simulated", seed: 1, startMs: NOON - 7_200_000, deployments: [] });
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

/** Without the line that says where the output was made; head.test.ts looks at it. */
export const withoutHead = ({ code, out, err }: Said): Said => ({ code, out: out.replace(HEAD, ""), err: err.replace(HEAD, "") });
const HEAD = /^In (?:folder|stack|the stack) .*:\n/;

const run = async (
  args: readonly string[],
  { stdin = "", env = {} }: { readonly stdin?: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Said> => {
  const child = spawn(process.execPath, [TIDEMARK, ...args], { env: { ...process.env, ...env } });
  child.stdin.end(stdin);
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return withoutHead({ code, out, err });
};
