import { describe, expect, it } from "vitest";
import { PAGE_ROOM } from "./rooms.ts";
import { parsedFiles } from "./source.ts";

const EXPORT =
  /^export (?:abstract )?(?:async )?(?:const|interface|type|function\*?|class) (\w+)/gm;

/** The files that export each name. */
const exportsOf = (files: readonly { readonly path: string; readonly text: string }[]) => {
  const exportedBy = new Map<string, readonly string[]>();
  for (const { path, text } of files)
    for (const name of new Set([...text.matchAll(EXPORT)].map((found) => found[1] ?? "")))
      exportedBy.set(name, [...(exportedBy.get(name) ?? []), path]);
  return exportedBy;
};
const twiceIn = (exportedBy: ReadonlyMap<string, readonly string[]>) =>
  [...exportedBy].filter(([, paths]) => paths.length > 1);

/** The page is a program of its own, for a browser: nothing imports it, so its names are its own. */
const [ofPage = [], others = []] = [true, false].map((isOfPage) =>
  parsedFiles(["lib", "functions"]).filter(
    ({ path }) => path.startsWith(`${PAGE_ROOM}/`) === isOfPage,
  ),
);
const exportedBy = exportsOf(others);
const twice = twiceIn(exportedBy);

const DIALECT = /^lib\/rules\/policy\/(hpa|native|watermark|multi-threshold|original)\//;
/** The verbs of the service: what it answers, the form of the answer, and the command. */
const VERB = /^lib\/(answers\/service|answers\/views|command\/commands)\//;
/** Builders of the types of a field: of a view, of a manifest, of the custom resource. */
const WORDS_OF_TYPES: readonly string[] = [
  "lib/answers/views/view-of.ts",
  "lib/rules/fields/shape.ts",
  "lib/rules/fields/field-types.ts",
  "lib/rules/manifest/native/field-descriptions.ts",
];

/** Where a name may be exported more than once, because it means one thing there. */
const MAY_SHARE: Readonly<Record<string, (paths: readonly string[]) => boolean>> = {
  "a step of several dialects, one for each": (paths) => {
    const dialects = paths.map((path) => DIALECT.exec(path)?.[1]);
    return !dialects.includes(undefined) && new Set(dialects).size === paths.length;
  },
  "a verb: of the service, of its view and of its command": (paths) =>
    paths.every((path) => VERB.test(path)),
  "the entry of a function, which the template names": (paths) =>
    paths.every((path) => path.startsWith("functions/")),
  "a type of a field, in the words of each builder": (paths) =>
    paths.every((path) => WORDS_OF_TYPES.includes(path)),
};

/** Single names that stay, each with its reason. */
const STAY: Readonly<Record<string, string>> = {
  text: "the builders of types have it, and it begins each printed text as a template",
};

describe("exported names", () => {
  it("were seen", () => {
    expect(exportedBy.size).toBeGreaterThan(1_000);
    expect(exportedBy.get("handler")).toHaveLength(8);
  });

  it("mean one thing: a name that two files export is on the list of those that may be", () => {
    const wrong = twice.filter(
      ([name, paths]) =>
        STAY[name] === undefined && !Object.values(MAY_SHARE).some((isShared) => isShared(paths)),
    );
    expect(wrong.map(([name, paths]) => `${name}: ${paths.join(", ")}`)).toEqual([]);
  });

  it("mean one thing in the page", () => {
    const exported = exportsOf(ofPage);
    expect(exported.size).toBeGreaterThan(50);
    expect(twiceIn(exported)).toEqual([]);
  });

  it("are on the list only while they are needed", () => {
    for (const [reason, isShared] of Object.entries(MAY_SHARE))
      expect(
        twice.some(([, paths]) => isShared(paths)),
        reason,
      ).toBe(true);
    expect(Object.keys(STAY).filter((name) => (exportedBy.get(name) ?? []).length < 2)).toEqual([]);
  });

  it("are shared by few: this number only falls", () => {
    expect(twice.length).toBeLessThanOrEqual(55);
  });
});
