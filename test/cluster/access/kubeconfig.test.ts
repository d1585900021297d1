import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { ON_THIS_MACHINE } from "../../../lib/stack/cluster/access/kubeconfig-file.ts";
import { NOTHING_TRUSTED, type Trusted } from "../../../lib/stack/cluster/access/access.ts";
import { connect } from "../../../lib/stack/cluster/connect.ts";
import { clusterName, namespace } from "../../../lib/rules/model/ids.ts";
import { type Kubernetes, kubernetes, workload } from "../stand-in/kubernetes.ts";
import { deployment } from "../stand-in/watched.ts";

let server: Kubernetes;
let folder: string;
beforeEach(async () => {
  server = await kubernetes();
  server.collections.set("/apis/apps/v1/deployments", [workload("shop", "web")]);
  folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const file = (name: string, text: string, mode = 0o600): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
};
const kubeconfig = (user: object, cluster: object = {}, more: object = {}): string =>
  file(
    "config",
    stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "main",
      clusters: [
        {
          name: "one",
          cluster: {
            server: server.url,
            "certificate-authority-data": base64(server.ca),
            ...cluster,
          },
        },
      ],
      users: [{ name: "me", user }],
      contexts: [{ name: "main", context: { cluster: "one", user: "me" } }],
      ...more,
    }),
  );
const client = (path: string, context?: string, trusted: Trusted = ON_THIS_MACHINE) =>
  connect(
    {
      name: clusterName("eu-1"),
      kubeSystemUid: undefined,
      connection: { kind: "kubeconfig", path, ...(context !== undefined && { context }) },
    },
    { clock: Date.now, trusted },
  );
const readWith = async (path: string, context?: string) => {
  const opened = await client(path, context);
  const reading = await opened.readScale(namespace("shop"), deployment("web"), 3_000);
  opened.close();
  return reading;
};
const refusal = (state: string) => ({
  name: "TidemarkError",
  code: "cluster.access.kubeconfig",
  message: expect.stringContaining(state),
});

describe("a kubeconfig file, on one's own machine,", () => {
  it("connects with a token", async () => {
    expect(await readWith(kubeconfig({ token: "t0ken" }))).toMatchObject({ kind: "read" });
    expect(server.seen[0]?.headers.authorization).toBe("Bearer t0ken");
  });

  it("connects with a user name and password", async () => {
    await readWith(kubeconfig({ username: "me", password: "secret" }));
    expect(server.seen[0]?.headers.authorization).toBe(`Basic ${base64("me:secret")}`);
  });

  it("connects with a client certificate", async () => {
    const { cert, key } = await server.authority.issue("tidemark");
    expect(
      await readWith(
        kubeconfig({ "client-certificate-data": base64(cert), "client-key-data": base64(key) }),
      ),
    ).toMatchObject({ kind: "read" });
    expect(server.seen[0]?.clientName).toBe("tidemark");
  });

  it("that acts for another user sends that user's name", async () => {
    await readWith(kubeconfig({ token: "t0ken", as: "autoscaler" }));
    expect(server.seen[0]?.headers["impersonate-user"]).toBe("autoscaler");
  });

  it("connects with certificate and token files", async () => {
    file("ca.crt", server.ca);
    const path = kubeconfig(
      {
        "auth-provider": { name: "tokenFile", config: { tokenFile: file("token", "from-a-file") } },
      },
      { "certificate-authority": "ca.crt", "certificate-authority-data": undefined },
    );
    expect(await readWith(path)).toMatchObject({ kind: "read" });
    expect(server.seen[0]?.headers.authorization).toBe("Bearer from-a-file");
  });

  it("runs an exec plugin once for calls that come together", async () => {
    const count = join(folder, "count");
    const credential = JSON.stringify({
      kind: "ExecCredential",
      status: { token: "from-a-program" },
    });
    const plugin = file(
      "plugin.sh",
      `#!/bin/sh\necho ran >> "${count}"\necho '${credential}'\n`,
      0o700,
    );
    const path = kubeconfig({
      exec: { apiVersion: "client.authentication.k8s.io/v1", command: plugin },
    });
    const opened = await client(path);
    await Promise.all(
      [1, 2, 3].map(() => opened.readScale(namespace("shop"), deployment("web"), 3_000)),
    );
    opened.close();
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 3 }, () => "Bearer from-a-program"),
    );
    expect(readFileSync(count, "utf8")).toBe("ran\n");
  });

  it("is refused inside functions, which have no code to read it", async () => {
    await expect(
      client(kubeconfig({ token: "t0ken" }), undefined, NOTHING_TRUSTED),
    ).rejects.toMatchObject(
      refusal(
        'Cannot connect cluster "eu-1": a kubeconfig file is read only in the embedded run; put it into a secret, or connect the cluster as EKS',
      ),
    );
  });

  it("with an exec plugin that fails says so", async () => {
    const path = kubeconfig({
      exec: {
        apiVersion: "client.authentication.k8s.io/v1",
        command: file("plugin.sh", "#!/bin/sh\necho 'sign in first' >&2\nexit 1\n", 0o700),
      },
    });
    await expect(client(path)).rejects.toMatchObject(refusal("sign in first"));
  });

  it("that skips TLS verification is followed", async () => {
    const path = kubeconfig(
      { token: "t0ken" },
      { "certificate-authority-data": undefined, "insecure-skip-tls-verify": true },
    );
    expect(await readWith(path)).toMatchObject({ kind: "read" });
  });

  it("for plain http on loopback is followed", async () => {
    const plain = createServer((request, response) => {
      response.end(
        JSON.stringify({ metadata: { uid: request.headers.authorization, resourceVersion: "1" } }),
      );
    });
    await new Promise<void>((ready) => plain.listen(0, "127.0.0.1", ready));
    const address = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
    const path = kubeconfig(
      { token: "t0ken" },
      {
        server: address,
        "certificate-authority-data": undefined,
        "insecure-skip-tls-verify": true,
      },
    );
    expect(await readWith(path)).toMatchObject({ kind: "read", uid: "Bearer t0ken" });
    plain.close();
  });

  it("whose server is not the one of its CA is not trusted", async () => {
    const other = await kubernetes();
    const path = kubeconfig({ token: "t0ken" }, { "certificate-authority-data": base64(other.ca) });
    await other.close();
    expect(await readWith(path)).toMatchObject({
      kind: "failed",
      failure: { reason: "TlsVerificationFailed" },
    });
  });

  it.each([
    [
      "a context that is not in it",
      {},
      { "current-context": "other" },
      'its current-context is not in it, there are "main"',
    ],
    [
      "no context at all",
      {},
      { "current-context": undefined, contexts: [] },
      "its current-context is not in it, there are none",
    ],
    ["a proxy", { "proxy-url": "http://proxy.example" }, {}, "proxy-url is not supported"],
    [
      "a user that is not in it",
      {},
      { users: [] },
      "its current-context names a user that is not in it",
    ],
    [
      "a cluster that is not in it",
      {},
      { clusters: [] },
      "its current-context names a cluster that is not in it",
    ],
  ])("with %s is refused", async (_name, cluster, more, state) => {
    await expect(client(kubeconfig({ token: "t0ken" }, cluster, more))).rejects.toMatchObject(
      refusal(state),
    );
  });

  it.each([
    [
      "http://cluster.example",
      "its server must begin with https://: anything else would send the token in the clear",
    ],
    ["ftp://cluster.example", "its server must begin with https://"],
    ["https://me:secret@cluster.example", "its server must have no user, no query and no fragment"],
    ["cluster", "its server is not a URL"],
  ])("with the server %s is refused", async (address, state) => {
    const path = kubeconfig(
      { token: "t0ken" },
      { server: address, "insecure-skip-tls-verify": true },
    );
    await expect(client(path)).rejects.toMatchObject(refusal(state));
  });

  it("that is missing or no YAML is refused with its path", async () => {
    await expect(client(join(folder, "nothing"))).rejects.toMatchObject(
      refusal("there is no such file"),
    );
    await expect(client(file("config", "{{{"))).rejects.toMatchObject(
      refusal(
        `Cannot use kubeconfig "${join(folder, "config")}" for cluster "eu-1": line 1, column `,
      ),
    );
  });

  it("is read with the context that was asked for", async () => {
    const path = kubeconfig(
      { token: "main" },
      {},
      {
        users: [
          { name: "me", user: { token: "main" } },
          { name: "you", user: { token: "other" } },
        ],
        contexts: [
          { name: "main", context: { cluster: "one", user: "me" } },
          { name: "other", context: { cluster: "one", user: "you" } },
        ],
      },
    );
    await readWith(path, "other");
    expect(server.seen[0]?.headers.authorization).toBe("Bearer other");
  });
});
