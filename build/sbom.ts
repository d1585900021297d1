import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MODULES = "node_modules/";

/** A package of which a bundle holds at least one file. */
interface Shipped {
  /** From the root: "node_modules/zod". */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly functions: readonly string[];
}

/**
 * The folder of the package that a file belongs to, as npm lays them out; undefined for a file of
 * ours.
 */
const packageOf = (file: string): string | undefined => {
  const at = file.lastIndexOf(MODULES);
  if (at === -1) return undefined;
  const [first = "", second = ""] = file.slice(at + MODULES.length).split("/");
  return `${file.slice(0, at + MODULES.length)}${first.startsWith("@") ? `${first}/${second}` : first}`;
};

/**
 * The packages whose files the bundles of the functions hold, by the inputs that esbuild names of
 * each function.
 */
const shippedIn = (inputs: ReadonlyMap<string, Iterable<string>>): readonly Shipped[] => {
  const functionsOf = new Map<string, Set<string>>();
  for (const [name, files] of inputs)
    for (const file of files) {
      const path = packageOf(file);
      if (path !== undefined) functionsOf.set(path, (functionsOf.get(path) ?? new Set()).add(name));
    }
  return [...functionsOf]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, functions]) => readPackage(path, [...functions].sort()));
};

const readPackage = (path: string, functions: readonly string[]): Shipped => {
  const { name, version, license } = JSON.parse(
    readFileSync(join(ROOT, path, "package.json"), "utf8"),
  );
  if (typeof license !== "string")
    throw new Error(
      `Cannot write the bill of materials: "${path}" names no licence; look at it before it is shipped`,
    );
  return { path, name, version, license, functions };
};

/** The SHA-512 of the archive that the lockfile pins, as hexadecimal digits. */
const hashOf = (integrity: string): string =>
  Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");

const purlOf = ({ name, version }: Pick<Shipped, "name" | "version">): string =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`;

/** CycloneDX 1.6 without a time or a serial number, so that one commit gives one file. */
const billOf = (shipped: readonly Shipped[]): object => {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const own = purlOf({ name, version });
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": own,
        name,
        version,
        purl: own,
        licenses: [{ expression: license }],
      },
    },
    components: shipped.map((each) => ({
      type: "library",
      "bom-ref": purlOf(each),
      name: each.name,
      version: each.version,
      purl: purlOf(each),
      licenses: [{ expression: each.license }],
      hashes: [{ alg: "SHA-512", content: hashOf(String(packages[each.path]?.integrity)) }],
      properties: each.functions.map((value) => ({ name: "tidemark:function", value })),
    })),
    dependencies: [{ ref: own, dependsOn: shipped.map(purlOf) }],
  };
};

const TEXTS = /^(licen[cs]e|notice|copying)(\.[a-z]+)*$/i;

/** The licence and notice of a package, as it came. */
const textsOf = ({ path }: Shipped): readonly string[] =>
  readdirSync(join(ROOT, path))
    .filter((file) => TEXTS.test(file))
    .sort()
    .map((file) => readFileSync(join(ROOT, path, file), "utf8").trim());

/** Each text once, below the packages that it belongs to. */
const noticesOf = (shipped: readonly Shipped[]): string => {
  const byText = Map.groupBy(
    shipped,
    (each) =>
      textsOf(each).join("\n\n") ||
      `${each.license}; the package came without the text of its licence.`,
  );
  const parts = [...byText].map(
    ([text, owners]) =>
      `${owners.map(({ name, version, license }) => `${name} ${version} (${license})`).join("\n")}\n\n${text}\n`,
  );
  return [`The bundles of the functions hold code of these packages.\n`, ...parts].join(
    `\n${"-".repeat(80)}\n\n`,
  );
};

export const SBOM_FILE = "sbom.cdx.json";
export const NOTICES_FILE = "THIRD-PARTY-NOTICES.txt";

/**
 * Writes beside the bundles what they hold: a bill of materials, and the licences and notices of
 * others.
 */
export const writeSbom = (outDir: string, inputs: ReadonlyMap<string, Iterable<string>>): void => {
  const shipped = shippedIn(inputs);
  if (shipped.length === 0 || !existsSync(outDir))
    throw new Error(
      `Cannot write the bill of materials of "${basename(outDir)}": no bundle holds a package`,
    );
  writeFileSync(join(outDir, SBOM_FILE), `${JSON.stringify(billOf(shipped), null, 2)}\n`);
  writeFileSync(join(outDir, NOTICES_FILE), noticesOf(shipped));
};
