import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { PLAIN_PARAMETERS } from "../../build/template.ts";
import { ROOT } from "../architecture/source.ts";

const FOLDER = join(ROOT, "examples/deploy");
const ofStack = z
  .object({ Parameters: z.record(z.string(), z.unknown()) })
  .parse(
    parse(readFileSync(join(ROOT, "infra/parameters.yml"), "utf8"), { logLevel: "error" }),
  ).Parameters;
const KNOWN = new Set([...Object.keys(ofStack), ...Object.keys(PLAIN_PARAMETERS)]);
const HAS_TERRAFORM = spawnSync("terraform", ["version"]).status === 0;

describe("examples/deploy", () => {
  it.each(readdirSync(FOLDER))("%s gives the template parameters that it has", (file) => {
    const text = readFileSync(join(FOLDER, file), "utf8");
    const given = [
      ...text.matchAll(/(?:^ +|ParameterKey=)([A-Z][a-z]+[A-Z][A-Za-z]+)(?: *[=:,])/gm),
    ].map(([, name = ""]) => name);
    expect(given.length).toBeGreaterThan(0);
    expect(given.filter((name) => !KNOWN.has(name))).toEqual([]);
  });

  it.each(readdirSync(FOLDER).filter((file) => file.endsWith(".sh")))(
    "%s is a script that bash reads",
    (file) => {
      expect(spawnSync("bash", ["-n", join(FOLDER, file)], { encoding: "utf8" }).stderr).toBe("");
    },
  );

  // Without its provider, which is downloaded, Terraform reads the language and no more.
  it.skipIf(!HAS_TERRAFORM)("main.tf is read by Terraform, and in its form", () => {
    const { status, stdout } = spawnSync("terraform", ["fmt", "-check", "-diff", FOLDER], {
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([0, ""]);
  });
});
