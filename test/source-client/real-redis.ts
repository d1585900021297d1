import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SERVER = "/usr/bin/redis-server";
const CLI = "/usr/bin/redis-cli";

/** The programs of Debian (`redis-server`, `redis-tools`). */
export const HAS_REDIS = existsSync(SERVER) && existsSync(CLI);

export interface RealRedis {
  readonly port: number;
  readonly folder: string;
  /** Sends one command as an administrator, and gives what redis-cli prints. */
  readonly send: (...command: readonly string[]) => string;
  readonly close: () => Promise<void>;
}

/** A port, with the one of the bus of a cluster above it free as well. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port < 55_000 ? port : port - 20_000));
    });
  });

const READY_MS = 10_000;
const LOOK_MS = 20;

/** Starts a Redis on loopback that stores nothing. `options` are words of its command line. */
export const realRedis = async (
  options: readonly string[] = [],
  admin: readonly string[] = [],
): Promise<RealRedis> => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-redis-"));
  const port = await freePort();
  const isSecure = options.includes("--tls-port");
  const words = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder];
  const ports = isSecure ? ["--port", "0"] : ["--port", String(port)];
  const given = options.map((word) => (word === "PORT" ? String(port) : word));
  const server = spawn(SERVER, [...words, ...ports, ...given], { stdio: "pipe" });
  const send = (...command: readonly string[]): string =>
    execFileSync(CLI, ["-p", String(port), ...admin, ...command], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  const untilMs = Date.now() + READY_MS;
  for (;;) {
    try {
      if (send("PING") === "PONG") break;
    } catch (error) {
      if (Date.now() > untilMs) throw error;
    }
    if (Date.now() > untilMs) throw new Error("Redis is not ready");
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return {
    port,
    folder,
    send,
    close: async () => {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
