import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./source.ts";

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
const { packages }: { packages: Record<string, Locked> } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
const declared: Locked = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/** True when `name`, wanted by the package at `path`, is locked beside it or in any folder above it. */
const isLocked = (path: string, name: string): boolean => {
  for (let above = path; ; above = above.slice(0, Math.max(0, above.lastIndexOf("/node_modules/")))) {
    if (packages[`${above === "" ? "" : `${above}/`}node_modules/${name}`] !== undefined) return true;
    if (above === "") return false;
  }
};

describe("the lockfile", () => {
  it("names every package that another asks for, those of other platforms too: `npm ci` refuses a gap", () => {
    const wanted = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => ({ path, name })),
    );
    expect(wanted.length).toBeGreaterThan(500);
    expect(wanted.filter(({ path, name }) => !isLocked(path, name)).map(({ path, name }) => `${path} wants ${name}`)).toEqual([]);
  });

  it("locks what package.json declares, each at one exact version", () => {
    const direct = Object.entries({ ...declared.dependencies, ...declared.devDependencies, ...declared.optionalDependencies });
    expect(direct.length).toBeGreaterThan(20);
    const lockedAs = (name: string): string | undefined => {
      const { version, resolved, link } = packages[`node_modules/${name}`] ?? {};
      return link === true ? `file:${resolved}` : version;
    };
    expect(direct.filter(([name, version]) => lockedAs(name) !== version)).toEqual([]);
  });

  it("carries no address of a registry", () => {
    const addresses = Object.values(packages).flatMap(({ resolved, link }) => (resolved === undefined || link === true ? [] : [resolved]));
    expect(addresses).toEqual([]);
  });
});
