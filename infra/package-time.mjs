import { execFileSync } from "node:child_process";

/**
 * A plugin of osls. The packages of a deployment lie in a folder of the deployment bucket, and the template names that folder by a time. With the time of packaging, no two templates of
 * the same source would be equal. So this takes the time of the source: `SOURCE_DATE_EPOCH` (seconds), or else the last commit of a clean work tree. Changed files get the time of
 * packaging, because a name that was used before would hide the new packages from CloudFormation.
 */
// biome-ignore lint/style/noDefaultExport: osls loads the default export of a plugin.
export default class PackageTime {
  constructor(serverless) {
    this.hooks = {
      "before:package:compileFunctions": () => {
        const provider = serverless.getProvider("aws");
        const { service } = serverless;
        const time = new Date(sourceTimeMs(serverless.serviceDir) ?? Date.now());
        service.package.artifactDirectoryName = `${provider.getDeploymentPrefix()}/${service.service}/${provider.getStage()}/${time.getTime()}-${time.toISOString()}`;
      },
    };
  }
}

const sourceTimeMs = (folder) => {
  const { SOURCE_DATE_EPOCH: seconds } = process.env;
  if (seconds === undefined || seconds === "") return commitTimeMs(folder);
  if (!/^\d{1,10}$/.test(seconds))
    throw new Error(
      `Cannot package: SOURCE_DATE_EPOCH is "${seconds}"; write seconds since 1970, or remove it`,
    );
  return Number(seconds) * 1_000;
};

const commitTimeMs = (folder) => {
  const git = (...args) =>
    execFileSync("git", args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  try {
    return git("status", "--porcelain") === ""
      ? Number(git("log", "-1", "--format=%ct")) * 1_000
      : undefined;
  } catch {
    // There is no git, or this is no work tree of it.
    return undefined;
  }
};
