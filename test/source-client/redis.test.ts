import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { serverCredentials } from "../../lib/embedded/host/certificates.ts";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import type { RedisQuery } from "../../lib/rules/sources/redis.ts";
import { commandBytes, replyAt } from "../../lib/stack/source-client/resp.ts";
import { sourceClient } from "../../lib/stack/source-client/source-client.ts";
import { runs } from "../runs.ts";
import { HAS_REDIS, type RealRedis, realRedis } from "./real-redis.ts";
import { sourceRecord } from "./scene.ts";

const question = (key: string, more: Partial<RedisQuery> = {}): RedisQuery => ({
  for: "redis",
  source: "main",
  key,
  count: "Length",
  database: 0,
  ...more,
});
const group = (key: string, name: string, count: RedisQuery["count"] = "Pending") =>
  question(key, { count, group: name });

let version = 0;
/** The values of the questions, or why they are missing. */
const asked = async (
  source: Partial<MetricSourceRecord>,
  queries: readonly RedisQuery[],
  ownAddresses = true,
): Promise<readonly (number | string | undefined)[]> => {
  const client = sourceClient({ clock: Date.now, ownAddresses });
  version += 1;
  const answers = await client.ask(
    sourceRecord({ kind: "redis", version, keys: ["*", "db1/*", "db3/*", "db999/*"], ...source }),
    queries,
    {
      cluster: "eu-1",
      leftMs: () => 5_000,
    },
  );
  client.close();
  return queries.map((query) => {
    const answer = answers.get(queryKey(query));
    return answer?.kind === "failed"
      ? answer.failure.message
      : answer && Number(answer.items[0]?.milli) / 1000;
  });
};

const DATA: readonly (readonly string[])[] = [
  ["RPUSH", "jobs", "a", "b", "c"],
  ["SADD", "set", "a", "b"],
  ["ZADD", "sorted", "1", "a", "2", "b", "3", "c", "4", "d"],
  ["HSET", "hash", "a", "1"],
  ["SET", "text", "12"],
  ["RPUSH", "spaß \r\n*3", "a"],
  ["XADD", "events", "*", "k", "1"],
  ["XGROUP", "CREATE", "events", "workers", "0"],
  ["XADD", "events", "*", "k", "2"],
  ["XADD", "events", "*", "k", "3"],
  ["XREADGROUP", "GROUP", "workers", "one", "COUNT", "2", "STREAMS", "events", ">"],
];

describe.skipIf(!HAS_REDIS)("a Redis of Debian", () => {
  let redis: RealRedis;
  const url = (): string => `redis://127.0.0.1:${redis.port}`;
  beforeAll(async () => {
    redis = await realRedis();
    for (const command of DATA) redis.send(...command);
    redis.send("-n", "3", "RPUSH", "jobs", "a");
    redis.send("ACL", "SETUSER", "counter", "on", ">s3cret", "~jobs", "+type", "+llen");
  });
  afterAll(() => redis.close());

  it("says how many items a key of each type has, and 0 for a key that does not exist", async () => {
    const keys = ["jobs", "set", "sorted", "hash", "events", "spaß \r\n*3", "none"];
    expect(
      await asked(
        { url: url() },
        keys.map((key) => question(key)),
      ),
    ).toEqual([3, 2, 4, 1, 3, 1, 0]);
  });

  it("says nothing of a key, a stream or a database that the source does not allow", async () => {
    const keys = ["jobs", "ev*"];
    const questions = [
      question("jobs"),
      question("set"),
      question("jobs", { database: 3 }),
      group("events", "workers"),
      group("jobs2", "workers"),
    ];
    expect(await asked({ url: url(), keys }, questions)).toEqual([
      3,
      'source "main" does not allow key "set"',
      'source "main" does not allow key "db3/jobs"',
      2,
      'source "main" does not allow key "jobs2"',
    ]);
    expect(await asked({ url: url(), keys: [] }, [question("jobs")])).toEqual([
      'source "main" does not allow key "jobs"',
    ]);
    expect(await asked({ url: url(), keys: ["db3/j*"] }, questions.slice(0, 3))).toEqual([
      'source "main" does not allow key "jobs"',
      'source "main" does not allow key "set"',
      1,
    ]);
  });

  it("says what a group has read and not acknowledged, and what it has not read", async () => {
    expect(
      await asked({ url: url() }, [group("events", "workers"), group("events", "workers", "Lag")]),
    ).toEqual([2, 1]);
  });

  it("counts in the database that is named, each in a request of its own", async () => {
    expect(
      await asked({ url: url() }, [question("jobs", { database: 3 }), question("jobs")]),
    ).toEqual([1, 3]);
  });

  it.each<readonly [string, RedisQuery, RegExp]>([
    ["a text has no length", question("text"), /neither a list, a set/],
    ["a list has no groups", group("jobs", "workers"), /the key is no stream: WRONGTYPE/],
    ["a group that does not exist", group("events", "nobody"), /no such consumer group.*NOGROUP/],
    ["the lag of one", group("events", "nobody", "Lag"), /the group does not exist/],
    ["a stream that does not exist", group("none", "workers"), /NOGROUP/],
    ["a database that does not exist", question("jobs", { database: 999 }), /database 999 cannot/],
  ])("is missing: %s", async (_what, query, why) => {
    const [of, other] = await asked({ url: url() }, [query, question("jobs")]);
    expect(of).toMatch(why);
    expect(other).toBe(3);
  });

  it("of many keys is asked in one connection for a hundred", async () => {
    const before = Number(
      /total_connections_received:(\d+)/.exec(redis.send("INFO", "stats"))?.[1],
    );
    const queries = Array.from({ length: 250 }, (_, at) => question(`key-${at}`));
    expect(new Set(await asked({ url: url() }, queries))).toEqual(new Set([0]));
    const after = Number(/total_connections_received:(\d+)/.exec(redis.send("INFO", "stats"))?.[1]);
    // One more is the one that looks.
    expect(after - before).toBe(3 + 1);
  });

  it("without TLS is refused where the source is not private, and loopback always", async () => {
    const [plain] = await asked({ url: "redis://cache.example.com" }, [question("jobs")], false);
    expect(plain).toMatch(/must begin with rediss:\/\//);
    for (const host of ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::ffff:7f00:1]"]) {
      const [own] = await asked(
        { url: `redis://${host}:${redis.port}`, private: true },
        [question("jobs")],
        false,
      );
      expect(own).toMatch(/address of this machine|one of this machine/);
    }
  });

  it("that does not listen is missing in words without its address", async () => {
    const [why] = await asked({ url: "redis://127.0.0.1:1" }, [question("jobs")]);
    expect(why).toBe("the source cannot be asked: nothing listens at its address (ECONNREFUSED)");
  });

  describe("with a user of its own", () => {
    const closing: Server[] = [];
    afterEach(() => {
      vi.unstubAllEnvs();
      for (const server of closing.splice(0)) server.close();
    });
    /** Secrets Manager with the one secret of the source, in the form of its API. */
    const secret = async (content: object): Promise<void> => {
      const server = createHttp((request, response) => {
        void text(request).then(() =>
          response.writeHead(200, { "content-type": "application/x-amz-json-1.1" }).end(
            JSON.stringify({
              Name: "tidemark/source.main",
              SecretString: JSON.stringify(content),
            }),
          ),
        );
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      closing.push(server);
      const { port } = server.address() as AddressInfo;
      vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", `http://127.0.0.1:${port}`);
      vi.stubEnv("AWS_REGION", "eu-central-1");
      vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAFUNCTION");
      vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-the-function");
    };
    const auth = { kind: "basic", secretId: "tidemark/source.main" } as const;

    it("counts what the user may read with two commands, and nothing else", async () => {
      await secret({ url: url(), username: "counter", password: "s3cret" });
      const [jobs, set] = await asked({ url: url(), auth }, [question("jobs"), question("set")]);
      expect(jobs).toBe(3);
      expect(set).toMatch(/may not send this command or read this key: NOPERM \(status 403/);
    });

    it("is missing with a wrong password, which is never shown", async () => {
      await secret({ url: url(), username: "counter", password: "wr0ng-word" });
      const [why] = await asked({ url: url(), auth }, [question("jobs")]);
      expect(why).toMatch(/refuses the user or the password: WRONGPASS \(status 401/);
      expect(why).not.toContain("wr0ng");
    });

    it.each(["redis://127.0.0.2:6379", "rediss://127.0.0.1:6379", "http://127.0.0.1:6379"])(
      "gets no secret that is for %s",
      async (other) => {
        await secret({ url: other, username: "counter", password: "s3cret" });
        const [why] = await asked({ url: url(), auth }, [question("jobs")]);
        expect(why).toMatch(/its url is not the address of the source/);
      },
    );
  });
});

describe.skipIf(!HAS_REDIS)("a Redis of Debian with TLS", () => {
  it("is asked where its authority is known, and by no other", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-redis-tls-"));
    const { caPem, certificatePem, keyPem } = await serverCredentials(folder, Date.now());
    const other = mkdtempSync(join(tmpdir(), "tidemark-redis-tls-"));
    const { caPem: otherPem } = await serverCredentials(other, Date.now());
    const file = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const options = [
      ...["--tls-port", "PORT", "--tls-cert-file", file("server.crt", certificatePem)],
      ...["--tls-key-file", file("server.key", keyPem)],
      ...["--tls-ca-cert-file", file("ca.crt", caPem), "--tls-auth-clients", "no"],
    ];
    const redis = await realRedis(options, ["--tls", "--cacert", join(folder, "ca.crt")]);
    try {
      redis.send("RPUSH", "jobs", "a", "b");
      const url = `rediss://127.0.0.1:${redis.port}`;
      const base64 = (pem: string): string => Buffer.from(pem).toString("base64");
      expect(await asked({ url, caData: base64(caPem) }, [question("jobs")])).toEqual([2]);
      const wrong = /its certificate is not signed by a known authority/;
      expect((await asked({ url, caData: base64(otherPem) }, [question("jobs")]))[0]).toMatch(
        wrong,
      );
      expect((await asked({ url }, [question("jobs")]))[0]).toMatch(wrong);
    } finally {
      await redis.close();
      for (const each of [folder, other]) rmSync(each, { recursive: true, force: true });
    }
  });
});

describe.skipIf(!HAS_REDIS)("a Redis Cluster of Debian", () => {
  const nodes: RealRedis[] = [];
  const HALF = 8_192;
  beforeAll(async () => {
    for (let at = 0; at < 2; at++)
      nodes.push(
        await realRedis(["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"]),
      );
    const [one, other] = nodes;
    one?.send("CLUSTER", "ADDSLOTSRANGE", "0", String(HALF - 1));
    other?.send("CLUSTER", "ADDSLOTSRANGE", String(HALF), "16383");
    one?.send("CLUSTER", "MEET", "127.0.0.1", String(other?.port));
    await vi.waitFor(
      () => {
        for (const node of nodes)
          expect(node.send("CLUSTER", "INFO")).toContain("cluster_state:ok");
      },
      { timeout: 20_000, interval: 200 },
    );
    // By CRC16 "foo" is in the upper half of the slots, and "bar" in the lower one.
    one?.send("-c", "RPUSH", "foo", "a", "b", "c");
    one?.send("-c", "RPUSH", "bar", "a", "b");
  }, 40_000);
  afterAll(async () => {
    for (const node of nodes) await node.close();
  });
  const source = (kind: MetricSourceRecord["kind"]) =>
    ({ kind, url: `redis://127.0.0.1:${nodes[0]?.port}` }) as const;
  const both = [question("foo"), question("bar"), question("none")];

  it("is asked at each server that has one of the keys", async () => {
    expect(await asked(source("redis-cluster"), both)).toEqual([3, 2, 0]);
  });

  it("registered as one server lacks the keys of the others, and says what to register", async () => {
    const [foo, bar] = await asked(source("redis"), both);
    expect(foo).toMatch(/register the source as redis-cluster: MOVED/);
    expect(bar).toBe(2);
  });

  it("has database 0 only", async () => {
    const [why] = await asked(source("redis-cluster"), [question("bar", { database: 1 })]);
    expect(why).toMatch(/database 1 cannot be selected/);
  });
});

/** A server that answers every connection with these bytes, in pieces. */
const answering = async (...pieces: readonly string[]) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("data", () => {
      for (const piece of pieces) socket.write(piece);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `redis://127.0.0.1:${port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

describe("a server that answers as no Redis does", () => {
  it.each<readonly [string, readonly string[], RegExp]>([
    ["another protocol", ["HTTP/1.1 400 Bad Request\r\n\r\n"], /what answers there is no Redis/],
    ["a number that is none", [":12a\r\n"], /what answers there is no Redis/],
    ["lists without an end", ["*1\r\n".repeat(9)], /what answers there is no Redis/],
    ["an endless text", [`+${"a".repeat(300_000)}`], /more than 262144 bytes/],
    ["a list of all memory", ["*2000000000\r\n", ":1\r\n"], /within \d+ ms/],
    ["half of an answer", ["+list\r\n:3\r\n"], /within \d+ ms/],
    ["a negative length", ["+list\r\n", ":-1\r\n".repeat(5)], /neither a list/],
    ["no whole number", ["+list\r\n", "+3\r\n".repeat(5)], /neither a list/],
    ["an error with words of its own", ["-EVIL s3cret \u001b[2J\r\n".repeat(6)], /command: EVIL/],
    [
      "a server of a cluster at a metadata service",
      ["-MOVED 1 169.254.169.254:80\r\n".repeat(6)],
      /MOVED/,
    ],
  ])("is missing: %s", async (_what, pieces, why) => {
    const server = await answering(...pieces);
    const [message] = await asked({ url: server.url, timeoutSeconds: 1 }, [question("jobs")]);
    server.close();
    expect(message).toMatch(why);
    expect(message).not.toContain("s3cret");
  });

  it("closes before it answers", async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const [message] = await asked({ url: `redis://127.0.0.1:${port}` }, [question("jobs")]);
    server.close();
    expect(message).toMatch(/the connection broke/);
  });

  it("is read in the same way however its bytes are cut", () => {
    const whole = Buffer.from(
      "*3\r\n$6\r\nnaïve\r\n:12\r\n*2\r\n$-1\r\n-ERR no\r\n+OK\r\n",
      "utf8",
    );
    fc.assert(
      fc.property(fc.nat({ max: whole.length - 1 }), (cut) => {
        const found = replyAt(whole.subarray(0, cut), 0);
        if (found) expect(found.reply).toEqual(["naïve", 12, [null, { error: "ERR no" }]]);
      }),
      runs(100),
    );
    expect(replyAt(whole, 0)?.next).toBe(whole.length - "+OK\r\n".length);
    expect(commandBytes(["LLEN", "naïve"]).toString()).toBe("*2\r\n$4\r\nLLEN\r\n$6\r\nnaïve\r\n");
  });
});
