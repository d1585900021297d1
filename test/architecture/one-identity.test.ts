import { describe, expect, it } from "vitest";
import { parsedFiles } from "./source.ts";

/*
 * Which cluster answers is compared in one place: lib/stack/cluster/transport/same-cluster.ts. A
 * file that opens connections to an API server beside it would send calls to any cluster.
 */

const files = parsedFiles(["lib", "functions"]);

/** The files that import a value by name, or the file of that value when they need it. */
const usersOf = (name: string, from: string): readonly string[] =>
  files
    .filter(({ imports }) =>
      imports.some(
        ({ specifier, names, kind }) =>
          specifier.endsWith(`/${from}`) && (kind === "lazy" || names.includes(name)),
      ),
    )
    .map(({ path }) => path);

describe("the calls to a cluster", () => {
  it("are sent by a transport that has compared the identity, or by the look that reads it", () => {
    expect(usersOf("uncheckedTransport", "transport.ts")).toEqual([
      "lib/stack/cluster/transport/same-cluster.ts",
    ]);
    // A check reports the identity that it finds. It reads, and asks reviews of rights.
    const senders = ["lib/stack/cluster/check/ask.ts", "lib/stack/cluster/transport/transport.ts"];
    expect(usersOf("sender", "send.ts")).toEqual(senders);
    expect(usersOf("connectionPool", "exchange.ts")).toEqual(senders);
  });

  it("are made by two kinds of client, each of which says which cluster it means", () => {
    expect(usersOf("clusterTransport", "same-cluster.ts")).toEqual([
      "lib/stack/cluster/connect.ts",
      "lib/stack/cluster/kubeconfig-api.ts",
    ]);
  });

  it("name no identity only where nothing is written, or the cluster is this process", () => {
    const unnamed = files
      .filter(({ text }) => /kubeSystemUid: undefined/.test(text))
      .map(({ path }) => path);
    expect(unnamed).toEqual([
      "lib/embedded/run/run.ts", // sends nothing: it refuses a kubeconfig that cannot be used
      "lib/embedded/run/stand-in.ts", // the other controller of a simulated cluster
      "lib/stack/cluster/kubeconfig-api.ts", // an import that is stored for no cluster
    ]);
  });
});
