import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { NOTHING_TRUSTED } from "../../../lib/stack/cluster/access/access.ts";
import { connect } from "../../../lib/stack/cluster/connect.ts";
import { clusterName, namespace } from "../../../lib/rules/model/ids.ts";
import { type AwsEndpoint, awsEndpoint } from "../stand-in/aws.ts";
import { type Kubernetes, kubernetes, workload } from "../stand-in/kubernetes.ts";
import { deployment } from "../stand-in/watched.ts";

/**
 * Kubeconfigs in a secret as an attacker would write them: each would run a program that leaves a
 * file, or send the content of a file to the server.
 */
let aws: AwsEndpoint;
let server: Kubernetes;
let folder: string;
let ran: string;
let program: string;
let secretFile: string;
beforeEach(async () => {
  [aws, server] = await Promise.all([awsEndpoint(), kubernetes()]);
  server.collections.set("/apis/apps/v1/deployments", [workload("shop", "web")]);
  folder = mkdtempSync(join(tmpdir(), "hostile-"));
  ran = join(folder, "ran");
  program = file(
    "program.sh",
    `#!/bin/sh\ntouch "${ran}"\necho '{"token":"t","expiry":"2099-01-01T00:00:00Z","access_token":"t","status":{"token":"t"}}'\n`,
  );
  chmodSync(program, 0o700);
  secretFile = file("secret", "content-of-a-file");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", aws.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
  await Promise.all([aws.close(), server.close()]);
});

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const base64 = (text: string): string => Buffer.from(text).toString("base64");

const kubeconfig = ({
  user = {},
  cluster = {},
  context = {},
  top = {},
  unselected = {},
}: Partial<Record<string, object>>) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "main",
  clusters: [
    {
      name: "one",
      cluster: { server: server.url, "certificate-authority-data": base64(server.ca), ...cluster },
    },
  ],
  users: [
    { name: "me", user: { token: "t0ken", ...user } },
    { name: "not selected", user: { token: "t0ken", ...unselected } },
  ],
  contexts: [{ name: "main", context: { cluster: "one", user: "me", ...context } }],
  ...top,
});

/** Connects and reads a scale as the sync would; gives the message of what failed. */
const attempt = async (content: string): Promise<string> => {
  aws.answer = () => ({
    status: 200,
    type: "application/x-amz-json-1.1",
    body: JSON.stringify({ Name: "tidemark/eu-1", SecretString: content }),
  });
  const trusted = { ...NOTHING_TRUSTED, ownAddresses: true };
  try {
    const client = await connect(
      {
        name: clusterName("eu-1"),
        kubeSystemUid: undefined,
        connection: { kind: "secret", secretId: "tidemark/eu-1" },
      },
      { clock: Date.now, trusted },
    );
    const reading = await client.readScale(namespace("shop"), deployment("web"), 3_000);
    client.close();
    return reading.kind;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const gcp = () => ({
  name: "gcp",
  config: {
    "cmd-path": program,
    "cmd-args": "x",
    "token-key": "{.token}",
    "expiry-key": "{.expiry}",
  },
});
const exec = () => ({
  apiVersion: "client.authentication.k8s.io/v1",
  command: program,
  interactiveMode: "Never",
});

describe("a kubeconfig in a secret", () => {
  it("is used where it contains all that it needs", async () =>
    expect(await attempt(stringify(kubeconfig({})))).toBe("read"));

  it.each([
    [
      "exec",
      () => ({ user: { exec: exec() } }),
      'users[0].user has "exec", which would run a program',
    ],
    [
      "auth-provider gcp",
      () => ({ user: { "auth-provider": gcp() } }),
      'users[0].user has "auth-provider", which would run a program or read a file',
    ],
    [
      "auth-provider azure",
      () => ({ user: { "auth-provider": { ...gcp(), name: "azure" } } }),
      'users[0].user has "auth-provider", which would run a program or read a file',
    ],
    [
      "auth-provider with exec inside",
      () => ({ user: { "auth-provider": { name: "exec", config: { exec: exec() } } } }),
      'users[0].user has "auth-provider", which would run a program or read a file',
    ],
    [
      "auth-provider with a token file",
      () => ({
        user: { "auth-provider": { name: "tokenFile", config: { tokenFile: secretFile } } },
      }),
      'users[0].user has "auth-provider", which would run a program or read a file',
    ],
    [
      "tokenFile",
      () => ({ user: { tokenFile: secretFile } }),
      'users[0].user has "tokenFile", which would read a file',
    ],
    [
      "token-file",
      () => ({ user: { "token-file": secretFile } }),
      'users[0].user has "token-file", which would read a file',
    ],
    [
      "client-certificate",
      () => ({ user: { "client-certificate": secretFile } }),
      'users[0].user has "client-certificate", which would read a file',
    ],
    [
      "client-key",
      () => ({ user: { "client-key": secretFile } }),
      'users[0].user has "client-key", which would read a file',
    ],
    [
      "exec in a user that is not selected",
      () => ({ unselected: { exec: exec() } }),
      'users[1].user has "exec", which would run a program',
    ],
    [
      "certificate-authority",
      () => ({ cluster: { "certificate-authority": secretFile } }),
      'clusters[0].cluster has "certificate-authority", which would read a file: give certificate-authority-data',
    ],
    [
      "proxy-url",
      () => ({ cluster: { "proxy-url": "http://127.0.0.1:1" } }),
      'clusters[0].cluster has "proxy-url", which is not supported',
    ],
    [
      "insecure-skip-tls-verify",
      () => ({ cluster: { "insecure-skip-tls-verify": true } }),
      "insecure-skip-tls-verify is not followed here",
    ],
    [
      "exec beside the name of a user",
      () => ({ top: { users: [{ name: "me", user: { token: "t" }, exec: exec() }] } }),
      'users[0] has "exec"',
    ],
    [
      "exec in the context",
      () => ({ context: { exec: exec() } }),
      'contexts[0].context has "exec"',
    ],
    ["exec at the top", () => ({ top: { exec: exec() } }), 'it has "exec"'],
    [
      "a field that is not known yet",
      () => ({ user: { runAfterLogin: program } }),
      "users[0].user has a field that is not allowed",
    ],
    [
      "a user that is a list",
      () => ({ top: { users: [{ name: "me", user: [{ exec: exec() }] }] } }),
      "users[0].user must be an object",
    ],
    [
      "a user behind __proto__",
      () => ({
        top: {
          users: [
            JSON.parse(
              `{"name":"me","user":{"token":"t"},"__proto__":{"exec":{"command":"${program}"}}}`,
            ),
          ],
        },
      }),
      "users[0] has a field that is not allowed",
    ],
  ])(
    "with %s is refused by name, and no program ran and no file was read",
    async (_name, parts, words) => {
      const hostile = kubeconfig(parts());
      // Both forms of the text: they have parsers of their own.
      for (const content of [JSON.stringify(hostile), stringify(hostile)]) {
        expect(await attempt(content)).toContain(
          `Cannot use secret "tidemark/eu-1" for cluster "eu-1": ${words}`,
        );
      }
      expect(existsSync(ran)).toBe(false);
      expect(server.seen).toEqual([]);
    },
  );

  it("with a tag that would make an object of a class is data or an error, and runs nothing", async () => {
    const text = stringify(kubeconfig({})).replace(
      "token: t0ken",
      `token: !!js/function "function(){ require('fs').writeFileSync('${ran}', '') }"`,
    );
    expect(await attempt(text)).toContain("token must be printable ASCII");
    expect(existsSync(ran)).toBe(false);
  });

  it("with exec behind a merge key is refused", async () => {
    const text = stringify(kubeconfig({})).replace(
      "token: t0ken",
      `token: t0ken\n      <<: { exec: { command: ${program} } }`,
    );
    expect(await attempt(text)).toContain("users[0].user has a field that is not allowed");
    expect(existsSync(ran)).toBe(false);
  });
});
