import { mkdtemp, rm, writeFile } from "node:fs/promises";
import {
  createServer as createPlain,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { createServer as createTls } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ON_THIS_MACHINE } from "../../lib/stack/cluster/access/kubeconfig-file.ts";
import { NOTHING_TRUSTED } from "../../lib/stack/cluster/access/access.ts";
import { askRecommender } from "../../lib/stack/cluster/recommender.ts";
import { MAX_RECOMMENDER_BYTES } from "../../lib/stack/cluster/request-limits.ts";
import type { Recommender } from "../../lib/rules/model/spec-watermark.ts";
import { type Authority, authority } from "./stand-in/certificates.ts";

const REPLY = {
  targetReplicas: 6,
  lowerBoundReplicas: 4,
  upperBoundReplicas: 8,
  reason: "night time",
  observedTargets: [{ type: "cpu", targetValue: 0.75 }],
};
const READ = {
  replicas: 6,
  lowerBoundReplicas: 4,
  upperBoundReplicas: 8,
  observedValue: 0.75,
  reason: "night time",
};
const REQUEST = { targetRef: { name: "web" } };

let ca: Authority;
let folder: string;
let caFile: string;
beforeAll(async () => {
  ca = await authority();
  folder = await mkdtemp(join(tmpdir(), "recommender-"));
  caFile = join(folder, "ca.pem");
  await writeFile(caFile, ca.ca);
});
afterAll(() => rm(folder, { recursive: true }));

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

const listening = async (server: Server, scheme: string): Promise<string> => {
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/v1?x=1`;
};
const plain = (handler: RequestListener): Promise<string> =>
  listening(createPlain(handler), "http");
const secure = async (
  handler: RequestListener,
  options: Record<string, unknown> = {},
): Promise<string> =>
  listening(createTls({ ...(await ca.issue("recommender")), ...options }, handler), "https");

const recommender = (url: string, tls: Recommender["tls"] = {}): Recommender => ({
  url,
  targetType: "cpu",
  settings: {},
  highMilli: 800n,
  lowMilli: 400n,
  tls,
});
const replying: RequestListener = (_, response) => response.end(JSON.stringify(REPLY));
const bodyOf = async (request: IncomingMessage): Promise<unknown> =>
  JSON.parse(Buffer.concat(await request.toArray()).toString());
const messageOf = async (asked: Recommender, timeoutMs = 2_000): Promise<string> => {
  const answer = await askRecommender(ON_THIS_MACHINE, asked, REQUEST, timeoutMs);
  return answer.kind === "failed" ? answer.failure.message : "it was answered";
};

describe("askRecommender()", () => {
  it("posts JSON once and reads the reply", async () => {
    const seen: unknown[] = [];
    const url = await plain((request, response) => {
      void bodyOf(request).then((body) => {
        seen.push([request.method, request.url, request.headers["content-type"], body]);
        replying(request, response);
      });
    });
    expect(await askRecommender(ON_THIS_MACHINE, recommender(url), REQUEST, 2_000)).toEqual({
      kind: "answered",
      items: READ,
    });
    expect(seen).toEqual([["POST", "/v1?x=1", "application/json", REQUEST]]);
  });

  it("trusts the authority of its caFile, and none without it", async () => {
    const url = await secure(replying);
    expect(
      await askRecommender(ON_THIS_MACHINE, recommender(url, { caFile }), REQUEST, 2_000),
    ).toEqual({ kind: "answered", items: READ });
    expect(await messageOf(recommender(url))).toContain("certificate");
  });

  it("fails with a caFile that cannot be read", async () =>
    expect(
      await messageOf(recommender(await secure(replying), { caFile: join(folder, "none.pem") })),
    ).toContain("ENOENT"));

  it("shows its own certificate where the recommender asks for one", async () => {
    const url = await secure(replying, { ca: ca.ca, requestCert: true, rejectUnauthorized: true });
    const { cert, key } = await ca.issue("tidemark");
    const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    await writeFile(certFile, cert);
    await writeFile(keyFile, key);
    expect(
      await askRecommender(
        ON_THIS_MACHINE,
        recommender(url, { caFile, certFile, keyFile }),
        REQUEST,
        2_000,
      ),
    ).toEqual({
      kind: "answered",
      items: READ,
    });
    expect(await messageOf(recommender(url, { caFile }))).not.toBe("it was answered");
  });

  it("keeps to the protocol versions that it is given", async () => {
    const url = await secure(replying, { maxVersion: "TLSv1.2" });
    expect(await messageOf(recommender(url, { caFile, minVersion: "TLS13" }))).not.toBe(
      "it was answered",
    );
    expect(await messageOf(recommender(url, { caFile, minVersion: "TLS12" }))).toBe(
      "it was answered",
    );
  });

  it.each([
    ["another status", 500, "oh no", "unexpected response code: 500 (5 bytes)"],
    ["a redirect, which is not followed", 303, "", "unexpected response code: 303 (0 bytes)"],
    [
      "a body that is no JSON",
      200,
      "<html>",
      "error unmarshaling response: the body is not a JSON object",
    ],
    [
      "a field that it does not know",
      200,
      '{"targetReplicas":1,"shards":2}',
      "error unmarshaling response: it has a field that no reply has",
    ],
    [
      "an error of the recommender",
      200,
      '{"error":{"code":3,"message":"no data"}}',
      "error from recommender: 3",
    ],
    [
      "a count that is no count",
      200,
      '{"targetReplicas":1.5}',
      "error unmarshaling response: a count is not a 32-bit integer",
    ],
  ])("fails at %s", async (_, status, text, message) => {
    const url = await plain((_request, response) =>
      response.writeHead(status, { location: "http://127.0.0.1:1/" }).end(text),
    );
    expect(await messageOf(recommender(url))).toBe(message);
  });

  it("asks no address with a user or a password, and shows neither", async () => {
    let asked = 0;
    const url = await plain((request, response) => {
      asked++;
      replying(request, response);
    });
    const message = await messageOf(recommender(url.replace("://", "://admin:secret@")));
    expect(message).toContain("its URL has a user or a password");
    expect(message).not.toContain("secret");
    expect(asked).toBe(0);
  });

  it("gives up at its deadline", async () => {
    const url = await plain(() => undefined);
    expect(await messageOf(recommender(url), 100)).toContain(
      `Cannot ask the recommender at ${url.replace("?x=1", "")}`,
    );
  });

  it("gives up on an answer without end", async () => {
    const url = await plain((_, response) => response.end("x".repeat(MAX_RECOMMENDER_BYTES + 1)));
    expect(await messageOf(recommender(url))).toContain(
      `the answer is larger than ${MAX_RECOMMENDER_BYTES} bytes`,
    );
  });

  it("fails where no server listens", async () =>
    expect(await messageOf(recommender("http://127.0.0.1:1/"))).toContain("ECONNREFUSED"));

  it.each([
    ["http://127.0.0.1:9001/", "127.0.0.1 is an address of this machine"],
    ["http://[::1]:9001/", "::1 is an address of this machine"],
    ["http://[::ffff:127.0.0.1]:9001/", "an address of this machine"],
    ["http://169.254.169.254/latest/meta-data", "169.254.169.254 is an address of this machine"],
    ["http://0.0.0.0:9001/", "0.0.0.0 is an address of this machine"],
    ["http://2130706433:9001/", "127.0.0.1 is an address of this machine"],
    ["http://localhost:9001/", "localhost is"],
  ])("never asks the function's own addresses: %s", async (url, message) => {
    const answer = await askRecommender(NOTHING_TRUSTED, recommender(url), REQUEST, 2_000);
    expect(answer.kind === "failed" && answer.failure.message).toContain(message);
  });

  it("never reads the function's own files", async () => {
    const answer = await askRecommender(
      NOTHING_TRUSTED,
      recommender("https://recommender.example/", { keyFile: "/proc/self/environ" }),
      REQUEST,
      2_000,
    );
    expect(answer.kind === "failed" && answer.failure.message).toContain(
      'names the file "/proc/self/environ"',
    );
  });
});
