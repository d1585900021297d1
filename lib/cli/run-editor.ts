import { spawn } from "node:child_process";
import { TidemarkError } from "../model/errors.ts";

/** The editor of the environment, as kubectl chooses it. The variable may hold options too: "code --wait". */
const editorIn = ({ KUBE_EDITOR, EDITOR }: NodeJS.ProcessEnv): string => KUBE_EDITOR || EDITOR || "vi";

/** Opens a file in an editor on this terminal, until the editor ends. Throws `cli.editor` where it fails. */
export const editFile = async (env: NodeJS.ProcessEnv, file: string): Promise<void> => {
  const editor = editorIn(env);
  // The shell splits the variable into words; the file is an argument of its own, which the shell does not read.
  const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0)
    throw new TidemarkError(
      "cli.editor",
      `Cannot edit: the editor "${editor}" ended with ${code ?? "a signal"}; choose one with KUBE_EDITOR or EDITOR`,
      {},
    );
};
