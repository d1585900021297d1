import { deepEqual, equal, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../architecture/source.ts";
import { CACHE } from "../check/tools.ts";
import { runBlock, type Shell } from "./runbooks.ts";

/** `npm run package` is its last part here: the bundles and the template of osls are there. */
const NPM = `npm() { node "${ROOT}/build/template.ts" "\${@:4}"; }`;
export const BOUNDARY = "arn:aws:iam::123456789012:policy/boundary";
const ELSEWHERE = "eu-west-1";
const TAGS = [
  { Key: "cost-centre", Value: "42" },
  { Key: "team", Value: "platform" },
];

const CDK = ["aws-cdk-lib@2.276.0", "constructs@10.8.1"] as const;

/**
 * The folder of the CDK, which the first call installs into the cache: it is a hundred times as
 * large as Tidemark, and nothing else here needs it.
 */
const cdkFolder = async (): Promise<string> => {
  const folder = join(CACHE, CDK.join("-").replaceAll("@", "-"));
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}-unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await run("npm", [
    "install",
    "--prefix",
    unfinished,
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    ...CDK,
  ]);
  await rename(unfinished, folder);
  return folder;
};

/**
 * The CDK reads the template, and makes one of the same resources with the values of the example.
 */
const synthesize = async (shell: Shell): Promise<void> => {
  const [folder, out] = [await cdkFolder(), join(shell.folder, "cdk.out")];
  await copyFile(join(ROOT, "examples/deploy/cdk.mjs"), join(folder, "cdk.mjs"));
  const own = join(shell.folder, "dist/stack/template.json");
  await run(process.execPath, ["cdk.mjs"], {
    cwd: folder,
    env: { ...process.env, TEMPLATE: own, BOUNDARY, CDK_OUTDIR: out },
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  const [made, given] = [join(out, "tidemark-prod.template.json"), own].map((file) =>
    JSON.parse(readFileSync(file, "utf8")),
  );
  const names = Object.keys(made.Resources).filter((name) => name !== "CDKMetadata");
  deepEqual(
    names.toSorted(),
    Object.keys(given.Resources).toSorted(),
    "the CDK deploys the same resources",
  );
  equal(made.Resources.SyncRole.Properties.Path, "/platform/");
};

const example = (name: string): string => readFileSync(join(ROOT, "examples/deploy", name), "utf8");
const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 16 * 1_048_576;
/** What a command of the AWS command line answers. */
export const asked = async (shell: Shell, command: string): Promise<unknown> =>
  JSON.parse(await runBlock(shell, `${command} --output json`));

/** The role of this function has the boundary and the path. */
export const isBounded = async (shell: Shell, functionName: string): Promise<void> => {
  const role = String(
    await asked(
      shell,
      `aws lambda get-function-configuration --function-name ${functionName} --query Role`,
    ),
  );
  ok(role.includes(":role/platform/"), `the role ${role} has the path`);
  const boundary = `aws iam get-role --role-name ${role.split("/").at(-1)} --query Role.PermissionsBoundary.PermissionsBoundaryArn`;
  equal(await asked(shell, boundary), BOUNDARY);
};

/**
 * Runs the examples of the AWS command line and of the CDK, as they are, and looks at what they
 * deployed. Afterwards the account is as it was, but for the tables, which stay.
 */
export const deployWithOtherTools = async (given: Shell): Promise<void> => {
  // The emulator finds a template in its buckets by this name of itself.
  const shell = {
    ...given,
    environment: {
      ...given.environment,
      AWS_ENDPOINT_URL: (given.environment["AWS_ENDPOINT_URL"] ?? "").replace(
        "127.0.0.1",
        "localhost",
      ),
    },
  };
  await copyFile(join(ROOT, "package.json"), join(shell.folder, "package.json"));
  await runBlock(shell, "aws s3 mb s3://artifacts");
  const settings = `BUCKET=artifacts STACK=acme-scaler ALARM_ADDRESS=ops@example.com BOUNDARY=${BOUNDARY}`;
  await runBlock(shell, `${NPM}\n${settings}\n${example("pipeline.sh")}`);
  deepEqual(
    await asked(
      shell,
      'aws cloudformation describe-stacks --stack-name acme-scaler --query "sort_by(Stacks[0].Tags, &Key)"',
    ),
    TAGS,
  );
  await isBounded(shell, "acme-scaler-sync");
  await runBlock(shell, "aws cloudformation delete-stack --stack-name acme-scaler");
  await synthesize(shell);

  await runBlock(
    shell,
    `aws s3 mb s3://artifacts-eu-central-1; aws s3 mb s3://artifacts-${ELSEWHERE} --region ${ELSEWHERE}`,
  );
  await runBlock(
    shell,
    `${NPM}\nBUCKET=artifacts ACCOUNTS=123456789012 REGIONS="eu-central-1 ${ELSEWHERE}"\n${example("stack-sets.sh")}`,
  );
  for (const region of ["eu-central-1", ELSEWHERE]) {
    const functions = `aws lambda list-functions --region ${region} --query "length(Functions[?starts_with(FunctionName, 'tidemark-prod-')])"`;
    equal(await asked(shell, functions), 5, `there are five functions in ${region}`);
  }
};
