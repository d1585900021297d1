import { parse } from "yaml";
import * as z from "zod";
import { TidemarkError } from "../../model/errors.ts";
import { textOfFile } from "./text-file.ts";

/** No ordinary kubeconfig is larger. */
const MAX_BYTES = 4 * 2 ** 20;

const currentSchema = z.object({ "current-context": z.string().min(1).optional() });

/**
 * The context that a run uses: the one named, or the file's current one, fixed when the run first starts, so that `kubectl config use-context` never moves autoscalers to another
 * cluster. Undefined where the file has none. Throws `local.unreadable`; what the file holds is never quoted, for it holds secrets.
 */
export const contextOf = (file: string, context: string | undefined): string | undefined => {
  const text = textOfFile(file, MAX_BYTES);
  if (context !== undefined) return context;
  try {
    return currentSchema.parse(parse(text))["current-context"];
  } catch {
    throw unreadable(file, "it is not a kubeconfig in YAML or JSON");
  }
};

const unreadable = (file: string, why: string): TidemarkError =>
  new TidemarkError("local.unreadable", `Cannot read kubeconfig "${file}": ${why}`, { file });
