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

/** The second one has the types of a browser. It is opened for the files of the page only. */
const PROJECTS = ["tsconfig.json", "lib/dashboard/page/tsconfig.json"] as const;

/**
 * One compiler and its open projects for all files of tests that share a process: to open a project
 * takes longer than what is read of it. The compiler ends with the process.
 */
let compiler: API | undefined;
const opened = new Map<string, ParsedFileOf>();

/** A file as the compiler itself parsed it. Throws for a file that no project includes. */
export const parsedFile: ParsedFileOf = (path) => {
  const config = PROJECTS.findLast((each) => path.startsWith(each.replace("tsconfig.json", "")));
  if (config === undefined) throw new Error(`Cannot parse "${path}": it is of no project`);
  compiler ??= new API({ cwd: ROOT });
  const project = opened.get(config) ?? filesOf(compiler, config);
  opened.set(config, project);
  return project(path);
};

type ParsedFileOf = (path: string) => ParsedFile;

const filesOf = (api: API, config: string): ParsedFileOf => {
  const file = join(ROOT, config);
  const projects = api.updateSnapshot({ openProject: file }).getProjects();
  const project = projects.find(({ configFileName }) => configFileName === file);
  if (project === undefined)
    throw new Error(`Cannot parse the sources: ${config} opened no project`);
  return (path) => {
    const parsed = project.program.getSourceFile(join(ROOT, path));
    if (parsed === undefined)
      throw new Error(`Cannot parse "${path}": ${config} does not include it`);
    return parsed;
  };
};

/** Parsed once for all files of tests that share a process. */
const sources = new Map<string, SourceFile>();

const sourceFile = (path: string): SourceFile => {
  const known = sources.get(path);
  if (known) return known;
  const source = {
    path,
    text: readFileSync(join(ROOT, path), "utf8"),
    imports: parsedFile(path).imports.map(toImport),
  };
  sources.set(path, source);
  return source;
};

/** The given TypeScript files, and those below the given folders, with their imports. */
export const parsedFiles = (paths: readonly string[]): readonly SourceFile[] =>
  paths
    .flatMap((path) =>
      path.endsWith(".ts") ? [path] : [...filesBelow(path), ...filesBelow(path, ".tsx")],
    )
    .map(sourceFile);

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
