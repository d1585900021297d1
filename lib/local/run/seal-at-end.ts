import { readIdentity } from "../folder/identity.ts";
import type { FolderLayout } from "../folder/layout.ts";
import { breakSeal, sealFolder } from "../folder/seal.ts";
import type { Closing } from "./closing.ts";

/** Breaks the seal of a folder for a run, and seals it again after everything that is opened from here on was closed, if it was allowed by then. */
export const sealAtEnd = (layout: FolderLayout, closer: Closing): { readonly break: () => void; readonly allow: () => void } => {
  let allowed = false;
  let before: ReturnType<typeof breakSeal> = {};
  closer.add(() => {
    // A folder that never became ready is removed, not sealed.
    if (allowed && readIdentity(layout) !== "beginning") sealFolder(layout, "run", before);
  });
  return {
    break: () => {
      before = breakSeal(layout, "run");
    },
    allow: () => {
      allowed = true;
    },
  };
};
