import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./source.ts";

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
const { packages }: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync(join(ROOT, "package-lock.json"), "utf8"),
);
const declared: Locked = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/**
 * True when `name`, wanted by the package at `path`, is locked beside it or in any folder above it.
 */
const isLocked = (path: string, name: string): boolean => {
  for (
    let above = path;
    ;
    above = above.slice(0, Math.max(0, above.lastIndexOf("/node_modules/")))
  ) {
    if (packages[`${above === "" ? "" : `${above}/`}node_modules/${name}`] !== undefined)
      return true;
    if (above === "") return false;
  }
};

describe("the lockfile", () => {
  it("names every package that another asks for, those of other platforms too: `npm ci` refuses a gap", () => {
    const wanted = Object.entries(packages).flatMap(
      ([path, { dependencies, optionalDependencies }]) =>
        Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => ({ path, name })),
    );
    expect(wanted.length).toBeGreaterThan(500);
    expect(
      wanted
        .filter(({ path, name }) => !isLocked(path, name))
        .map(({ path, name }) => `${path} wants ${name}`),
    ).toEqual([]);
  });

  it("locks what package.json declares, each at one exact version", () => {
    const direct = Object.entries({
      ...declared.dependencies,
      ...declared.devDependencies,
      ...declared.optionalDependencies,
    });
    expect(direct.length).toBeGreaterThan(20);
    const lockedAs = (name: string): string | undefined => {
      const { version, resolved, link } = packages[`node_modules/${name}`] ?? {};
      return link === true ? `file:${resolved}` : version;
    };
    expect(direct.filter(([name, version]) => lockedAs(name) !== version)).toEqual([]);
  });

  it("has a build for macOS and for Linux on ARM64 of every native package that has one for Linux on x64", () => {
    const builds = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) => {
      // Of our own there are only the pinned Node and the second engine of the tests, for which
      // docs/contributing.md says what there is elsewhere.
      if (path === "") return [];
      const native = Object.keys(optionalDependencies).flatMap(
        (name) => packages[`node_modules/${name}`] ?? [],
      );
      return native.length === 0 ? [] : [{ path, native }];
    });
    const isFor = (system: string, processor: string) => (one: Locked) =>
      one.os?.includes(system) === true && one.cpu?.includes(processor) === true;
    const onLinux = builds.filter(({ native }) => native.some(isFor("linux", "x64")));
    expect(onLinux.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["node_modules/esbuild", "node_modules/typescript"]),
    );
    const lacking = onLinux.filter(
      ({ native }) =>
        ![isFor("darwin", "arm64"), isFor("darwin", "x64"), isFor("linux", "arm64")].every((is) =>
          native.some(is),
        ),
    );
    expect(lacking.map(({ path }) => path)).toEqual([]);
    // It brings its builds itself.
    expect(readdirSync(join(ROOT, "node_modules/classic-level/prebuilds"))).toEqual(
      expect.arrayContaining(["darwin-x64+arm64", "linux-arm64", "linux-x64"]),
    );
  });

  it("carries no address of a registry", () => {
    const addresses = Object.values(packages).flatMap(({ resolved, link }) =>
      resolved === undefined || link === true ? [] : [resolved],
    );
    expect(addresses).toEqual([]);
  });
});
