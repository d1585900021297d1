import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { authority } from "../cluster/stand-in/certificates.ts";
import { stackAnswer, startCloudFormation } from "../remote/stand-in/cloudformation.ts";
import { startTlsFront } from "../remote/stand-in/tls-front.ts";
import { remoteWorld } from "../remote/world.ts";
import { startRunIn, tidemarkIn } from "./start-process.ts";

const closing: (() => Promise<void>)[] = [];
let here: string;
beforeAll(() => {
  here = mkdtempSync(join(tmpdir(), "tidemark-checkout-"));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.reverse()) await close();
  rmSync(here, { recursive: true, force: true });
});

const FREEZE = ["fleet", "freeze", "--reason", "incident 4711"];

describe("the freeze of the runbook, in a checkout in which npm start has run", {
  timeout: 180_000,
}, () => {
  it("stops production by signed requests over TLS, and leaves the demonstration as it is; without a named target, or with a certificate that nobody trusts, it is refused", async () => {
    const [world, cloudFormation, root] = await Promise.all([
      remoteWorld(),
      startCloudFormation(),
      authority(),
    ]);
    closing.push(world.close, cloudFormation.close);
    world.url.nowMs = Date.now;
    world.viewUrl.nowMs = Date.now;
    const secured = async (url: string, options = {}): Promise<string> => {
      const front = await startTlsFront(url, root, options);
      closing.push(front.close);
      return front.url;
    };
    const [account, view, api] = [
      await secured(cloudFormation.url),
      await secured(world.viewUrl.url),
      await secured(world.url.url),
    ];
    const outputs = { ViewLambdaFunctionUrl: `${view}/`, ApiLambdaFunctionUrl: `${api}/` };
    cloudFormation.answer = stackAnswer(outputs);
    expect((await startRunIn(here, ["--for", "1m", "--speed", "100000"]).ended).code).toBe(0);
    writeFileSync(join(here, "ca.pem"), root.ca);
    vi.stubEnv("NODE_EXTRA_CA_CERTS", join(here, "ca.pem"));
    vi.stubEnv("TIDEMARK_STACK", undefined);
    vi.stubEnv("AWS_ENDPOINT_URL_CLOUDFORMATION", account);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "ADA");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "ada's secret");
    vi.stubEnv("AWS_REGION", "eu-central-1");
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");

    const refused = await tidemarkIn(here, FREEZE);
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toContain("Cannot choose between the data folder");

    // The line that every runbook begins with.
    vi.stubEnv("TIDEMARK_STACK", "tidemark-prod");
    for (const wrong of [{ expired: true }, { host: "another.example" }] as const) {
      cloudFormation.answer = stackAnswer({
        ...outputs,
        ApiLambdaFunctionUrl: `${await secured(world.url.url, wrong)}/`,
      });
      const untrusted = await tidemarkIn(here, FREEZE);
      expect([untrusted.code, untrusted.out]).toEqual([1, expect.not.stringContaining("frozen")]);
      expect(untrusted.err).toMatch(
        /its certificate is not accepted \((CERT_HAS_EXPIRED|ERR_TLS_CERT_ALTNAME_INVALID)\), and nothing was sent/,
      );
    }
    expect([world.url.requests(), world.viewUrl.requests()]).toEqual([0, 0]);
    cloudFormation.answer = stackAnswer(outputs);

    const frozen = await tidemarkIn(here, FREEZE);
    expect([frozen.code, frozen.out]).toEqual([0, expect.stringContaining("Fleet frozen")]);
    expect(`${frozen.out}${frozen.err}`).toContain("tidemark-prod");
    expect((await tidemarkIn(here, ["fleet", "describe"])).out).toContain("incident 4711");
    expect((await tidemarkIn(here, ["fleet", "describe", "--data", ".tidemark"])).out).toContain(
      "not frozen",
    );
    expect(world.url.events[0]?.headers["host"]).toBe(new URL(api).host);
  });
});
