import { afterEach, describe, expect, it, vi } from "vitest";
import { defaultProvider } from "../../lib/lambda/role-credentials.ts";

afterEach(() => vi.unstubAllEnvs());

describe("the credentials of a function", () => {
  it("are those of its role, which Lambda gives in the environment", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "key");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    vi.stubEnv("AWS_SESSION_TOKEN", "token");
    expect(await defaultProvider()()).toEqual({
      accessKeyId: "key",
      secretAccessKey: "secret",
      sessionToken: "token",
    });
  });

  it("are missed in words where the environment has none", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "");
    await expect(defaultProvider()()).rejects.toThrow(
      "Cannot sign requests to AWS: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, and Lambda sets both",
    );
  });
});
