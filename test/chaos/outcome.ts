import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditedPut } from "./audit.ts";
import type { StoredEvent } from "./check.ts";
import type { FaultyProxy } from "./proxy.ts";
import type { Workers } from "./workers.ts";

/** What a run did, and what was found at its end. */
export interface ChaosOutcome {
  readonly workers: Pick<Workers, "done" | "failures">;
  readonly proxies: Readonly<Record<string, Pick<FaultyProxy, "done">>>;
  readonly objectEdits: number;
  readonly puts: readonly AuditedPut[];
  readonly stored: readonly StoredEvent[];
  /** A sentence for each breach. */
  readonly faults: readonly string[];
  readonly auditLog: string;
}

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

const countsOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([what, count]) => `${count} ${what}`).join(", ") || "none";

const countBy = <Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(items, nameOf)].map(([name, all]) => [name, all.length]));

/** Prints one line: how much of the time has passed, and what was done in it. */
export const printProgress = (
  elapsedMs: number,
  chaosMs: number,
  { done }: Pick<Workers, "done">,
): void => {
  const of = (what: string) => done.get(what) ?? 0;
  const minutes = (ms: number) => Math.round(ms / 60_000);
  const stopped = `${of("workers killed")} workers killed, ${of("workers stopped")} stopped`;
  print(
    `minute ${minutes(elapsedMs)} of ${minutes(chaosMs)}: ${of("syncs completed")} syncs completed, ${stopped}`,
  );
};

/** Prints what was done, and every breach. */
export const printOutcome = ({
  workers,
  proxies,
  objectEdits,
  puts,
  stored,
  faults,
  auditLog,
}: ChaosOutcome): void => {
  print(countsOf(workers.done));
  print(`edits of objects: ${objectEdits}`);
  for (const [name, { done }] of Object.entries(proxies))
    print(`requests to ${name}: ${countsOf(done)}`);
  for (const [why, count] of workers.failures) print(`  ${count} × ${why}`);
  print(`PUTs in the audit log: ${countsOf(countBy(puts, ({ status }) => `answered ${status}`))}`);
  print(`events: ${countsOf(countBy(stored, ({ outcome }) => outcome))}`);
  for (const fault of faults) print(`BREACH ${fault}`);
  if (faults.length > 0) print(`the audit log and the events are in ${keepRun(auditLog, stored)}`);
  print(
    faults.length === 0
      ? "every PUT has its event, every applied event its PUT, and no limit was exceeded"
      : `${faults.length} breaches`,
  );
};

/** Keeps what a breach is looked for in, and gives the folder. */
const keepRun = (auditLog: string, stored: readonly StoredEvent[]): string => {
  const folder = join("reports", "chaos");
  mkdirSync(folder, { recursive: true });
  copyFileSync(auditLog, join(folder, "audit.log"));
  writeFileSync(join(folder, "events.json"), JSON.stringify(stored));
  return folder;
};
