import { spawnSync } from "node:child_process";
import { join } from "node:path";

interface Program {
  readonly about: string;
  readonly file: string;
  /** A folder whose own packages are installed before. */
  readonly packages?: string;
}

/** What proves more than the tests of a change do. Each takes options of its own. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  attacks: {
    about:
      "attacks of tenants, servers, editors and users of one machine, on this checkout or on an earlier one",
    file: "test/attacks/run.ts",
  },
  "beside-keda": {
    about:
      "the operator of KEDA on a real control plane, and converted PodAutoscalers in its shadow over a recorded hour",
    file: "test/beside-keda/run.ts",
  },
  chaos: {
    about:
      "the packaged parts beside a real API server, killed, stopped and behind bad connections",
    file: "test/chaos/run.ts",
  },
  clauses: {
    about: "every clause of every conditional write, taken away one at a time",
    file: "test/simulation/planted/clause-table.ts",
  },
  conformance: {
    about: "recorded decisions, of the files and folders that are named",
    file: "test/conformance/run.ts",
  },
  "control-plane": {
    about: "a real etcd, kube-apiserver and kube-controller-manager, until Ctrl-C",
    file: "test/control-plane/run.ts",
  },
  forecast: {
    about:
      "an HPA over loads of some days, and the same HPA whose minimum follows forecasts: time above target, and what it costs",
    file: "test/replay/forecast/prove.ts",
  },
  infra: {
    about: "the template of the stack, by cfn-lint and checkov",
    file: "test/infra/check/run.ts",
  },
  forty: {
    about:
      "forty clusters from one folder in Git, two of them real control planes: an hour of faults, and the bill against what was counted",
    file: "test/infra/forty/run.ts",
  },
  "kill-test": { about: "npm start, killed at random moments", file: "test/e2e/kill-test.ts" },
  model: { about: "the models of the protocol, asked by spin", file: "test/protocol/run.ts" },
  mutation: {
    about: "small changes of the rules, and whether a test notices",
    file: "test/mutation/run.ts",
    packages: "test/mutation/tools",
  },
  packages: {
    about: "licences and signatures of what is installed",
    file: "build/check-packages.ts",
  },
  replay: {
    about:
      "replays of the histories of embedded runs, against what happened and against a second run with another policy",
    file: "test/replay/prove.ts",
  },
  reports: {
    about: "public reports of users of other autoscalers, played by the rules (docs/compared.md)",
    file: "test/compared/run.ts",
  },
  stack: {
    about:
      "the walk of an operator: the runbooks, a day of failures and the tools of examples/deploy, on an emulator of AWS",
    file: "test/infra/emulator/run.ts",
  },
  standby: {
    about:
      "two deployed stacks, the first region switched off in the middle of its work: how long until the other one syncs, and what is lost",
    file: "test/infra/standby/run.ts",
  },
  takeover: {
    about:
      "many HPAs of a real control plane, taken over under a moving load by a command that is killed three times",
    file: "test/migration/run.ts",
  },
  thresholds: {
    about:
      "100,000 drawn evaluations of each dialect: the value at which a count is said to turn is the one at which it does",
    file: "test/policy/prove-thresholds.ts",
  },
  watched: {
    about:
      "a run with its page open in a browser: its counts and explanations against the commands, and the memory of the tab",
    file: "test/dashboard/watch.ts",
  },
  "wall-times": {
    about: "every wall time of 17 months in 17 zones, against a look at every minute",
    file: "test/model/wall-sweep.ts",
  },
};

const ROOT = join(import.meta.dirname, "..");
/** A wrong call, as the other programs of the repository say it. */
const WRONG_CALL = 2;

const run = (command: string, args: readonly string[]): number =>
  spawnSync(command, args, { cwd: ROOT, stdio: "inherit" }).status ?? 1;

/**
 * `npm run prove -- NAME [OPTIONS]`: runs one program, and ends with its exit code. Without a name
 * it lists them.
 */
const main = ([name = "", ...options]: readonly string[]): number => {
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  if (!program) {
    const listed = Object.entries(PROGRAMS).map(
      ([known, { about }]) => `  ${known.padEnd(15)}${about}`,
    );
    process.stderr.write(
      `${name === "" ? "Name what to run" : `Cannot run "${name}": there is no such program`}: npm run prove -- NAME [OPTIONS]\n${listed.join("\n")}\n`,
    );
    return WRONG_CALL;
  }
  const installed =
    program.packages === undefined
      ? 0
      : run("npm", ["ci", "--prefix", program.packages, "--no-audit", "--no-fund"]);
  return installed === 0 ? run(process.execPath, [program.file, ...options]) : installed;
};

// Ctrl-C reaches the program too, which ends what it has started. This process waits for it.
process.on("SIGINT", () => undefined);
process.exitCode = main(process.argv.slice(2));
