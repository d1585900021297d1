import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { Connection } from "../../lib/rules/model/records.ts";

const CONNECT = join(import.meta.dirname, "../../lib/stack/cluster/connect.ts");

/** Names of the packages that a fresh process loads when it connects a cluster this way. */
const loadedFor = async (connection: Connection): Promise<ReadonlySet<string>> => {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({ resolve: (specifier, context, next) => { const found = next(specifier, context); loaded.add(found.url); return found; } });
    const { connect } = await import(${JSON.stringify(CONNECT)});
    await connect({ name: "eu-1", connection: ${JSON.stringify(connection)} }, { clock: Date.now }).catch(() => undefined);
    console.log(JSON.stringify([...loaded]));`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--input-type=module",
    "--no-warnings",
    "-e",
    script,
  ]);
  const urls: readonly string[] = JSON.parse(stdout);
  return new Set(urls.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []));
};

describe("connect()", () => {
  it("loads nothing of the Kubernetes client for an EKS cluster", async () => {
    const loaded = await loadedFor({ kind: "eks", clusterId: "prod", region: "not a region" });
    expect(loaded).toContain("@smithy/signature-v4");
    expect(
      [...loaded].filter((name) =>
        ["@kubernetes/client-node", "undici", "yaml", "@aws-sdk/client-secrets-manager"].includes(
          name,
        ),
      ),
    ).toEqual([]);
  });

  it("loads nothing of the Kubernetes client for a secret: that library runs programs which a kubeconfig names", async () => {
    const loaded = await loadedFor({ kind: "secret", secretId: "of another cluster" });
    expect(loaded).toContain("@aws-sdk/client-secrets-manager");
    expect(
      [...loaded].filter((name) => ["@kubernetes/client-node", "undici"].includes(name)),
    ).toEqual([]);
  });

  it("loads no protobuf before an answer is one", async () => {
    expect(
      await loadedFor({ kind: "eks", clusterId: "prod", region: "not a region" }),
    ).not.toContain("protobufjs");
  });

  it("loads nothing of AWS for a kubeconfig file", async () => {
    const loaded = await loadedFor({ kind: "kubeconfig", path: "no-such-file" });
    expect([...loaded].filter((name) => name.startsWith("@aws-sdk/"))).toEqual([]);
  });
});
