import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { stackAnswer, startCloudFormation } from "../remote/stand-in/cloudformation.ts";
import { remoteWorld } from "../remote/world.ts";
import { startRunIn, tidemarkIn } from "./start-process.ts";

let here: string;
beforeAll(() => {
  here = mkdtempSync(join(tmpdir(), "tidemark-checkout-"));
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(here, { recursive: true, force: true });
});

describe("the freeze of the runbook, in a checkout in which npm start has run", { timeout: 180_000 }, () => {
  it("stops production by signed requests, and leaves the demonstration as it is; without a named target it is refused", async () => {
    const [world, cloudFormation] = await Promise.all([remoteWorld(), startCloudFormation()]);
    try {
      world.url.nowMs = Date.now;
      world.viewUrl.nowMs = Date.now;
      expect((await startRunIn(here, ["--for", "1m", "--speed", "100000"]).ended).code).toBe(0);
      cloudFormation.answer = stackAnswer({ ViewLambdaFunctionUrl: `${world.viewUrl.url}/`, ApiLambdaFunctionUrl: `${world.url.url}/` });
      vi.stubEnv("TIDEMARK_STACK", undefined);
      vi.stubEnv("AWS_ENDPOINT_URL_CLOUDFORMATION", cloudFormation.url);
      vi.stubEnv("AWS_ACCESS_KEY_ID", "ADA");
      vi.stubEnv("AWS_SECRET_ACCESS_KEY", "ada's secret");
      vi.stubEnv("AWS_REGION", "eu-central-1");
      vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
      const freeze = ["fleet", "freeze", "--reason", "incident 4711"];

      const refused = await tidemarkIn(here, freeze);
      expect([refused.code, refused.out]).toEqual([1, ""]);
      expect(refused.err).toContain("Cannot choose between the data folder");

      // The line that every runbook begins with.
      vi.stubEnv("TIDEMARK_STACK", "tidemark-prod");
      const frozen = await tidemarkIn(here, freeze);
      expect([frozen.code, frozen.out]).toEqual([0, expect.stringContaining("Fleet frozen")]);
      expect(`${frozen.out}${frozen.err}`).toContain("tidemark-prod");
      expect((await tidemarkIn(here, ["fleet", "describe"])).out).toContain("incident 4711");
      expect((await tidemarkIn(here, ["fleet", "describe", "--data", ".tidemark"])).out).toContain("not frozen");
    } finally {
      await world.close();
      await cloudFormation.close();
    }
  });
});
