import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { controlPlaneBinaries } from "../../control-plane/binaries.ts";
import { TABLES } from "../alarm-stack.ts";
import type { DeployedFleet } from "../day.ts";
import { cloneAsOperator } from "../emulator/checkout.ts";
import { deployedFleet } from "../emulator/deployed.ts";
import { startEmulator } from "../emulator/emulator.ts";
import { runBlock, runbookBlocks } from "../emulator/runbooks.ts";
import { packageStack } from "../packaged.ts";
import { billRows, billTable } from "./bill.ts";
import { AT_MAX, FAULT_MINUTES, type Fault, faultsOf } from "./faults.ts";
import { type Fleet, openFleet } from "./fleet.ts";
import { type GitFolder, LABEL, makeGitFolder, NAMES, REAL } from "./git.ts";
import type { Said } from "./people.ts";
import { type RealCluster, startRealCluster } from "./real-cluster.ts";

/**
 * `npm run prove -- forty`: the first weeks of a platform team with forty clusters, from an empty
 * account. The stack is deployed by the block of the runbook into an emulator of AWS; forty
 * clusters are connected from one folder, two of them real control planes; then they are changed,
 * pruned and exported; an hour of faults comes and goes, of which each is reported once with its
 * name; and at the end `tidemark cost` is held against what the account counted. `--here` leaves
 * the emulator out and plays what is packaged here, and `--calm` the faults. Ends with 1 where
 * something differs.
 */
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const began = performance.now();
const step = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
  say(`\n${name}`);
  const startedMs = performance.now();
  const result = await work();
  const seconds = (ms: number): string => (ms / 1_000).toFixed(0);
  say(
    `  done in ${seconds(performance.now() - startedMs)} s, ${seconds(performance.now() - began)} s in all`,
  );
  return result;
};

/** Of the 100m that a pod of a real cluster asks for, at a target of 60 %. */
const [CALM_MILLI, RISEN_MILLI] = [55, 90];
/** Longer than the clock of the fleet is moved ahead. */
const TOKEN_HOURS = 48;
const SETTLE_MINUTES = 3;
const QUIET_MINUTES = 17;
/** The faults of an hour ago count no more then. */
const CALM_MINUTES = 62;

type Deployed = DeployedFleet & { readonly done: () => Promise<void> };

const TOPIC = "arn:aws:sns:eu-central-1:123456789012:ops";
const PARAMETERS =
  "stage: prod\nregion: eu-central-1\nparameters:\n  alarmAddress: ops@example.com\n";

/** By the runbook, in an account that has nothing. */
const deployedInEmulator = async (): Promise<Deployed> => {
  const emulator = await startEmulator(say);
  const checkout = await cloneAsOperator();
  const home = join(checkout.folder, "home");
  await mkdir(home);
  await writeFile(join(checkout.folder, "prod.yaml"), PARAMETERS);
  const shell = {
    folder: checkout.folder,
    environment: {
      ...emulator.environment,
      ...{ HOME: home, PATH: [join(process.execPath, ".."), process.env["PATH"] ?? ""].join(":") },
      ...{ PROGRAMS: emulator.programs, earlier: checkout.earlier },
      ...{ SLS_TELEMETRY_DISABLED: "1", SLS_NOTIFICATIONS_MODE: "off" },
      npm_config_update_notifier: "false",
    },
  };
  await runBlock(shell, runbookBlocks().get("Install in a new account") ?? "");
  const fleet = await deployedFleet(shell);
  // What people and functions ask from here on goes to tables that charge as DynamoDB does.
  await emulator.stop();
  return { ...fleet, done: checkout.done };
};

const packagedHere = async (): Promise<Deployed> => {
  const stack = await packageStack();
  return { stack, tables: TABLES, parameters: { AlarmTopicArn: TOPIC }, done: stack.done };
};

const good = ({ code, out, err }: Said, wanted = 0): string => {
  equal(code, wanted, `the command ended with ${code}:\n${out}${err}`);
  return out;
};
const linesOf = (out: string, ending: string): number =>
  out.split("\n").filter((line) => line.endsWith(ending)).length;

/** The forty from one folder: looked at, connected, found unchanged. */
const connectAll = async ({ cli }: Fleet, git: GitFolder): Promise<void> => {
  const dry = good(await cli("apply", "-f", git.clusters, "--dry-run"));
  equal(linesOf(dry, "created (dry run)"), NAMES.length, dry);
  const { items } = JSON.parse(good(await cli("cluster", "list", "-o", "json")));
  deepEqual(items, [], "a dry run stores nothing");
  const differs = good(await cli("diff", "-f", git.clusters), 1);
  ok(differs.includes(`applied/cluster/${REAL.byAccount}`), differs);
  const made = good(await cli("apply", "-f", git.clusters));
  equal(linesOf(made, "created"), NAMES.length, made);
  equal(linesOf(good(await cli("apply", "-f", git.clusters)), "unchanged"), NAMES.length);
  equal(good(await cli("diff", "-f", git.clusters)), "");
  for (const name of NAMES)
    good(await cli("apply", "-f", git.autoscalersOf(name), "--cluster", name));
  say(`  ${NAMES.length} clusters: dry run, diff, apply, unchanged; their autoscalers`);
};

/** A change, a prune and an export by the folder. */
const changeAll = async ({ cli }: Fleet, git: GitFolder, folder: string): Promise<void> => {
  await git.putCluster("c-20", { syncPeriodSeconds: 30, settings: { tolerance: 0.2 } });
  const differs = good(await cli("diff", "-f", git.clusters), 1);
  ok(
    differs.includes("+    tolerance: 0.2") && differs.includes("+  syncPeriodSeconds: 30"),
    differs,
  );
  const prune = ["apply", "-f", git.clusters, "--prune", "-l", LABEL] as const;
  equal(linesOf(good(await cli(...prune)), "configured"), 1);
  await git.removeCluster("c-21");
  const refused = await cli(...prune);
  equal(refused.code, 1, "a cluster that has autoscalers is not pruned");
  good(await cli("delete", "-f", git.autoscalersOf("c-21"), "--cluster", "c-21"));
  ok(good(await cli(...prune, "--dry-run")).includes('"c-21" pruned (dry run)'));
  ok(good(await cli(...prune)).includes('"c-21" pruned'));
  await git.putCluster("c-21");
  ok(good(await cli(...prune)).includes('"c-21" created'));
  good(await cli("apply", "-f", git.autoscalersOf("c-21"), "--cluster", "c-21"));
  const exported = good(await cli("cluster", "export"));
  const file = join(folder, "exported.yaml");
  await writeFile(file, exported);
  equal(linesOf(good(await cli("apply", "-f", file)), "unchanged"), NAMES.length);
  say("  one changed, one pruned and connected again; an export is found unchanged");
};

const play = async (fleet: Fleet, minutes: number): Promise<readonly string[]> => {
  const fired: string[] = [];
  for (let minute = 0; minute < minutes; minute++) fired.push(...(await fleet.playMinute()));
  return fired;
};

/** The clusters that a message to people names. */
const namedIn = ({ Message = "" }: Readonly<Record<string, string>>): ReadonlySet<string> =>
  new Set(Message.match(/\bc-\d\d\b/g) ?? []);

/** The minute in which each cluster is named. Throws where one is named a second time. */
const namedOnce = async (
  fleet: Fleet,
  minute: number,
  rows: Map<string, number>,
): Promise<void> => {
  const told = fleet.published().length;
  for (const alarm of await fleet.playMinute()) say(`  minute ${minute}: ${alarm}`);
  for (const message of fleet.published().slice(told))
    for (const name of namedIn(message)) {
      const again = `"${name}" is reported again in minute ${minute}: ${message["Message"]}`;
      ok(!rows.has(name), again);
      rows.set(name, minute);
    }
};

/** The faults, all of them at once; then every message is looked at. */
const playFaults = async (fleet: Fleet, faults: readonly Fault[]): Promise<readonly string[]> => {
  const before = fleet.published().length;
  const rows = new Map<string, number>();
  for (let minute = 0; minute < FAULT_MINUTES; minute++) {
    for (const fault of faults) await fault.minute(minute);
    await namedOnce(fleet, minute, rows);
    if (minute !== FAULT_MINUTES / 2) continue;
    const status = await fleet.cli("status");
    equal(status.code, 1, `people are woken, and status says healthy:\n${status.out}`);
    ok(status.out.includes("c-12"), status.out);
  }
  for (const { end } of faults) await end?.();
  const messages = fleet.published().slice(before);
  const table = faults.map(({ cluster, what, says }) => {
    const minute = rows.get(cluster);
    const message = messages.find((one) => namedIn(one).has(cluster))?.["Message"] ?? "";
    const said = says.find((words) => message.includes(words));
    if (says.length === 0) equal(message, "", `"${cluster}" is reported: ${what}`);
    else ok(said, `"${cluster}" (${what}): ${message || "no message"}`);
    rows.delete(cluster);
    return `| ${what} | \`${cluster}\` | ${said === undefined ? "silent" : `minute ${minute}: ${said}`} |`;
  });
  deepEqual([...rows], [], "no cluster without a fault is named");
  return table;
};

/** Counts of the account that are no part of the time that is billed. */
const logFrom = (fleet: Fleet) => {
  const begins = {
    atMs: fleet.clock(),
    counted: { ...fleet.counted },
    sends: fleet.sends(),
    logBytes: fleet.logBytes(),
    calls: fleet.invocations(),
  };
  return () => ({
    seconds: (fleet.clock() - begins.atMs) / 1_000,
    writeUnits: fleet.counted.writeUnits - begins.counted.writeUnits,
    readUnits: fleet.counted.readUnits - begins.counted.readUnits,
    sends: fleet.sends() - begins.sends,
    logBytes: fleet.logBytes() - begins.logBytes,
    schedules: fleet.invocations().schedule - begins.calls.schedule,
    syncs: fleet.invocations().sync - begins.calls.sync,
  });
};

const silent = async (fleet: Fleet, minutes: number, what: string): Promise<void> => {
  const told = fleet.published().length;
  deepEqual(await play(fleet, minutes), []);
  equal(fleet.published().length, told);
  say(`  ${minutes} minutes ${what}: no alarm, no message`);
};

/** An hour of faults, and the rows of what was reported of them. */
const faultsOfHour = async (
  fleet: Fleet,
  git: GitFolder,
  real: Readonly<Record<keyof typeof REAL, RealCluster>>,
): Promise<readonly string[]> => {
  const faults = faultsOf(fleet, real);
  const table = await step(
    `${faults.length} faults at once, ${FAULT_MINUTES} minutes`,
    async () => {
      await git.putAutoscalers(AT_MAX.cluster, 2);
      await git.putAutoscalers("c-13", 2);
      for (const name of [AT_MAX.cluster, "c-13"])
        good(await fleet.cli("apply", "-f", git.autoscalersOf(name), "--cluster", name));
      await silent(fleet, 6, "with a lower maximum");
      await faults.find(({ cluster }) => cluster === "c-13")?.minute(0);
      await git.putAutoscalers("c-13", 10);
      good(await fleet.cli("apply", "-f", git.autoscalersOf("c-13"), "--cluster", "c-13"));
      return playFaults(fleet, faults);
    },
  );
  await git.putAutoscalers(AT_MAX.cluster);
  good(
    await fleet.cli("apply", "-f", git.autoscalersOf(AT_MAX.cluster), "--cluster", AT_MAX.cluster),
  );
  return table;
};

const walk = async (
  deployed: Deployed,
  binaries: string,
  { folder, withFaults }: { readonly folder: string; readonly withFaults: boolean },
): Promise<void> => {
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const git = await makeGitFolder(join(folder, "git"));
    const { fleet, real } = await step("The clusters begin", async () => {
      const opened = await openFleet(deployed, folder);
      closing.push(opened.close);
      const roles = good(
        await opened.cli("cluster", "rbac", "--service-account", "tidemark/tidemark"),
      );
      const begin = async (name: string, hours?: number): Promise<RealCluster> => {
        const cluster = await startRealCluster(
          binaries,
          join(folder, name),
          hours === undefined ? undefined : { roles, hours },
        );
        closing.push(cluster.close);
        cluster.adapter.cpuMilli = CALM_MILLI;
        opened.addSecret(name, cluster.kubeconfig);
        return cluster;
      };
      const byToken = await begin(REAL.byToken);
      const byAccount = await begin(REAL.byAccount, TOKEN_HOURS);
      return { fleet: opened, real: { byToken, byAccount } };
    });
    await step("Forty clusters from one folder", () => connectAll(fleet, git));
    const log = logFrom(fleet);
    await step("A healthy fleet", async () => {
      // Alarms look back; before the first minute nothing was planned.
      await play(fleet, SETTLE_MINUTES);
      await silent(fleet, QUIET_MINUTES, "after the first three");
      for (const [kind, cluster] of Object.entries(real)) {
        equal(await cluster.replicas(), 1, kind);
        cluster.adapter.cpuMilli = RISEN_MILLI;
      }
      await play(fleet, 2);
      for (const [kind, cluster] of Object.entries(real)) {
        equal(await cluster.replicas(), 2, `${kind}: its load has risen`);
        cluster.adapter.cpuMilli = CALM_MILLI;
      }
      say("  both real API servers have a pod more after their load has risen");
    });
    await step("The folder changes", () => changeAll(fleet, git, folder));
    const table = withFaults ? await faultsOfHour(fleet, git, real) : [];
    await step(withFaults ? "All is well again" : "No fault", () =>
      silent(fleet, CALM_MINUTES, "without a fault"),
    );
    const bill = await step("The bill", async () => {
      const counts = log();
      const { rows, changing, scales } = billRows(
        good(await fleet.cli("cost", "-o", "json")),
        counts,
      );
      say(
        `  ${counts.syncs} syncs in ${(counts.seconds / 3_600).toFixed(1)} h; ${(changing * 100).toFixed(1)} % of the autoscalers change in a sync, with ${scales.toFixed(0)} scales of each in a day`,
      );
      return billTable(rows);
    });
    say(
      `\n| fault | cluster | reported once |\n|---|---|---|\n${table.join("\n")}\n\n${bill.join("\n")}`,
    );
  } finally {
    for (const close of closing.reverse()) await close();
  }
};

const flag = { type: "boolean", default: false } as const;
const { values } = parseArgs({ options: { here: flag, calm: flag } });
const binaries = controlPlaneBinaries();
if (binaries.kind === "missing") {
  say(`Cannot play forty clusters: ${binaries.message}`);
  process.exitCode = 1;
} else {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-forty-"));
  const deployed = values.here
    ? await step("The stack is packaged", packagedHere)
    : await step("The stack is deployed into an empty account", deployedInEmulator);
  try {
    await walk(deployed, binaries.folder, { folder, withFaults: !values.calm });
  } finally {
    await deployed.done();
    await rm(folder, { recursive: true, force: true });
  }
}
