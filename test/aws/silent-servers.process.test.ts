import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  answering,
  BROKEN,
  type BrokenServer,
  brokenServer,
  deadAfterOne,
  within,
} from "./broken-server.ts";
import { CLIENTS, type Client } from "./each-client.ts";

/** Waits between attempts, and a busy machine. */
const SLACK_MS = 4_000;
const STILL_WAITING = "still waiting";

interface Outcome {
  readonly given?: unknown;
  readonly error?: unknown;
}

const outcomeOf = (call: Promise<unknown>): Promise<Outcome> =>
  call.then(
    (given) => ({ given }),
    (error: unknown) => ({ error }),
  );

const servers: BrokenServer[] = [];
const outcomes = new Map<string, Promise<Outcome>>();
const keyOf = (client: Client, what: string): string => `${client.name}: ${what}`;

/**
 * The SDK reads its endpoint from the environment at its first request, so the next call begins
 * when this one has reached its server. All of them wait side by side.
 */
const started = async (client: Client, what: string, server: BrokenServer): Promise<void> => {
  servers.push(server);
  vi.stubEnv("AWS_ENDPOINT_URL", server.endpoint);
  outcomes.set(
    keyOf(client, what),
    outcomeOf(within(client.limitMs + SLACK_MS, client.newCall(server.endpoint)())),
  );
  await server.reached;
};

beforeAll(async () => {
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
  for (const client of CLIENTS) {
    for (const [what, behaviour] of BROKEN)
      await started(client, what, await brokenServer(behaviour(client.answer())));
  }
}, 60_000);

afterAll(async () => {
  vi.unstubAllEnvs();
  for (const server of servers) await server.close();
});

describe.each(CLIENTS.map((client) => [client.name, client] as const))(
  "the client of %s",
  (_name, client) => {
    it.each(BROKEN.map(([what]) => what))(
      "ends by its limit where the server %s",
      { timeout: 30_000 },
      async (what) => {
        const outcome = await outcomes.get(keyOf(client, what));
        expect(String(outcome?.error)).not.toContain(STILL_WAITING);
        if ("without" in client) expect(outcome).toEqual({ given: client.without });
        else expect(outcome?.error).toBeInstanceOf(Error);
      },
    );

    it("goes on by a new connection where the old one went dead while the environment was frozen", {
      timeout: 30_000,
    }, async () => {
      const whole = client.answer();
      const server = await brokenServer(deadAfterOne(whole), answering(whole));
      servers.push(server);
      vi.stubEnv("AWS_ENDPOINT_URL", server.endpoint);
      const call = client.newCall(server.endpoint);
      const first = await within(client.limitMs + SLACK_MS, call());
      if (client.once) await outcomeOf(within(client.limitMs + SLACK_MS, call()));
      expect(await within(client.limitMs + SLACK_MS, call())).toEqual(first);
      expect(server.connections.length).toBeGreaterThan(1);
    });
  },
);
