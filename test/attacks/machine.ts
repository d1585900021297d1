import { type ChildProcess, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { treeOf } from "../local/folder/starting.ts";
import { type Attack, commandOf, type Seen, said, withFolder } from "./attack.ts";

const NOBODY = 65_534;
const START_MS = 20_000;
const POLL_MS = 100;

/**
 * The ports on which a process listens. Any user of the machine finds them in /proc/net/tcp, among
 * those of other processes.
 */
const portsOf = (pid: number): readonly number[] => {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // It was closed meanwhile.
      }
    }),
  );
  const rows = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  return rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/);
    return state === "0A" && sockets.has(inode)
      ? [Number.parseInt(local.split(":")[1] ?? "", 16)]
      : [];
  });
};

/**
 * A program of another user. It asks each port for tables and queues, and puts each cluster that it
 * finds again, with its kubeconfig.
 */
const STRANGER = `
const [ports, kubeconfig] = [JSON.parse(process.argv[1]), process.argv[2]];
const call = async (port, target, type, body) => {
  const headers = { "x-amz-target": target, "content-type": type, authorization: "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=a", "x-amz-date": "20260101T000000Z" };
  try {
    const answer = await fetch("http://127.0.0.1:" + port + "/", { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(5000) });
    const words = await answer.text();
    return answer.ok ? JSON.parse(words) : undefined;
  } catch { return undefined; }
};
const dynamo = (port, action, body) => call(port, "DynamoDB_20120810." + action, "application/x-amz-json-1.0", body);
const reached = [];
for (const port of ports) {
  const tables = (await dynamo(port, "ListTables", {}))?.TableNames ?? [];
  for (const table of tables) {
    const items = (await dynamo(port, "Scan", { TableName: table }))?.Items ?? [];
    for (const item of items.filter(({ connection }) => connection?.M?.kind?.S === "kubeconfig" || connection?.M?.kubeconfig)) {
      const version = { N: String(Number(item.version?.N ?? 1) + 1) };
      const put = await dynamo(port, "PutItem", { TableName: table, Item: { ...item, version, connection: { M: { kind: { S: "kubeconfig" }, path: { S: kubeconfig } } } } });
      if (put) reached.push("a connection of the tables");
    }
    reached.push("table " + table);
  }
  const sent = await call(port, "AmazonSQS.SendMessage", "application/x-amz-json-1.0", { QueueUrl: "http://127.0.0.1:" + port + "/000000000000/sync", MessageBody: "{}" });
  if (sent?.MessageId) reached.push("the queue");
}
console.log(JSON.stringify([process.getuid(), reached]));`;

const until = async (holds: () => boolean, forMs: number): Promise<boolean> => {
  for (const endMs = Date.now() + forMs; Date.now() < endMs; await wait(POLL_MS))
    if (holds()) return true;
  return holds();
};

const stop = async (child: ChildProcess): Promise<void> => {
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGINT");
  await ended;
};

const overLoopback = (folder: string): Promise<Seen> =>
  withFolder(async (dir) => {
    if (process.getuid?.() !== 0)
      return { held: false, saw: "not played: only root can start a program of another user" };
    const ran = join(dir, "ran-as");
    const kubeconfig = join(dir, "evil");
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "/bin/sh",
      args: ["-c", `id -u > ${ran}`],
      interactiveMode: "Never",
    };
    const config = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": "x" },
      clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
      users: [{ name: "u", user: { exec } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    };
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o644 });
    const run = commandOf(folder, ["start", "--data", join(dir, "data"), "--speed", "60"], dir);
    let words = "";
    run.stdout?.on("data", (chunk) => {
      words += String(chunk);
    });
    await until(() => words.includes("applied"), START_MS);
    const stranger = spawn(
      process.execPath,
      ["--input-type=module", "-e", STRANGER, JSON.stringify(portsOf(run.pid ?? 0)), kubeconfig],
      {
        ...{ uid: NOBODY, gid: NOBODY, cwd: "/", stdio: ["ignore", "pipe", "inherit"] },
      },
    );
    const [uid, reached] = JSON.parse(await text(stranger.stdout)) as readonly [
      number,
      readonly string[],
    ];
    const isRun = reached.length > 0 && (await until(() => existsSync(ran), START_MS));
    await stop(run);
    const program = isRun ? `; its program ran as user ${readFileSync(ran, "utf8").trim()}` : "";
    return {
      held: uid === NOBODY && reached.length === 0,
      saw: `user ${uid} reached ${[...new Set(reached)].join(", ") || "nothing"}${program}`,
    };
  });

const PLACES = ["log.jsonl", "queue.jsonl", "clock.json", "tables", "cluster"] as const;

const byLinks = (folder: string): Promise<Seen> =>
  withFolder(async (dir) => {
    const [whole, data, elsewhere] = ["whole", "data", "elsewhere"].map((name) =>
      join(dir, name),
    ) as [string, string, string];
    const args = (at: string): readonly string[] => [
      "start",
      "--data",
      at,
      "--for",
      "1m",
      "--speed",
      "100000",
    ];
    await said(folder, args(whole), dir);
    const changed: string[] = [];
    for (const place of PLACES) {
      rmSync(data, { recursive: true, force: true });
      rmSync(elsewhere, { recursive: true, force: true });
      cpSync(whole, data, { recursive: true, preserveTimestamps: true });
      renameSync(join(data, place), elsewhere);
      symlinkSync(elsewhere, join(data, place));
      const before = JSON.stringify(treeOf(elsewhere));
      await said(folder, args(data), dir);
      if (JSON.stringify(treeOf(elsewhere)) !== before) changed.push(place);
    }
    return {
      held: changed.length === 0,
      saw: `what ${changed.length} of ${PLACES.length} links lead to was changed: ${changed.join(", ")}`,
    };
  });

/** Point 2.6. */
export const ATTACKS: readonly Attack[] = [
  { name: "the tables and the queue of a run, by another user of the machine", play: overLoopback },
  { name: "links in a data folder", play: byLinks },
];
