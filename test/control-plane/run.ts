import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { binariesFolder, KUBERNETES_VERSION, PROGRAMS } from "./binaries.ts";
import { buildControlPlane } from "./build.ts";
import { startWholeCluster } from "./cluster.ts";
import { kubeconfigText } from "./kubeconfig.ts";

/**
 * `npm run prove -- control-plane [--build]`: builds a real control plane where the folder lacks
 * it, starts it, prints its kubeconfig, and stays until Ctrl-C. `--build` only builds.
 */
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: { build: { type: "boolean", default: false } } });
  const folder = binariesFolder();
  await buildControlPlane(folder, say);
  if (values.build) return say(`${PROGRAMS.join(", ")} are in "${folder}"`);
  const ended = Promise.race([signal("SIGINT"), signal("SIGTERM")]);
  const { plane, metricsUrl, close } = await startWholeCluster(folder);
  const kubeconfig = join(plane.dir, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText(plane, { token: plane.token }), { mode: 0o600 });
  say(
    `Kubernetes ${KUBERNETES_VERSION} at ${plane.url}, with its controllers; pods are Ready at once, and their metrics are what you set`,
  );
  say(`  kubeconfig of an administrator: ${kubeconfig}`);
  say(
    `  set a metric: curl -X PUT ${metricsUrl} -d '{"cpu default/web": 300}'   (thousandths of a core of all pods with the label app=web)`,
  );
  say("  Ctrl-C stops it and removes its data");
  await ended;
  await close();
};

/** Taken from the programs, which would end this process at once. */
const signal = (name: NodeJS.Signals): Promise<void> =>
  new Promise((resolve) => process.once(name, () => resolve()));

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
