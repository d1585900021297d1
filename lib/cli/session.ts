import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { openFolder } from "../local/folder/data-folder.ts";
import { findFolder } from "../local/folder/folder-lock.ts";
import { DEFAULT_DATA_FOLDER, folderLayout, TABLE_NAMES } from "../local/folder/layout.ts";
import type { ServiceContext } from "../service/context.ts";
import { insertByStatement } from "../store/history/item.ts";
import type { DeadLetters, StatusView } from "../views/status.ts";
import type { CommandTarget } from "./select/command-target.ts";
import type { Session } from "./io.ts";
import { lazyService } from "./lazy-service.ts";
import { usage } from "./usage-error.ts";

/** Opens the data folder or stack of a command. */
export const openTarget = async (target: CommandTarget, by: string): Promise<Session> => {
  // Loaded on demand: a folder needs no signatures, a stack needs no tables.
  if (target.kind === "stack") return (await import("./stack-session.ts")).openStack(target);
  if (target.kind === "named stack") return (await import("./stack-session.ts")).openNamedStack(target);
  return openDataFolder(target.from === "default" ? defaultFolder() : target.dir, by);
};

/** The data folder of a command without --data. Throws a usage error when there are several. */
const defaultFolder = (): string => {
  const search = findFolder();
  if (search.kind === "one") return search.dir;
  const names = search.dirs.map((dir) => `"${dir}"`).join(", ");
  throw usage(`Cannot choose a data folder: ${search.alive ? "runs are alive in" : "no run is alive, and there are"} ${names}; name one with --data`);
};

/** Opens the data folder of a running or ended embedded run. Throws `local.no-data`, `local.folder-in-use`. */
export const openDataFolder = async (dataDir: string, by: string): Promise<Session> => {
  const folder = await openFolder(dataDir);
  const client = folder.client();
  const tables = {
    client,
    ...TABLE_NAMES,
    clock: () => performance.now(),
    wait: async (ms: number) => wait(ms),
    random: Math.random,
    token: randomUUID,
    // No deadline, because an export may take long. Each call has a bounded number of retries (lib/store/table/repeat.ts).
  };
  const deadLetters = async (): Promise<DeadLetters> => {
    const { deadLettersIn } = await import("../local/queue/sqs-server.ts");
    return { syncs: deadLettersIn(folderLayout(folder.dir).queue) };
  };
  const service = lazyService({
    tables,
    insert: insertByStatement(tables),
    clock: folder.clock,
    by,
    newUid: randomUUID,
    ownAddresses: true,
    deadLetters,
    checkConnection: checkHere,
    checkSource: checkSourceHere(folder.run?.sourceQueuesUrl),
  });
  const isAlive = folder.run !== undefined;
  const place = `folder ${dataDir}, ${isAlive ? "whose run is alive" : "no run is alive"}`;
  return {
    service: isAlive ? service : { ...service, status: async () => statusWithoutRun(await service.status(), dataDir) },
    place,
    ...(isAlive ? {} : { ended: true }),
    nowMs: folder.clock(),
    clock: folder.clock,
    endsInOrder: true,
    close: async () => {
      client.destroy();
      await folder.close();
    },
  };
};

/** Where no run is alive, nothing is synced, and the clock of the folder stands: what was healthy when the run ended is not healthy now. */
const statusWithoutRun = (status: StatusView, dir: string): StatusView => ({
  ...status,
  healthy: false,
  problems: [
    {
      kind: "no run",
      message: `No run is alive on the data folder "${dir}": nothing is synced or scaled, and all else here is as of the end of the last run`,
      next: dir === DEFAULT_DATA_FOLDER ? "npm start" : `npm start -- --data ${dir}`,
    },
    ...status.problems,
  ],
});

/** The syncs of a data folder run on this machine, with its files and addresses. Loaded on demand: few commands look at a cluster. */
const checkHere: NonNullable<ServiceContext["checkConnection"]> = async (target) => {
  const [{ checkConnection }, { ON_THIS_MACHINE }] = await Promise.all([
    import("../cluster/check/check-connection.ts"),
    import("../cluster/access/kubeconfig-file.ts"),
  ]);
  // The real clock also where the folder's is virtual: tokens and certificates age in real time.
  return checkConnection(target, { clock: Date.now, trusted: ON_THIS_MACHINE });
};

/** The recorded queues answer while their run is alive. */
const checkSourceHere =
  (queuesUrl: string | undefined): NonNullable<ServiceContext["checkSource"]> =>
  async (target) => {
    const [{ checkSource }, { ON_THIS_MACHINE }, { accountAt }] = await Promise.all([
      import("../source-client/check-source.ts"),
      import("../cluster/access/kubeconfig-file.ts"),
      import("../local/sources/services.ts"),
    ]);
    return checkSource(target, {
      clock: Date.now,
      trusted: ON_THIS_MACHINE,
      ownAddresses: true,
      ...(queuesUrl !== undefined && { ownAccount: accountAt(queuesUrl) }),
    });
  };
