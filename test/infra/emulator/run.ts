import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readSettings } from "../../../lib/cli/deploy/settings.ts";
import { ROOT } from "../../architecture/source.ts";
import { packageStack } from "../packaged.ts";
import { clustersInView, type Deployed, deployed, mustBeAdopted, protectionOf, secretThere, storeCluster, tablesThere } from "./deployed.ts";
import { startEmulator } from "./emulator.ts";
import { asked, BOUNDARY, deployWithOtherTools, isBounded } from "./other-tools.ts";
import { runBlock, runbookBlocks, type Shell } from "./runbooks.ts";
import { PRESENT, twoVersions } from "./two-versions.ts";

/**
 * `npm run prove -- stack`: runs the blocks of the runbooks in docs/operations.md against an emulator of AWS, in their order, and looks at the account after each. Ends with 1 where a block fails or does not do what
 * the page says, where a runbook has a block without a check, and where the emulator cannot run.
 */
const CLUSTER = "eu-1";
const NAMED = ["StateTableName", "HistoryTableName"] as const;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const namedTables = ({ outputs }: Deployed): readonly string[] => NAMED.map((output) => outputs[output] ?? "");

const ROTATED = "the second kubeconfig";
const ELSEWHERE = "eu-west-1";

type Check = (shell: Shell, before: Deployed | undefined) => Promise<Deployed | undefined>;

const installed: Check = async (shell) => {
  const now = await deployed(shell);
  const urls = ["ApiLambdaFunctionUrl", "ConnectLambdaFunctionUrl", "ViewLambdaFunctionUrl"];
  for (const output of [...urls, ...NAMED, "SyncRoleArn", "SyncQueueUrl", "Version"]) ok(now.outputs[output], `the output ${output} is there`);
  deepEqual([...namedTables(now)].toSorted(), [...now.tables].toSorted(), "the stack has made its two tables");
  const [stateTable = "", historyTable = ""] = namedTables(now);
  await storeCluster(shell, { stateTable, historyTable }, CLUSTER);
  await runBlock(shell, 'aws secretsmanager create-secret --name "tidemark-$stage/eu-1" --secret-string "the first kubeconfig"');
  await writeFile(join(shell.folder, "kubeconfig"), ROTATED);
  await refusals(shell);
  return now;
};

/** A file with a mistake, and one that would lose the address of alarms, change nothing. Every parameter is one of the stack. */
const refusals = async (shell: Shell): Promise<void> => {
  const refused = async (script: string): Promise<string> =>
    runBlock(shell, `if ${script} 2>refused.txt; then echo "it was not refused"; exit 1; fi; cat refused.txt`);
  const update = `aws cloudformation describe-stacks --stack-name "tidemark-$stage" --query "Stacks[0].LastUpdatedTime" --output text`;
  const before = await runBlock(shell, update);
  ok((await refused('npx tidemark stack deploy --params "$params" --set alarmAdress=a@example.com')).includes("did you mean alarmAddress?"));
  await runBlock(shell, 'printf "stage: prod\\nregion: eu-central-1\\n" >lossy.yaml');
  ok((await refused("npx tidemark stack deploy --params lossy.yaml")).includes("it would lose alarmAddress (ops@example.com)"));
  equal(await runBlock(shell, update), before, "nothing was sent");
  const shown: { readonly parameters: Readonly<Record<string, string>> } = JSON.parse(
    await runBlock(shell, 'npx tidemark stack status --params "$params" -o json'),
  );
  deepEqual(
    Object.keys(shown.parameters),
    readSettings(shell.folder).map(({ name }) => name),
    "the stack shows every parameter",
  );
};

const ADDRESS = `aws cloudformation describe-stacks --stack-name "tidemark-$stage" --query "Stacks[0].Parameters[?ParameterKey=='AlarmAddress'].ParameterValue"`;
/** No deployment of a runbook takes the address of the alarms away. */
const keepsAlarms = async (shell: Shell): Promise<void> => deepEqual(await asked(shell, ADDRESS), ["ops@example.com"]);

/** The deployment uses the tables of the one before, and people see what they saw. */
const sameData: Check = async (shell, before) => {
  const now = await deployed(shell);
  if (before) deepEqual(namedTables(now), namedTables(before), "the stack uses the tables that it used before");
  deepEqual(await clustersInView(shell), [CLUSTER], "the function view lists the cluster");
  await keepsAlarms(shell);
  return now;
};

/** The earlier version works on the data of the later one. Then the later one is deployed again. */
const rolledBack: Check = async (shell, before) => {
  const earlier = await sameData(shell, before);
  const upgrade = runbookBlocks().get("Upgrade") ?? "";
  await runBlock(shell, `git checkout ${PRESENT}\n${upgrade}`);
  return sameData(shell, earlier);
};

const rotated: Check = async (shell, before) => {
  equal(await secretThere(shell), ROTATED);
  return before;
};

/** The other region has the same tables and secrets. It is emptied then, so that the account is as it was before. */
const moved: Check = async (shell, before) => {
  const there = { ...shell, region: ELSEWHERE };
  const now = await sameData(there, before);
  ok(await mustBeAdopted(there), "nothing is scaled before the tables are adopted");
  for (const table of now ? namedTables(now) : [])
    deepEqual(await protectionOf(there, table), { protected: true, timeToLive: "ttl ENABLED", recovery: "ENABLED" });
  equal(await secretThere(there), ROTATED);
  await runBlock(there, runbookBlocks().get("Remove everything") ?? "");
  deepEqual(await tablesThere(there), []);
  return before;
};

const restored: Check = async (shell, before) => {
  const now = await deployed(shell);
  for (const [at, table] of namedTables(now).entries()) {
    const former = before && namedTables(before)[at];
    ok(former && table.startsWith(`${former}-`), `"${table}" is named after "${former}"`);
    deepEqual(await protectionOf(shell, table), { protected: true, timeToLive: "ttl ENABLED", recovery: "ENABLED" });
  }
  deepEqual(await clustersInView(shell), [CLUSTER], "the function view lists the cluster");
  await keepsAlarms(shell);
  ok(await mustBeAdopted(shell), "nothing is scaled before the tables are adopted");
  return now;
};

const removed: Check = async (shell, before) => {
  const left = await tablesThere(shell);
  for (const table of before ? namedTables(before) : []) ok(!left.includes(table), `"${table}" is gone`);
  equal(left.length, 2, "the tables of before the restore stay, because they are retained");
  const rejected = await deployed(shell).then(
    () => "",
    (error: Error) => error.message,
  );
  ok(rejected.includes("does not exist"), "there is no stack");
  return undefined;
};

/** By the heading of the runbook. */
const CHECKS: Readonly<Record<string, Check>> = {
  "Install in a new account": installed,
  Upgrade: sameData,
  "Roll back": rolledBack,
  "Remove the stack and keep the data": sameData,
  "Restore both tables": restored,
  "Rotate credentials": rotated,
  "Move to another region": moved,
  "Remove everything": removed,
};

const ANEW = `stage: prod
region: eu-central-1
parameters:
  tags: team=platform,cost-centre=42
  permissionsBoundary: ${BOUNDARY}
  rolePath: /platform/
`;

/** A deployment from a file with tags and a boundary, where tables of earlier ones are left: it makes its own, and reads nothing of them. */
const deployAnew = async (shell: Shell): Promise<void> => {
  const left = await tablesThere(shell);
  notEqual(left.length, 0);
  await writeFile(join(shell.folder, "anew.yaml"), ANEW);
  await runBlock(shell, "npx tidemark stack deploy --params anew.yaml");
  const now = await deployed(shell);
  ok(
    namedTables(now).every((table) => !left.includes(table)),
    "the tables are new",
  );
  deepEqual(await clustersInView(shell), []);
  const tags = await asked(shell, `aws cloudformation describe-stacks --stack-name "tidemark-$stage" --query "Stacks[0].Tags[?Key!='STAGE']"`);
  deepEqual(tags, [
    { Key: "team", Value: "platform" },
    { Key: "cost-centre", Value: "42" },
  ]);
  await isBounded(shell, "tidemark-prod-sync");
  await runBlock(shell, "npx tidemark stack remove --params anew.yaml --yes");
};

const step = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
  const startedMs = performance.now();
  const result = await work();
  say(`${name}: done in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
  return result;
};

const blocks = [...runbookBlocks()].filter(([title]) => title !== "");
deepEqual(
  blocks.map(([title]) => title),
  Object.keys(CHECKS),
  "each runbook with a block has a check, in the order of the page",
);
const emulator = await startEmulator(say);
const stack = await step("Package", packageStack);
const versions = await step("Package an earlier version", () => twoVersions(stack.folder, say));
try {
  await symlink(join(ROOT, "node_modules"), join(stack.folder, "node_modules"));
  const path = [dirname(process.execPath), process.env["PATH"] ?? ""].join(":");
  const quiet = { SLS_TELEMETRY_DISABLED: "1", SLS_NOTIFICATIONS_MODE: "off", HOME: join(stack.folder, "home") };
  const shell: Shell = {
    folder: stack.folder,
    environment: { ...emulator.environment, ...quiet, PATH: path, PROGRAMS: emulator.programs, ...versions.environment },
  };
  let state: Deployed | undefined;
  for (const [title, block] of blocks) {
    state = await step(title, async () => {
      await runBlock(shell, block);
      return CHECKS[title]?.(shell, state);
    });
  }
  await step("Deploy beside the tables of earlier deployments", () => deployAnew(shell));
  await step("Deploy with other tools", () => deployWithOtherTools(shell));
  say("Every runbook did what docs/operations.md says");
} finally {
  await versions.done();
  await stack.done();
  await emulator.stop();
}
