import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import { isObject } from "../../rules/model/json.ts";
import { printable } from "../../rules/model/foreign-text.ts";
import { text } from "../../stack/report/printed.ts";
import { readInputs } from "../../answers/service/apply/manifest-inputs.ts";
import type { Service } from "../../answers/service/service.ts";
import type { Applied, AutoscalerView } from "../../answers/views/autoscaler.ts";
import type { CommandIo, Session, CommandSurroundings } from "../io.ts";
import { yamlText, kindOf } from "../output/documents.ts";
import { type NamedAutoscalerOfKind, viewOf } from "../select/selected-names.ts";
import { appliedText } from "./apply.ts";

const INTRODUCTION = [
  "# Edit the autoscaler below. Lines that begin with # are left out, and an empty file cancels the edit.",
  "# Where the edit is refused, this file is opened again with the reason.",
  "#",
];

/**
 * Opens the manifest of an autoscaler in an editor and applies what was saved, under the version
 * that was opened: the edit of another person is never undone. A refused manifest is opened again
 * with the problem at its top. Where the edit cannot be made, the text is kept in a file that the
 * message names.
 */
export const editInEditor = async (
  { service }: Session,
  { printer, io }: CommandSurroundings<"editFile">,
  resource: NamedAutoscalerOfKind,
): Promise<void> => {
  const view = await viewOf(service, resource);
  const { editFile } = io;
  if (!editFile)
    throw new TidemarkError(
      "cli.editor",
      `Cannot edit "${view.name}": there is no editor here; use tidemark get -o yaml and tidemark apply`,
      {},
    );
  const folder = mkdtempSync(join(tmpdir(), "tidemark-edit-"));
  const file = join(folder, `${view.name}.yaml`);
  let isKept = false;
  try {
    const saved = await editUntilValid(service, view, { file, editFile });
    const isEdited = saved !== undefined && saved.outcome !== "unchanged";
    await printer.print(
      isEdited ? appliedText(saved, "edited") : text`Edit cancelled, no changes made\n`,
    );
  } catch (error) {
    isKept = true;
    printer.note(`your changes are kept in ${file}`);
    throw error;
  } finally {
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  }
};

interface Editing {
  readonly file: string;
  readonly editFile: NonNullable<CommandIo["editFile"]>;
}

/** Undefined where the text was saved as it was opened, or empty. */
const editUntilValid = async (
  service: Service,
  view: AutoscalerView,
  { file, editFile }: Editing,
): Promise<Applied | undefined> => {
  let opened = yamlText(view.manifest, { aliasDuplicateObjects: false });
  let problems: readonly string[] = [];
  for (;;) {
    writeFileSync(
      file,
      `${[...INTRODUCTION, ...problems.map((problem) => `# ${printable(problem)}`)].join("\n")}\n${opened}`,
      { mode: 0o600 },
    );
    await editFile(file);
    const saved = withoutComments(readFileSync(file, "utf8"));
    if (saved.trim() === "") return undefined;
    if (saved === opened) {
      if (problems.length === 0) return undefined;
      throw new TidemarkError(
        "cli.edit",
        `Cannot edit "${view.name}": no valid changes were saved\n${problems.join("\n")}`,
        {},
      );
    }
    opened = saved;
    const outcome = await applyEdited(service, view, opened);
    if ("applied" in outcome) return outcome.applied;
    problems = outcome.problems;
  }
};

const withoutComments = (manifest: string): string =>
  manifest
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n");

type Outcome = { readonly applied: Applied } | { readonly problems: readonly string[] };

/** A refused manifest is an outcome, which the editor shows. Another failure is thrown. */
const applyEdited = async (
  service: Service,
  view: AutoscalerView,
  manifest: string,
): Promise<Outcome> => {
  const { cluster, namespace, uid, generation } = view;
  const sources = [{ file: "edit", text: manifest }];
  try {
    mustBeSame(view, sources);
    const [applied] = await service.apply(sources, {
      ...{ cluster, namespace, dryRun: false, validation: "strict" },
      onlyIf: [{ uid, generation }],
    });
    return applied ? { applied } : { problems: ["the file holds no autoscaler"] };
  } catch (error) {
    if (isTidemarkError(error, "manifest")) return { problems: error.message.split("\n") };
    throw error;
  }
};

/** An edit under another name would make another autoscaler. Throws `manifest.invalid`. */
const mustBeSame = (view: AutoscalerView, sources: Parameters<typeof readInputs>[0]): void => {
  const { inputs } = readInputs(sources, "strict");
  const [document] = inputs.map((input) => input.document);
  const { kind, metadata } = isObject(document) ? document : {};
  const { name, namespace = view.namespace } = isObject(metadata) ? metadata : {};
  if (
    inputs.length === 1 &&
    name === view.name &&
    namespace === view.namespace &&
    kind === kindOf(view)
  )
    return;
  throw new TidemarkError(
    "manifest.invalid",
    `Cannot edit "${view.name}": the file must hold this one ${kindOf(view)}, with the name "${view.name}" and the namespace "${view.namespace}"`,
    {},
  );
};
