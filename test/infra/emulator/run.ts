import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readSettings } from "../../../lib/command/deploy/settings.ts";
import { alarmsIn } from "../alarm-stack.ts";
import { CLUSTERS, type Day, OWNERS, openDay, SCENES } from "../day.ts";
import { type Checkout, cloneAsOperator } from "./checkout.ts";
import {
  clustersInView,
  type Deployed,
  deployed,
  deployedFleet,
  mustBeAdopted,
  protectionOf,
  secretThere,
  tableClient,
  tablesThere,
} from "./deployed.ts";
import { packageStack } from "../packaged.ts";
import { playDrill } from "../standby/drill.ts";
import { startEmulator } from "./emulator.ts";
import { asked, BOUNDARY, deployWithOtherTools, isBounded } from "./other-tools.ts";
import { runBlock, runbookBlocks, type Shell } from "./runbooks.ts";

/**
 * `npm run prove -- stack`: the walk of an operator, from an empty account to an empty one. It runs
 * the blocks of the runbooks in docs/operations.md against an emulator of AWS, in their order, in a
 * clone of this repository with a tag. After each it looks at the account, and plays minutes of a
 * fleet on what was deployed: after the installation a day of failures, each with its alarm. Ends
 * with 1 where a block fails or does not do what the page says, where an alarm is missing or one
 * too many, where a runbook has a block without a check, and where the emulator cannot run.
 */
const NAMED = ["StateTableName", "HistoryTableName"] as const;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const namedTables = ({ outputs }: Deployed): readonly string[] =>
  NAMED.map((output) => outputs[output] ?? "");

/** Of infra/alarms.yml. */
const ALARMS_COUNT = 15;
const ROTATED = "the second kubeconfig";
const ELSEWHERE = "eu-west-1";
/** The file of a company whose roles are bounded, with owners of autoscalers. */
const PARAMETERS = `stage: prod
region: eu-central-1
parameters:
  alarmAddress: ops@example.com
  alarmOwners: ${OWNERS.AlarmOwners}
  ownerTopics: ${OWNERS.OwnerTopics}
  tags: team=platform,cost-centre=42
  permissionsBoundary: ${BOUNDARY}
  rolePath: /platform/
`;

interface Walk {
  readonly shell: Shell;
  readonly checkout: Checkout;
  /** Begins with the installation. */
  day?: Day;
}
type Check = (walk: Walk, before: Deployed | undefined) => Promise<Deployed | undefined>;

/** Plays minutes on what is deployed now. */
const dayOf = ({ day }: Walk): Day => {
  if (!day) throw new TypeError("the day begins with the installation");
  return day;
};
const goOn = async (walk: Walk, alarms: readonly string[] = [], minutes = 6): Promise<void> => {
  await dayOf(walk).deploy(await deployedFleet(walk.shell));
  await fire(walk, alarms, minutes);
};
const fire = async (walk: Walk, alarms: readonly string[], minutes: number): Promise<void> => {
  const fired = await dayOf(walk).play(minutes);
  say(`  ${minutes} minutes on what is deployed: ${fired.join("; ") || "no alarm"}`);
  deepEqual(fired, alarms);
};

const installed: Check = async (walk) => {
  const { shell } = walk;
  const now = await deployed(shell);
  const urls = ["ApiLambdaFunctionUrl", "ConnectLambdaFunctionUrl", "ViewLambdaFunctionUrl"];
  for (const output of [...urls, ...NAMED, "SyncRoleArn", "SyncQueueUrl", "Version"])
    ok(now.outputs[output], `the output ${output} is there`);
  deepEqual(
    [...namedTables(now)].toSorted(),
    [...now.tables].toSorted(),
    "the stack has made its two tables",
  );
  const tags = await asked(
    shell,
    `aws cloudformation describe-stacks --stack-name "tidemark-$stage" --query "Stacks[0].Tags[?Key!='STAGE']"`,
  );
  deepEqual(tags, [
    { Key: "team", Value: "platform" },
    { Key: "cost-centre", Value: "42" },
  ]);
  await isBounded(shell, "tidemark-prod-sync");
  await keepsAlarms(shell);
  await runBlock(
    shell,
    'aws secretsmanager create-secret --name "tidemark-$stage/eu-1" --secret-string "the first kubeconfig"',
  );
  await writeFile(join(shell.folder, "kubeconfig"), ROTATED);
  const dynamodb = shell.environment["AWS_ENDPOINT_URL"] ?? "";
  walk.day = await openDay({
    folder: join(shell.folder, "home"),
    dynamodb,
    client: tableClient(shell),
    ...(await deployedFleet(shell)),
  });
  for (const [what, scene] of Object.entries(SCENES)) {
    const from = walk.day.fired.length;
    await scene(walk.day);
    say(`  the fleet ${what}`);
    for (const alarm of walk.day.fired.slice(from)) say(`    ${alarm}`);
  }
  return now;
};

const upgraded: Check = async (walk, before) => {
  const now = await sameData(walk, before);
  await refusals(walk.shell);
  return now;
};

/**
 * A file with a mistake, and one that would lose the address of alarms, change nothing. Every
 * parameter is one of the stack.
 */
const refusals = async (shell: Shell): Promise<void> => {
  const refused = async (script: string): Promise<string> =>
    runBlock(
      shell,
      `if ${script} 2>refused.txt; then echo "it was not refused"; exit 1; fi; cat refused.txt`,
    );
  const update = `aws cloudformation describe-stacks --stack-name "tidemark-$stage" --query "Stacks[0].LastUpdatedTime" --output text`;
  const before = await runBlock(shell, update);
  ok(
    (
      await refused('npx tidemark stack deploy --params "$params" --set alarmAdress=a@example.com')
    ).includes("did you mean alarmAddress?"),
  );
  await runBlock(shell, 'printf "stage: prod\\nregion: eu-central-1\\n" >lossy.yaml');
  ok(
    (await refused("npx tidemark stack deploy --params lossy.yaml")).includes(
      "it would lose alarmAddress (ops@example.com)",
    ),
  );
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

const RECEIVERS = 'aws sns list-subscriptions --query "Subscriptions[].Endpoint"';
/**
 * No deployment of a runbook takes an alarm away, or the address that it goes to. The emulator
 * makes the topic, and no alarms: those of the deployed template go to the topic.
 */
const keepsAlarms = async (shell: Shell): Promise<void> => {
  deepEqual(await asked(shell, RECEIVERS), ["ops@example.com"]);
  const alarms = alarmsIn((await deployedFleet(shell)).stack);
  equal(alarms.length, ALARMS_COUNT);
  for (const [name, { AlarmActions }] of alarms)
    deepEqual([name, AlarmActions], [name, [{ Ref: "AlarmTopic" }]]);
};

/** The deployment uses the tables of the one before, people see what they saw, and syncs go on. */
const sameData: Check = async (walk, before) => {
  const now = await sameTables(walk.shell, before);
  await goOn(walk);
  return now;
};
const sameTables = async (shell: Shell, before: Deployed | undefined): Promise<Deployed> => {
  const now = await deployed(shell);
  if (before)
    deepEqual(
      namedTables(now),
      namedTables(before),
      "the stack uses the tables that it used before",
    );
  deepEqual(await clustersInView(shell), CLUSTERS, "the function view lists the clusters");
  await keepsAlarms(shell);
  return now;
};

/** The version that the deployed stack names is the one of the checkout. */
const isVersionOfCheckout = async (shell: Shell): Promise<void> => {
  const { version }: { readonly version: string } = JSON.parse(
    await readFile(join(shell.folder, "package.json"), "utf8"),
  );
  const printed = await runBlock(shell, 'npx tidemark version --stack "tidemark-$stage"');
  ok(printed.includes(version), `the version ${version} is deployed: ${printed}`);
  say(`  the version ${version} is deployed`);
};

/** The earlier version works on the data of the later one. Then the later one is deployed again. */
const rolledBack: Check = async (walk, before) => {
  const { shell, checkout } = walk;
  await isVersionOfCheckout(shell);
  const earlier = await sameData(walk, before);
  await runBlock(
    shell,
    `git checkout --quiet ${checkout.present}\n${runbookBlocks().get("Upgrade") ?? ""}`,
  );
  await isVersionOfCheckout(shell);
  return sameData(walk, earlier);
};

const rotated: Check = async ({ shell }, before) => {
  equal(await secretThere(shell), ROTATED);
  return before;
};

/**
 * The other region has the same tables and secrets. It is emptied then, so that the account is as
 * it was before.
 */
const moved: Check = async ({ shell }, before) => {
  const there = { ...shell, region: ELSEWHERE };
  const now = await sameTables(there, before);
  ok(await mustBeAdopted(there), "nothing is scaled before the tables are adopted");
  for (const table of now ? namedTables(now) : [])
    deepEqual(await protectionOf(there, table), {
      protected: true,
      timeToLive: "ttl ENABLED",
      recovery: "ENABLED",
    });
  equal(await secretThere(there), ROTATED);
  await runBlock(there, runbookBlocks().get("Remove everything") ?? "");
  deepEqual(await tablesThere(there), []);
  return before;
};

/**
 * Minutes in which one alarm names each of these clusters once, some of them together, and no other
 * alarm fires.
 */
const fireOnce = async (
  day: Day,
  minutes: number,
  alarm: string,
  clusters: readonly string[],
): Promise<void> => {
  const fired = await day.play(minutes);
  say(`  ${minutes} minutes: ${fired.join("; ")}`);
  deepEqual([...new Set(fired.map((words) => words.split(":")[0]))], [alarm]);
  deepEqual(
    fired.flatMap((words) => words.match(/\b(?:dev|slow|eu-[12])\b/g) ?? []).toSorted(),
    clusters,
  );
};

/**
 * Nothing is scaled on the restored tables before they are adopted, which is alarmed. Then every
 * alarm is what it was: a cluster that goes down has one.
 */
const restored: Check = async (walk, before) => {
  const { shell } = walk;
  const now = await deployed(shell);
  for (const [at, table] of namedTables(now).entries()) {
    const former = before && namedTables(before)[at];
    ok(former && table.startsWith(`${former}-`), `"${table}" is named after "${former}"`);
    deepEqual(await protectionOf(shell, table), {
      protected: true,
      timeToLive: "ttl ENABLED",
      recovery: "ENABLED",
    });
  }
  deepEqual(await clustersInView(shell), CLUSTERS, "the function view lists the clusters");
  await keepsAlarms(shell);
  ok(await mustBeAdopted(shell), "nothing is scaled before the tables are adopted");
  const day = dayOf(walk);
  await day.deploy(await deployedFleet(shell));
  // No more than the period of `slow`: it loses one sync at most, which is no three periods.
  await fireOnce(day, 5, "SyncsStopped", ["dev", "eu-1", "eu-2"]);
  await day.service().adopt();
  await fire(walk, [], 4);
  await day.service().thaw();
  day.down("eu-1");
  // The cluster `dev` has been down since the first day.
  await fireOnce(day, 10, "ClusterProblems", ["dev", "eu-1"]);
  day.heal("eu-1");
  return now;
};

const removed: Check = async ({ shell }, before) => {
  const left = await tablesThere(shell);
  for (const table of before ? namedTables(before) : [])
    ok(!left.includes(table), `"${table}" is gone`);
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
  Upgrade: upgraded,
  "Roll back": rolledBack,
  "Remove the stack and keep the data": sameData,
  "Restore both tables": restored,
  "Rotate credentials": rotated,
  "Move to another region": moved,
  "Remove everything": removed,
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
const checkout = await cloneAsOperator();
say(`The earlier version is the tag ${checkout.earlier}`);
const path = [dirname(process.execPath), process.env["PATH"] ?? ""].join(":");
const quiet = {
  SLS_TELEMETRY_DISABLED: "1",
  SLS_NOTIFICATIONS_MODE: "off",
  npm_config_update_notifier: "false",
};
const home = join(checkout.folder, "home");
const shell: Shell = {
  folder: checkout.folder,
  environment: {
    ...emulator.environment,
    ...quiet,
    HOME: home,
    PATH: path,
    PROGRAMS: emulator.programs,
    earlier: checkout.earlier,
  },
};
const walk: Walk = { shell, checkout };
try {
  await mkdir(home);
  await writeFile(join(checkout.folder, "prod.yaml"), PARAMETERS);
  let state: Deployed | undefined;
  for (const [title, block] of blocks) {
    state = await step(title, async () => {
      await runBlock(shell, block);
      return CHECKS[title]?.(walk, state);
    });
  }
  await step("Deploy with other tools", async () => {
    await runBlock(shell, "npm run --silent package");
    await deployWithOtherTools(shell);
  });
  await step("The first of two regions is switched off", async () => {
    const stack = await packageStack();
    try {
      await playDrill(stack, (line) => say(`  ${line}`));
    } finally {
      await stack.done();
    }
  });
  say("Every runbook did what docs/operations.md says");
} finally {
  await walk.day?.close();
  await checkout.done();
  await emulator.stop();
}
