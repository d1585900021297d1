import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RemoteWorld, remoteWorld } from "../remote/world.ts";
import type { Said } from "./folder.ts";

let world: RemoteWorld;
let dir: string;
beforeAll(async () => {
  world = await remoteWorld();
  dir = mkdtempSync(join(tmpdir(), "tidemark-signed-"));
});
afterAll(async () => {
  await world.close();
  rmSync(dir, { recursive: true, force: true });
});

describe("the command as a process, on a stack", () => {
  const TIDEMARK = join(import.meta.dirname, "../../bin/tidemark.js");
  const run = async (
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<Said> => {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [TIDEMARK, ...args], {
      env: { PATH, HOME: HOME ?? "/", AWS_EC2_METADATA_DISABLED: "true", ...env },
    });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, out, err };
  };

  it("signs with what the environment has, and says what is missing without it", async () => {
    world.url.nowMs = Date.now;
    const keys = { AWS_ACCESS_KEY_ID: "ADA", AWS_SECRET_ACCESS_KEY: "ada's secret" };
    const good = await run(["get", "shop/web", "-o", "json"], {
      ...keys,
      TIDEMARK_URL: world.url.url,
    });
    expect([good.code, good.err, JSON.parse(good.out).status.currentReplicas]).toEqual([0, "", 9]);
    // The completion of a shell sends one request of its own.
    for (const [words, wanted] of [
      [
        ["get", ""],
        ["web", "shop/web", "batch/jobs"],
      ],
      [
        ["get", "-n", ""],
        ["batch", "infra", "shop"],
      ],
      [
        ["get", "--cluster", "eu-1", "-n", ""],
        ["infra", "shop"],
      ],
      [
        ["cluster", "describe", ""],
        ["eu-1", "us-1"],
      ],
      [["partition", "describe", "u"], ["us-1/default"]],
      [["calendar", "delete", ""], []],
      [["override", "clear", ""], []],
    ] as const) {
      const { code, out, err } = await run(
        ["__complete", "--stack", world.url.url, ...words],
        keys,
      );
      const offered = out.trimEnd().split("\n");
      expect([words, code, err, offered]).toEqual([
        words,
        0,
        "",
        expect.arrayContaining([...wanted, ":4"]),
      ]);
    }
    const wrong = await run(["fleet", "describe", "--stack", world.url.url], {
      ...keys,
      AWS_SECRET_ACCESS_KEY: "x",
    });
    expect([wrong.code, wrong.err]).toEqual([
      1,
      expect.stringContaining("the signature does not match"),
    ]);
    const none = await run(["fleet", "describe", "--stack", world.url.url], {
      AWS_CONFIG_FILE: dir,
      AWS_SHARED_CREDENTIALS_FILE: dir,
    });
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringMatching(
        /^error: Cannot sign requests: no AWS credentials were found; set AWS_PROFILE or sign in /,
      ),
    ]);
  });
});
