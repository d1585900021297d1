import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../infra/lambda/dynoxide.ts";

const SERVER = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const EPMD = "/usr/bin/epmd";

/** The programs of Debian (`rabbitmq-server`). */
export const HAS_RABBITMQ = existsSync(SERVER) && existsSync(EPMD);

export interface RealRabbitmq {
  /** Of the management API. */
  readonly url: string;
  /** HOST:PORT of the plugin rabbitmq_prometheus. */
  readonly metrics: string;
  /** Makes a queue with this many messages, in the default virtual host. */
  readonly publish: (queue: string, messages: number) => Promise<void>;
  readonly purge: (queue: string) => Promise<void>;
  /** What the management API answers of a queue, once it counts so many messages. */
  readonly counted: (queue: string, messages: number) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** The user that RabbitMQ makes, which may only come from its own machine. */
export const GUEST = { username: "guest", password: "guest" } as const;
const AUTHORIZATION = `Basic ${Buffer.from("guest:guest").toString("base64")}`;
const READY_MS = 90_000;
const LOOK_MS = 100;
const QUEUES = "/api/queues/%2F";

const until = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
  const untilMs = performance.now() + READY_MS;
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    if (performance.now() > untilMs) throw new Error(`RabbitMQ: not so within ${READY_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
};

/** Starts a RabbitMQ on loopback with its management API and its plugin for Prometheus. */
export const realRabbitmq = async (): Promise<RealRabbitmq> => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-rabbitmq-"));
  const [amqp, api, metrics, names, between] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const settings = [
    `listeners.tcp.1 = 127.0.0.1:${amqp}`,
    "management.tcp.ip = 127.0.0.1",
    `management.tcp.port = ${api}`,
    "prometheus.tcp.ip = 127.0.0.1",
    `prometheus.tcp.port = ${metrics}`,
    "collect_statistics_interval = 200",
  ];
  writeFileSync(join(folder, "rabbitmq.conf"), `${settings.join("\n")}\n`);
  writeFileSync(join(folder, "plugins"), "[rabbitmq_management,rabbitmq_prometheus].\n");
  // A name server of its own, so that none stays behind.
  const own = { HOME: folder, ERL_EPMD_PORT: String(names), ERL_EPMD_ADDRESS: "127.0.0.1" };
  const nameServer = spawn(EPMD, ["-port", String(names), "-address", "127.0.0.1"], {
    stdio: "ignore",
  });
  const server = spawn(SERVER, [], {
    stdio: "ignore",
    detached: true,
    env: {
      ...process.env,
      ...own,
      RABBITMQ_NODENAME: `tidemark-${names}@localhost`,
      RABBITMQ_MNESIA_BASE: join(folder, "mnesia"),
      RABBITMQ_LOG_BASE: join(folder, "log"),
      RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq.conf"),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "plugins"),
      RABBITMQ_CONF_ENV_FILE: "/dev/null",
      RABBITMQ_DIST_PORT: String(between),
    },
  });
  const url = `http://127.0.0.1:${api}`;
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: AUTHORIZATION, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}`);
    const text = await answer.text();
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  };
  await until(() => call("GET", "/api/overview"));
  const message = { properties: {}, payload: "{}", payload_encoding: "string" };
  return {
    url,
    metrics: `127.0.0.1:${metrics}`,
    publish: async (queue, messages) => {
      await call("PUT", `${QUEUES}/${queue}`, { durable: true });
      for (let sent = 0; sent < messages; sent++)
        await call("POST", "/api/exchanges/%2F/amq.default/publish", {
          ...message,
          routing_key: queue,
        });
    },
    purge: async (queue) => void (await call("DELETE", `${QUEUES}/${queue}/contents`)),
    counted: (queue, messages) =>
      until(async () => {
        const found = await call("GET", `${QUEUES}/${queue}`);
        return (found as { messages?: number }).messages === messages ? found : undefined;
      }),
    close: async () => {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      // The script and the machine that it runs are one group.
      if (server.pid !== undefined) process.kill(-server.pid, "SIGKILL");
      nameServer.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};
