import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ON_THIS_MACHINE } from "../../../lib/stack/cluster/access/kubeconfig-file.ts";
import { NOTHING_TRUSTED } from "../../../lib/stack/cluster/access/access.ts";
import { connect } from "../../../lib/stack/cluster/connect.ts";
import { clusterName, namespace } from "../../../lib/rules/model/ids.ts";
import type { Connection } from "../../../lib/rules/model/records.ts";
import { type AwsEndpoint, awsEndpoint } from "../stand-in/aws.ts";
import { deployment } from "../stand-in/watched.ts";
import { brokenSecrets, MARKER } from "./broken-secrets.ts";
import { runs } from "../../runs.ts";

let aws: AwsEndpoint;
let folder: string;
beforeAll(async () => {
  aws = await awsEndpoint();
  folder = mkdtempSync(join(tmpdir(), "broken-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await aws.close();
});

/** Everything that reached the process's output beside what was thrown. */
let output: string[];
const onWarning = (warning: Error): void =>
  void output.push(inspect(warning, { depth: Infinity, showHidden: true }));
beforeEach(() => {
  output = [];
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", aws.url);
  process.on("warning", onWarning);
  for (const method of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, method).mockImplementation(
      (...told: readonly unknown[]) => void output.push(inspect(told, { depth: Infinity })),
    );
  }
});
afterEach(() => {
  process.off("warning", onWarning);
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/**
 * What connecting and one read tell: the failure, or the error with its stack, its hidden fields
 * and every cause.
 */
const toldBy = async (
  connection: Connection,
  trusted = { ...NOTHING_TRUSTED, ownAddresses: true },
): Promise<string> => {
  try {
    const client = await connect(
      { name: clusterName("eu-1"), kubeSystemUid: undefined, connection },
      { clock: Date.now, trusted },
    );
    const reading = await client.readScale(namespace("shop"), deployment("web"), 200);
    client.close();
    return inspect(reading, { depth: Infinity, showHidden: true });
  } catch (error) {
    return inspect(error, { depth: Infinity, showHidden: true });
  }
};

describe("a broken secret", () => {
  it("is never quoted: not in a message, a stack, a cause, a warning or on the console", async () => {
    await fc.assert(
      fc.asyncProperty(brokenSecrets, async (content) => {
        aws.answer = () => ({
          status: 200,
          type: "application/x-amz-json-1.1",
          body: JSON.stringify({ Name: "tidemark/eu-1", SecretString: content }),
        });
        const told = await toldBy({ kind: "secret", secretId: "tidemark/eu-1" });
        // Warnings are emitted on the next turn.
        await new Promise(setImmediate);
        expect(told + output.join("\n")).not.toContain(MARKER);
        expect(told).toMatch(/kind: 'failed'|TidemarkError: Cannot use secret/);
      }),
      runs(50),
    );
  }, 60_000);

  it("is never quoted where the answer of Secrets Manager itself is cut off", async () => {
    await fc.assert(
      fc.asyncProperty(
        brokenSecrets,
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (content, share) => {
          const body = JSON.stringify({
            Name: "tidemark/eu-1",
            SecretString: `${MARKER}${content}`,
          });
          aws.answer = () => ({
            status: 200,
            type: "application/x-amz-json-1.1",
            body: body.slice(0, Math.floor(share * body.length)),
          });
          expect(await toldBy({ kind: "secret", secretId: "tidemark/eu-1" })).not.toContain(MARKER);
        },
      ),
      runs(10),
    );
  }, 60_000);

  it("is never quoted where it is a kubeconfig file of one's own machine", async () => {
    const path = join(folder, "config");
    await fc.assert(
      fc.asyncProperty(
        // Names of contexts are told there, and programs are run: neither of them is made of the
        // secret.
        brokenSecrets.filter(
          (content) =>
            !content.includes("exec") && !/name"?: *["']*Zq7|contexts"?: *[[{]*Zq7/.test(content),
        ),
        async (content) => {
          writeFileSync(path, content);
          const told = await toldBy({ kind: "kubeconfig", path }, ON_THIS_MACHINE);
          await new Promise(setImmediate);
          expect(told + output.join("\n")).not.toContain(MARKER);
        },
      ),
      runs(25),
    );
  }, 60_000);
});
