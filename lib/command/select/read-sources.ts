import { readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { textOfFile, textOfStream } from "../../embedded/host/text-file.ts";
import { MAX_MANIFESTS, MAX_TEXT_BYTES, newBudget } from "../../rules/manifest/budget.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import type { ManifestSource, Filter } from "../../answers/service/service.ts";
import type { Io } from "../io.ts";
import { usage } from "../usage-error.ts";
import { admit, admitOrThrow } from "../../rules/manifest/admit.ts";
import type { KindCount } from "../../rules/manifest/errors.ts";
import { isObject } from "../../rules/model/json.ts";
import type { ManifestDocument } from "../../rules/manifest/documents.ts";
import {
  withNamespace,
  namespaceClash,
  readInputs,
} from "../../answers/service/apply/manifest-inputs.ts";
import type { NamedAutoscalerOfKind } from "./selected-names.ts";

const STDIN = "-";
const STANDARD_INPUT = "standard input";

/** `-f` and `-R`. */
export interface FileOptions {
  readonly filename: readonly string[];
  readonly recursive?: true;
}

/**
 * Reads the files and folders of `-f` in order, standard input for "-". It runs before the data
 * folder is opened: the writer of the pipe may be a command on the same folder, and both would wait
 * for each other. Throws `local.unreadable`, and `manifest.unreadable` as soon as they have more
 * bytes than one step may have.
 */
export const readSources = async (
  { filename, recursive }: FileOptions,
  stdin: Io["stdin"],
): Promise<readonly ManifestSource[]> => {
  if (filename.filter((file) => file === STDIN).length > 1)
    throw usage("Cannot read standard input twice: give -f - only once");
  const budget = newBudget();
  const sources: ManifestSource[] = [];
  for (const file of filename.flatMap((path) =>
    path === STDIN ? [STDIN] : filesOf(path, recursive === true),
  )) {
    const source =
      file === STDIN
        ? { file: STANDARD_INPUT, text: await textOfStream(STANDARD_INPUT, stdin, MAX_TEXT_BYTES) }
        : { file, text: textOfFile(file, MAX_TEXT_BYTES) };
    budget.spend("bytes", Buffer.byteLength(source.text), { where: source.file });
    sources.push(source);
  }
  return sources;
};

const EXTENSIONS: ReadonlySet<string> = new Set([".json", ".yaml", ".yml"]);

/**
 * Files of one folder. A step has no more manifests either, and a deployed stack takes no more
 * files.
 */
const MAX_FILES = MAX_MANIFESTS;

/**
 * The path itself, or the manifest files of a folder in order of name, as kubectl takes them.
 * Throws `local.unreadable`.
 */
const filesOf = (path: string, recursive: boolean): readonly string[] => {
  if (!isFolder(path)) return [path];
  const files: string[] = [];
  for (const file of filesIn(path, recursive))
    if (files.push(file) > MAX_FILES)
      throw unreadable(
        path,
        `the folder holds more than ${MAX_FILES} .yaml, .yml and .json files; give its folders one by one`,
      );
  if (files.length > 0) return files;
  const within = recursive ? "" : "; -R reads the folders in it too";
  throw unreadable(path, `the folder holds no .yaml, .yml or .json file${within}`);
};

/** What cannot be looked at is taken for a file, so that reading it says what is wrong. */
const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** A link to a folder is not followed, because it can lead back to where it came from. */
function* filesIn(folder: string, recursive: boolean): Generator<string> {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (recursive) yield* filesIn(path, recursive);
    } else if (EXTENSIONS.has(extname(entry.name)) && !isFolder(path)) yield path;
  }
}

const entriesOf = (folder: string) => {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((left, right) =>
      left.name < right.name ? -1 : 1,
    );
  } catch (cause) {
    throw unreadable(folder, "the folder may not be read", cause);
  }
};

const unreadable = (path: string, why: string, cause?: unknown): TidemarkError =>
  new TidemarkError("local.unreadable", `Cannot read "${path}": ${why}`, { file: path }, { cause });

/** Namespace of a manifest that names none, as `apply` takes it. */
export const DEFAULT_NAMESPACE = "default";

/**
 * The autoscalers that manifests name. Only kind, name and namespace count: what breaks another
 * rule can be deleted too. Throws `manifest.*` before anything is done.
 */
export const resourcesIn = (
  sources: readonly ManifestSource[],
  filter: Filter,
): {
  readonly resources: readonly NamedAutoscalerOfKind[];
  readonly passedOver: readonly KindCount[];
} => {
  const { inputs, passedOver } = readInputs(sources, "warn");
  const clashes = inputs.flatMap((input) => namespaceClash(input, filter.namespace) ?? []);
  if (clashes.length > 0)
    throw new TidemarkError("manifest.invalid", clashes.join("\n"), { lines: clashes });
  return {
    resources: inputs.map((input) => ({
      ...filter,
      ...resourceIn(withNamespace(input, filter.namespace)),
    })),
    passedOver,
  };
};

const resourceIn = (
  input: ManifestDocument,
): NamedAutoscalerOfKind & { readonly namespace: string } => {
  const admission = admit(input.document);
  if (!admission.ok && admission.because === "unsupported") admitOrThrow(input);
  const { kind, metadata } = isObject(input.document) ? input.document : {};
  const { name, namespace } = isObject(metadata) ? metadata : {};
  const inside = namespace ?? DEFAULT_NAMESPACE;
  if (
    typeof kind !== "string" ||
    typeof name !== "string" ||
    name === "" ||
    typeof inside !== "string" ||
    inside === ""
  )
    throw new TidemarkError(
      "manifest.invalid",
      `Cannot read "${input.where}": it needs kind and metadata.name, and metadata.namespace must be text where it is given`,
      { where: input.where },
    );
  return { kind, name, namespace: inside };
};
