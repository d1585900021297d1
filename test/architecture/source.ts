import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  isCallExpression,
  isExportDeclaration,
  isImportDeclaration,
  isNamedImports,
  isStringLiteral,
  type Node,
  type SourceFile as ParsedFile,
  SyntaxKind,
} from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

/** Root of the repository, absolute. */
export const ROOT = resolve(fileURLToPath(import.meta.url), "../../..");

export interface Import {
  readonly specifier: string;
  /** `type`: gone at run time. `lazy`: `import()` inside code, loaded only when it runs. */
  readonly kind: "static" | "type" | "lazy";
  /** Names in braces, empty for `* as`, side effects and `export from`. */
  readonly names: readonly string[];
}

export interface SourceFile {
  /** From the root, with forward slashes: "lib/rules/model/ids.ts". */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

/**
 * Opens the project of tsconfig.json, and gives what `read` makes of its files, as the compiler
 * itself parsed them. Throws for a file that the project leaves out.
 */
export const readProject = <Result>(
  read: (parsedFile: (path: string) => ParsedFile) => Result,
): Result => {
  const api = new API({ cwd: ROOT });
  try {
    const [project] = api
      .updateSnapshot({ openProject: join(ROOT, "tsconfig.json") })
      .getProjects();
    if (project === undefined)
      throw new Error("Cannot parse the sources: tsconfig.json opened no project");
    return read((path) => {
      const parsed = project.program.getSourceFile(join(ROOT, path));
      if (parsed === undefined)
        throw new Error(`Cannot parse "${path}": tsconfig.json does not include it`);
      return parsed;
    });
  } finally {
    api.close();
  }
};

/** The given TypeScript files, and those below the given folders, with their imports. */
export const parsedFiles = (paths: readonly string[]): readonly SourceFile[] =>
  readProject((parsedFile) =>
    paths
      .flatMap((path) => (path.endsWith(".ts") ? [path] : filesBelow(path)))
      .map((path) => ({
        path,
        text: readFileSync(join(ROOT, path), "utf8"),
        imports: parsedFile(path).imports.map(toImport),
      })),
  );

/**
 * Paths of the files below a folder of the repository that end as asked, sorted; none when there is
 * no such folder.
 */
export const filesBelow = (folder: string, ending = ".ts"): readonly string[] =>
  (existsSync(join(ROOT, folder))
    ? readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    : []
  )
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    // Of installed packages: those of test/mutation/tools.
    .filter((path) => !path.includes("/node_modules/"))
    .sort();

const toImport = (literal: Node): Import => {
  if (!isStringLiteral(literal))
    throw new Error("Cannot read an import: its specifier is not a string");
  const specifier = literal.text;
  const holder = literal.parent;
  if (isCallExpression(holder)) return { specifier, kind: "lazy", names: [] };
  if (isExportDeclaration(holder))
    return { specifier, kind: holder.isTypeOnly ? "type" : "static", names: [] };
  if (!isImportDeclaration(holder)) return { specifier, kind: "type", names: [] }; // import("…").Name in a type
  const clause = holder.importClause;
  const bindings = clause?.namedBindings;
  const names =
    bindings !== undefined && isNamedImports(bindings)
      ? bindings.elements.map((element) => (element.propertyName ?? element.name).text)
      : [];
  return {
    specifier,
    kind: clause?.phaseModifier === SyntaxKind.TypeKeyword ? "type" : "static",
    names,
  };
};
