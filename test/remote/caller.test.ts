import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import { defaultCaller } from "../../lib/answers/remote/caller.ts";

let home = "";
let server: Server | undefined;
const SETTINGS = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_PROFILE",
  "AWS_ENDPOINT_URL",
  "AWS_ENDPOINT_URL_STS",
];

/** A machine without any AWS settings but those of the test. */
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "tidemark-caller-"));
  for (const name of SETTINGS) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  vi.stubEnv("AWS_CONFIG_FILE", join(home, "config"));
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", join(home, "credentials"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
  if (server) await closeServer(server);
  server = undefined;
});

const startSts = async (status: number, body: string): Promise<readonly string[]> => {
  const asked: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push(`${request.headers.authorization?.split("/")[2]} ${await text(request)}`);
    response.writeHead(status, { "content-type": "text/xml" }).end(body);
  };
  server = createServer((request, response) => void answer(request, response));
  vi.stubEnv("AWS_ENDPOINT_URL_STS", await listenOnLoopback(server));
  return asked;
};
const IDENTITY =
  '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/ada</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>';

describe("defaultCaller()", () => {
  it("takes credentials of the environment, and of a profile where there are none", async () => {
    writeFileSync(
      join(home, "credentials"),
      "[ops]\naws_access_key_id = OPS\naws_secret_access_key = of-ops\naws_session_token = token\n",
    );
    vi.stubEnv("AWS_PROFILE", "ops");
    expect(await defaultCaller("eu-central-1").credentials()).toMatchObject({
      accessKeyId: "OPS",
      secretAccessKey: "of-ops",
      sessionToken: "token",
    });
    vi.stubEnv("AWS_PROFILE", undefined);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "ENV");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "of-env");
    expect(await defaultCaller("eu-central-1").credentials()).toMatchObject({
      accessKeyId: "ENV",
      secretAccessKey: "of-env",
    });
  });

  it("says that no credentials were found", async () => {
    await expect(defaultCaller("eu-central-1").credentials()).rejects.toMatchObject({
      code: "remote.credentials",
      message: expect.stringMatching(
        /^Cannot sign requests: no AWS credentials were found; set AWS_PROFILE or sign in \(.+\)$/,
      ),
    });
  });

  it("asks STS in the stack's region for its name", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "ENV");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "of-env");
    const asked = await startSts(200, IDENTITY);
    expect(await defaultCaller("eu-west-3").name()).toBe("arn:aws:iam::123456789012:user/ada");
    expect(asked).toEqual([expect.stringMatching(/^eu-west-3 .*Action=GetCallerIdentity/)]);
  });

  it("is known by its access key where STS does not say", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "ENV");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "of-env");
    const asked = await startSts(
      403,
      "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>",
    );
    expect(await defaultCaller("eu-west-3").name()).toBe("access key ENV");
    expect(asked.length).toBe(1);
  });
});
