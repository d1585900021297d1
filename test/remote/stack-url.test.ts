import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { signedHeaders } from "../../lib/answers/remote/send-request.ts";
import { stackUrl } from "../../lib/answers/remote/find-stack.ts";
import { type SignedRequest, verdictOn } from "./stand-in/signature.ts";
import { credentialsOf, IDENTITIES } from "./world.ts";

describe("stackUrl()", () => {
  it.each([
    [
      "https://abc123.lambda-url.eu-central-1.on.aws",
      "abc123.lambda-url.eu-central-1.on.aws",
      "eu-central-1",
    ],
    [
      "https://abc123.lambda-url.us-gov-west-1.on.aws/",
      "abc123.lambda-url.us-gov-west-1.on.aws",
      "us-gov-west-1",
    ],
    ["http://127.0.0.1:4000", "127.0.0.1:4000", "local"],
  ])("takes the region of %s from its host", (text, host, region) => {
    expect(stackUrl(text, "--stack")).toEqual({
      origin: text.replace(/\/$/, ""),
      host,
      region,
      from: "--stack",
    });
  });

  it.each([
    "abc123.lambda-url.eu-central-1.on.aws",
    "http://abc123.lambda-url.eu-central-1.on.aws",
    "https://abc123.lambda-url.eu-central-1.on.aws.example.com",
    "https://example.com",
    "https://abc123.lambda-url.eu-central-1.on.aws/v1",
    "https://abc123.lambda-url.eu-central-1.on.aws?x=1",
    "https://me:pass@abc123.lambda-url.eu-central-1.on.aws",
    "https://abc123.lambda-url.eu-central-1.on.aws:8443",
    "",
  ])("refuses %j: another host could use the signature", (text) => {
    expect(() => stackUrl(text, "TIDEMARK_URL")).toThrow(
      expect.objectContaining({
        code: "cli.usage",
        message: `Cannot use TIDEMARK_URL "${text}": wanted the function URL of a stack, such as "https://abc123.lambda-url.eu-central-1.on.aws"`,
      }),
    );
  });
});

describe("signedHeaders()", () => {
  const NOW = Date.UTC(2026, 2, 1, 12);
  const place = { host: "abc123.lambda-url.eu-central-1.on.aws", region: "eu-central-1" };
  const signedBy = async (key: string, body: string): Promise<SignedRequest> => {
    const headers = await signedHeaders(
      {
        method: "POST",
        path: "/v1/apply",
        query: { a: "b c" },
        headers: { "idempotency-key": "k" },
        body,
      },
      place,
      credentialsOf(key),
      NOW,
    );
    return {
      method: "POST",
      url: "/v1/apply?a=b%20c",
      headers: { ...headers, host: place.host },
      body: Buffer.from(body),
    };
  };

  it("never lets anything pass that was changed on its way", async () => {
    const good = await signedBy("GRACE", "{}");
    expect(await verdictOn(good, IDENTITIES, NOW)).toMatchObject({
      kind: "known",
      accessKey: "GRACE",
    });
    const changes: readonly Partial<SignedRequest>[] = [
      { method: "GET" },
      { url: "/v1/apply?a=b%20d" },
      { url: "/v1/fleet/thaw?a=b%20c" },
      { body: Buffer.from("{ }") },
      { headers: { ...good.headers, host: "other.lambda-url.eu-central-1.on.aws" } },
      { headers: { ...good.headers, "idempotency-key": "another" } },
      { headers: { ...good.headers, "x-amz-security-token": "another" } },
      { headers: { ...good.headers, "x-amz-date": "20260301T120001Z" } },
      { headers: { host: place.host } },
    ];
    for (const change of changes)
      expect((await verdictOn({ ...good, ...change }, IDENTITIES, NOW)).kind).toBe("refused");
  });

  it("always signs what comes, whatever the body", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (body) => {
        expect(await verdictOn(await signedBy("ADA", body), IDENTITIES, NOW)).toMatchObject({
          kind: "known",
        });
      }),
      { numRuns: 50 },
    );
  });
});
