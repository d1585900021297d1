import { readIdentity } from "../folder/identity.ts";
import type { FolderNames } from "../folder/names.ts";
import { breakSeal, type Seal, sealFolder } from "../folder/seal.ts";
import type { Closing } from "../host/closing.ts";
import type { FolderLayout } from "../layout.ts";

/**
 * Breaks the seal of a folder for a run, and seals it again after everything that is opened from
 * here on was closed, if it was allowed by then.
 */
export const sealAtEnd = (
  layout: FolderLayout,
  closer: Closing,
): { readonly break: () => void; readonly allow: (names: FolderNames | undefined) => void } => {
  let allowed: { readonly names: FolderNames | undefined } | undefined;
  let before: Seal | undefined;
  closer.add(() => {
    // A folder that never became ready is removed, not sealed.
    if (allowed && readIdentity(layout) !== "beginning")
      sealFolder(layout, "run", before, allowed.names);
  });
  return {
    break: () => {
      before = breakSeal(layout, "run");
    },
    allow: (names) => {
      allowed = { names };
    },
  };
};
