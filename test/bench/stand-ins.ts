import { standInCluster, TROUBLES } from "../sync/stand-in-fleet.ts";

/**
 * Clusters in a process of their own: `fork("stand-ins.ts", [clusters, bad])` sends `{ url, ca }`
 * of each, the first `bad` of them in trouble, and ends with its parent.
 */
const [clusters = 0, bad = 0] = process.argv.slice(2).map(Number);
const servers = [];
for (let at = 0; at < clusters; at++)
  servers.push(await standInCluster(at < bad ? TROUBLES[at % TROUBLES.length] : undefined));
process.once("disconnect", () => process.exit(0));
process.send?.(servers.map(({ url, ca }) => ({ url, ca })));
