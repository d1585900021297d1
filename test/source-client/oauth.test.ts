import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { directSender } from "../../lib/stack/source-client/direct.ts";
import { type ClientCredentials, tokenOf } from "../../lib/stack/source-client/oauth.ts";
import { sourceRecord } from "./scene.ts";

/** A real HTTP server in the place of a token server; what it answers is up to the test. */
const tokenServer = async () => {
  const seen: { method: string; url: string; headers: IncomingHttpHeaders; form: object }[] = [];
  const state = {
    status: 200,
    body: JSON.stringify({ access_token: "t-1", token_type: "Bearer" }),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      seen.push({ method, url, headers, form });
      response.writeHead(state.status, { location: "http://127.0.0.1:1/" }).end(state.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
};

const SECRET = "s3cret/+&=";

describe("a token of a client", () => {
  let server: Awaited<ReturnType<typeof tokenServer>>;
  beforeEach(async () => {
    server = await tokenServer();
  });
  afterEach(() => server.close());

  const asked = async (more: Partial<ClientCredentials> = {}, ownAddresses = true) => {
    const direct = directSender({ ownAddresses });
    try {
      return await tokenOf(
        { tokenUrl: `${server.url}/t/token?v=2`, clientId: "app", clientSecret: SECRET, ...more },
        sourceRecord(),
        { direct, ownAddresses, refuse: (why) => new Error(why) },
      );
    } finally {
      direct.close();
    }
  };

  it("is asked for with the client in the body, and lives as long as the server says", async () => {
    server.body = JSON.stringify({ access_token: "t-1", token_type: "bearer", expires_in: 3599 });
    expect(await asked({ scope: "a b", audience: "x" })).toEqual({
      authorization: "Bearer t-1",
      lifeMs: 3_599_000,
    });
    expect(server.seen).toMatchObject([
      {
        method: "POST",
        url: "/t/token?v=2",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        form: {
          grant_type: "client_credentials",
          client_id: "app",
          client_secret: SECRET,
          scope: "a b",
          audience: "x",
        },
      },
    ]);
  });

  it("is asked for with the client in a header", async () => {
    await asked({ clientAuth: "basic" });
    expect(server.seen[0]?.form).toEqual({ grant_type: "client_credentials" });
    expect(server.seen[0]?.headers.authorization).toBe(
      `Basic ${btoa(`app:${encodeURIComponent(SECRET)}`)}`,
    );
  });

  it("lives for five minutes where the server does not say how long", async () => {
    expect((await asked()).lifeMs).toBe(300_000);
  });

  it.each<readonly [string, number, string, RegExp]>([
    [
      "a refusal",
      401,
      '{"error":"invalid_client"}',
      /answered 401 \(invalid_client\); check tokenUrl/,
    ],
    [
      "a refusal of words of its own",
      400,
      '{"error":"your secret is s3cret"}',
      /answered 400; check/,
    ],
    ["a redirect", 302, "", /answered 302; check/],
    ["a page", 200, "<html>", /did not answer with an access_token of the type Bearer/],
    [
      "a token of another type",
      200,
      '{"access_token":"x","token_type":"mac"}',
      /of the type Bearer/,
    ],
    [
      "a token with a line",
      200,
      '{"access_token":"x\\ny: z","token_type":"Bearer"}',
      /of the type Bearer/,
    ],
    ["no token", 200, '{"token_type":"Bearer"}', /of the type Bearer/],
    [
      "a life of nothing",
      200,
      '{"access_token":"x","token_type":"Bearer","expires_in":0}',
      /Bearer/,
    ],
    ["an endless answer", 200, "x".repeat(300 * 1024), /larger than/],
  ])("is none for %s, and nothing of the answer is said", async (_what, status, body, words) => {
    Object.assign(server, { status, body });
    const error = await asked().catch((failed: Error) => failed.message);
    expect(error).toMatch(words);
    expect(error).not.toMatch(/s3cret|127\.0\.0\.1|html/);
    expect(server.seen).toHaveLength(1);
  });

  it("is not asked for without TLS, on this machine, or with a user in its URL", async () => {
    const refusal = (more: Partial<ClientCredentials>) =>
      asked(more, false).catch((failed: Error) => failed.message);
    expect(await refusal({})).toBe("its tokenUrl must begin with https://");
    expect(await refusal({ tokenUrl: "https://127.0.0.1/token" })).toMatch(
      /^the token server of its secret cannot be asked: its address is one of this machine/,
    );
    expect(await refusal({ tokenUrl: "https://169.254.169.254/token" })).toMatch(
      /metadata service/,
    );
    expect(await refusal({ tokenUrl: "https://10.0.0.1/token" })).toMatch(/private network/);
    expect(await refusal({ tokenUrl: "https://u:p@login.example.com/token" })).toMatch(
      /its URL has a user or a password/,
    );
    expect(await refusal({ tokenCaData: "no" })).toBe("its tokenUrl must begin with https://");
    expect(await refusal({ tokenUrl: "https://a", tokenCaData: "no" })).toBe(
      "its tokenCaData is no certificate in PEM",
    );
    expect(server.seen).toEqual([]);
  });
});
