import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import {
  PACKAGE_ROOMS,
  PAGE_ROOM,
  PARTS,
  PURE_ROOMS,
  packageOf,
  partOf,
  ROOMS,
  roomOf,
} from "./rooms.ts";
import { filesBelow, parsedFiles, ROOT } from "./source.ts";

const files = parsedFiles(["lib", "functions"]);
const imports = files.flatMap((file) =>
  file.imports.map((found) => ({ ...found, from: file.path })),
);
const relative = imports.filter(({ specifier }) => specifier.startsWith("."));
const packages = imports.filter(
  ({ specifier }) => !specifier.startsWith(".") && !specifier.startsWith("node:"),
);
const targetOf = ({ from, specifier }: { from: string; specifier: string }): string =>
  posix.join(dirname(from), specifier);

describe("the rooms", () => {
  it("were seen: files, imports between files and imports of packages", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(relative.length).toBeGreaterThan(10);
    expect(files.map(({ path }) => path)).toContain("lib/rules/model/ids.ts");
  });

  it("are the ones on the list, every file in one of them", () => {
    expect(files.filter(({ path }) => roomOf(path) === undefined).map(({ path }) => path)).toEqual(
      [],
    );
    const folders = filesBelow("lib").map((path) => roomOf(path));
    expect(folders.filter((room) => room === undefined)).toEqual([]);
    expect(Object.keys(ROOMS).filter((room) => filesBelow(room).length === 0)).toEqual([]);
  });

  it("import only down the list of meaning, types included", () => {
    const upward = relative.filter((found) => {
      const [room, target] = [roomOf(found.from), roomOf(targetOf(found))];
      return room !== target && !(target !== undefined && ROOMS[room ?? ""]?.includes(target));
    });
    expect(upward.map((found) => `${found.from} -> ${targetOf(found)}`)).toEqual([]);
  });

  it("have no circle of files within them, types included", () => {
    expect(circleAmong(relative.map((found) => [found.from, targetOf(found)] as const))).toEqual(
      [],
    );
    expect(
      circleAmong([
        ["a", "b"],
        ["b", "c"],
        ["c", "b"],
      ]),
    ).toEqual(["b", "c"]);
  });

  it("of views give the page of the dashboard types only: their schemas are not for a browser", () => {
    const ofPage = relative.filter(({ from }) => from.startsWith(`${PAGE_ROOM}/`));
    const loaded = ofPage.filter(
      (found) => found.kind !== "type" && roomOf(targetOf(found)) === "lib/answers/views",
    );
    expect(ofPage.length).toBeGreaterThan(10);
    expect(loaded.map((found) => `${found.from} -> ${found.specifier}`)).toEqual([]);
  });

  it("import files by their full name", () => {
    expect(
      relative
        .filter((found) => !existsSync(join(ROOT, targetOf(found))))
        .map((found) => `${found.from} -> ${found.specifier}`),
    ).toEqual([]);
  });

  it("name Node's modules with node:", () => {
    expect(
      packages
        .filter(({ specifier }) => builtinModules.includes(specifier))
        .map(({ from, specifier }) => `${from} -> ${specifier}`),
    ).toEqual([]);
  });

  it("that are pure load no package and no Node module", () => {
    const impure = imports.filter(
      ({ from, specifier }) =>
        PURE_ROOMS.some((room) => from.startsWith(`${room}/`)) && !specifier.startsWith("."),
    );
    expect(impure.map(({ from, specifier }) => `${from} -> ${specifier}`)).toEqual([]);
  });
});

describe.each(Object.entries(PARTS))("the parts of %s", (room, parts) => {
  const within = relative
    .map((found) => ({ from: found.from, to: targetOf(found) }))
    .filter(({ from, to }) => from.startsWith(`${room}/`) && to.startsWith(`${room}/`));

  it("are the ones on the list", () => {
    const found = new Set(filesBelow(room, "").map((path) => partOf(room, path)));
    expect([...found].sort()).toEqual([...parts].sort());
  });

  it("import only parts that stand before them, types included", () => {
    const placeOf = (path: string): number => parts.indexOf(partOf(room, path));
    expect(within.length).toBeGreaterThan(10);
    expect(
      within
        .filter(({ from, to }) => placeOf(from) < placeOf(to))
        .map(({ from, to }) => `${from} -> ${to}`),
    ).toEqual([]);
  });
});

describe("the packages", () => {
  it("that run are dependencies, not development dependencies", () => {
    const declared: { dependencies: Record<string, string> } = JSON.parse(
      readFileSync(join(ROOT, "package.json"), "utf8"),
    );
    const undeclared = packages.filter(
      ({ from, kind, specifier }) =>
        kind !== "type" &&
        !from.startsWith(`${PAGE_ROOM}/`) &&
        declared.dependencies[packageOf(specifier)] === undefined,
    );
    expect(undeclared.map(({ from, specifier }) => `${from} -> ${specifier}`)).toEqual([]);
  });

  it("with weight or I/O stay in their rooms", () => {
    const strays = packages.filter(({ from, kind, specifier }) => {
      const rooms = PACKAGE_ROOMS[packageOf(specifier)];
      return kind !== "type" && rooms !== undefined && !rooms.includes(roomOf(from) ?? "");
    });
    expect(strays.map(({ from, specifier }) => `${from} -> ${specifier}`)).toEqual([]);
  });

  it("of the Kubernetes client are loaded lazily, so that EKS clusters never pay for them", () => {
    const eager = packages.filter(
      ({ kind, specifier }) =>
        kind === "static" && packageOf(specifier) === "@kubernetes/client-node",
    );
    expect(eager.map(({ from }) => from)).toEqual([]);
  });

  it("zod is imported whole, because its named import bundles every locale", () => {
    const named = imports.filter(
      ({ names, specifier }) => packageOf(specifier) === "zod" && names.length > 0,
    );
    expect(named.map(({ from }) => from)).toEqual([]);
  });
});

/**
 * Files that import each other in a loop: what is left after all that import nothing of the rest,
 * or are imported by nothing of it, were taken away.
 */
const circleAmong = (arrows: readonly (readonly [from: string, to: string])[]): string[] => {
  const inner = arrows.filter(
    ([from, to]) =>
      arrows.some((arrow) => arrow[0] === to) && arrows.some((arrow) => arrow[1] === from),
  );
  return inner.length < arrows.length
    ? circleAmong(inner)
    : [...new Set(inner.map(([from]) => from))].sort();
};
