import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Locked, licenceProblems, verdictOf } from "../../build/check-packages.ts";
import { ROOT } from "./source.ts";

const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync(join(ROOT, "package-lock.json"), "utf8"),
);
const MIT = { version: "1.0.0", license: "MIT" };

describe("the licences of the packages", () => {
  it("are known for each package of the lockfile", () => {
    expect(Object.keys(packages).length).toBeGreaterThan(300);
    expect(licenceProblems(packages)).toEqual([]);
  });

  it.each([
    [
      "of a package that is shipped",
      { version: "1.0.0", license: "MPL-2.0" },
      "has the licence MPL-2.0: look whether it may be shipped",
    ],
    [
      "that no one has looked at",
      { version: "1.0.0", license: "SSPL-1.0", dev: true },
      "has the licence SSPL-1.0: look whether it may be used as a tool",
    ],
    ["that is not there", { version: "1.0.0" }, "has no licence: look whether it may be shipped"],
  ])("are refused with the package: one %s", (_what, locked, words) => {
    const problems = licenceProblems({
      "": {},
      "node_modules/good": MIT,
      "node_modules/good/node_modules/@a/bad": locked,
    });
    expect(problems).toEqual([expect.stringContaining(`@a/bad@1.0.0 ${words}`)]);
  });

  it("are no question for tools under MPL-2.0, and for what is of this project", () => {
    expect(
      licenceProblems({
        "": {},
        bin: {},
        "node_modules/own": { link: true },
        "node_modules/tool": { ...MIT, license: "MPL-2.0", dev: true },
      }),
    ).toEqual([]);
  });
});

/** The forms are those of npm 11 (lib/utils/verify-signatures.js). */
describe("the signatures of the packages", () => {
  const report = (found: object): string => JSON.stringify({ invalid: [], missing: [], ...found });
  const error = (code: string): string =>
    JSON.stringify({ error: { code, summary: "request failed", detail: "" } });
  it.each([
    ["verified", { code: 0, stdout: report({}), stderr: "" }, {}],
    [
      "refused",
      { code: 1, stdout: report({ invalid: [{ name: "a", version: "1.0.0" }] }), stderr: "" },
      { why: "a@1.0.0 has an invalid signature" },
    ],
    [
      "refused",
      { code: 1, stdout: report({ missing: [{ name: "b", version: "2.0.0" }] }), stderr: "" },
      { why: "b@2.0.0 has no signature" },
    ],
    ["refused", { code: 1, stdout: error("EUNKNOWN"), stderr: "" }, {}],
    [
      "refused",
      {
        code: 1,
        stdout: report({ missing: [{ name: "b", version: "2.0.0" }] }),
        stderr: "ENOTFOUND",
      },
      {},
    ],
    ["unknown", { code: 1, stdout: error("ENOTFOUND"), stderr: "" }, { why: "ENOTFOUND" }],
    ["unknown", { code: 1, stdout: error("E403"), stderr: "" }, { why: "E403" }],
    [
      "unknown",
      {
        code: 1,
        stdout: "",
        stderr: "found no dependencies to audit that were installed from a supported registry",
      },
      {},
    ],
    ["unknown", { code: null, stdout: "", stderr: "" }, { why: "npm did not end within 180 s" }],
  ])("are %s: %j", (kind, audited, more) => {
    expect(verdictOf(audited)).toMatchObject({ kind, ...more });
  });
});
