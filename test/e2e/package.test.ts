import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pageFiles as pageFilesOfCheckout } from "../../lib/dashboard/serve/page-files.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPackage } from "../../build/package.ts";
import { ROOT } from "../architecture/source.ts";

const run = promisify(execFile);

/** npm as a file that Node runs: the one that started the tests, or the one of the machine. */
const npmFile = (): string =>
  process.env["npm_execpath"] ??
  realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim());

let folder: string;
let installed: string;
/** Only Node 24 and a shell: an installation that needs a compiler fails here. */
let env: NodeJS.ProcessEnv;
const npm = (cwd: string, ...args: readonly string[]) =>
  run(process.execPath, [npmFile(), ...args], { cwd, env });
const tidemark = (...args: readonly string[]) =>
  run(join(installed, "node_modules/.bin/tidemark"), args, {
    cwd: installed,
    env,
    timeout: 120_000,
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-package-"));
  installed = join(folder, "installed");
  const bin = join(folder, "bin");
  for (const made of [installed, bin]) mkdirSync(made);
  for (const tool of ["sh", "env"])
    symlinkSync(
      execFileSync("sh", ["-c", `command -v ${tool}`], { encoding: "utf8" }).trim(),
      join(bin, tool),
    );
  symlinkSync(process.execPath, join(bin, "node"));
  env = { ...process.env, PATH: bin };
  await buildPackage(join(folder, "package"));
  await npm(join(folder, "package"), "pack", "--silent", "--pack-destination", folder);
  const archive = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  await npm(
    installed,
    "install",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    join(folder, archive ?? "none"),
  );
}, 400_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the package in an empty folder without a compiler", { timeout: 200_000 }, () => {
  it("holds JavaScript, types of the pure rooms, traces, examples and licences, and no TypeScript to run", () => {
    const files = readdirSync(join(installed, "node_modules/tidemark"), {
      recursive: true,
      encoding: "utf8",
    });
    expect(files).toEqual(
      expect.arrayContaining([
        "LICENSE",
        "NOTICE",
        "README.md",
        "bin/tidemark.js",
        "examples/web.yaml",
      ]),
    );
    expect(files).toEqual(
      expect.arrayContaining([
        "lib/embedded/traces/NOTICE",
        "lib/rules/policy/decide.js",
        "lib/rules/policy/decide.d.ts",
      ]),
    );
    expect(files.filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))).toEqual([]);
    expect(files.filter((name) => name.startsWith("test"))).toEqual([]);
  });

  it("has the page built, and its server finds it", async () => {
    const serve = join(installed, "node_modules/tidemark/lib/dashboard/serve");
    const { PAGE_FILES }: typeof import("../../lib/dashboard/serve/routes.ts") = await import(
      join(serve, "routes.js")
    );
    const { pageFiles }: typeof import("../../lib/dashboard/serve/page-files.ts") = await import(
      join(serve, "page-files.js")
    );
    const built = pageFilesOfCheckout();
    const packaged = pageFiles();
    for (const { file } of PAGE_FILES.values())
      expect(Buffer.from(await packaged(file)), file).toEqual(Buffer.from(await built(file)));
  });

  it("brings no Node of its own and no package for development", () => {
    const packages = readdirSync(join(installed, "node_modules"));
    expect(packages).toContain("zod");
    expect(
      packages.filter((name) =>
        /^node-(linux|darwin|win)|^(vitest|typescript|esbuild|cli-table3)$/.test(name),
      ),
    ).toEqual([]);
  });

  it("brings at most 55 packages, and says what a run on this machine needs beside them", async () => {
    const brought = readdirSync(join(installed, "node_modules"), {
      recursive: true,
      encoding: "utf8",
    }).filter((file) => /(^|node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(file));
    expect(brought.length).toBeGreaterThan(20);
    expect(brought.length).toBeLessThanOrEqual(55);
    const refused = await tidemark("start", "--for", "1m").catch((error: unknown) => error);
    const { stderr } = refused as { readonly stderr: string };
    const parts = /npm install (.+)$/m.exec(stderr)?.[1]?.split(" ") ?? [];
    expect(stderr).toMatch(/^error: Cannot run this here: the package ".+" is not installed/);
    expect(parts).toContainEqual(expect.stringMatching(/^dynalite@\d/));
    await npm(installed, "install", "--prefer-offline", "--no-audit", "--no-fund", ...parts);
  });

  it("runs the command", async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect((await tidemark("--version")).stdout).toBe(`${version}\n`);
    expect((await tidemark("start", "--help")).stdout).toContain("npx tidemark start");
  });

  it("scales the simulated cluster, and the command then reads what happened", async () => {
    const { stdout } = await tidemark("start", "--for", "10m", "--speed", "100000");
    expect(stdout).toContain("shop/daily created");
    expect((await tidemark("get")).stdout).toContain("daily");
    expect((await tidemark("events", "--all")).stdout).toContain("shop");
    expect(
      (await tidemark("apply", "-f", "node_modules/tidemark/examples/web.yaml", "--dry-run"))
        .stdout,
    ).toContain("web");
    expect(existsSync(join(installed, ".tidemark"))).toBe(true);
  });

  it("gives programs the pure rooms, with types that the compiler accepts", async () => {
    const program = `import { readDuration } from "tidemark/model/time-text";\nconst ms: number | undefined = readDuration("90s");\nprocess.stdout.write(String(ms));\n`;
    writeFileSync(join(installed, "program.mts"), program);
    writeFileSync(join(installed, "package.json"), '{ "type": "module" }\n');
    const types = join(ROOT, "node_modules/@types");
    const options = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--target",
      "es2024",
      "--types",
      "node",
      "--typeRoots",
      types,
    ];
    await run(
      process.execPath,
      [join(ROOT, "node_modules/typescript/bin/tsc"), ...options, "program.mts"],
      { cwd: installed },
    );
    expect((await run(process.execPath, ["program.mts"], { cwd: installed })).stdout).toBe("90000");
  });

  it("asks for the same Node in its package.json as in its command", () => {
    const { engines } = JSON.parse(
      readFileSync(join(installed, "node_modules/tidemark/package.json"), "utf8"),
    );
    expect(engines).toEqual({ node: ">=24" });
    expect(
      readFileSync(join(installed, "node_modules/tidemark/bin/tidemark.js"), "utf8"),
    ).toContain("WANTED_MAJOR = 24;");
  });
});
