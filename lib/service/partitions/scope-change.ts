import { createHash } from "node:crypto";
import type { ScopeChangeRecord } from "../../model/records.ts";
import { insertScopeChange } from "../../store/history/scope-changes.ts";
import type { ServiceContext } from "../context.ts";

type ScopeChange = Pick<ScopeChangeRecord, "scope" | "name" | "version" | "verb"> & { readonly before?: object; readonly after?: object };

const ID_CHARACTERS = 16;

/** Inserts the change item of an edit before the edit (docs/architecture.md, "What is stored"). If the history cannot be written, nothing is edited. */
export const recordChange = (context: ServiceContext, { before, after, ...told }: ScopeChange): Promise<void> => {
  const change = {
    ...told,
    atMs: context.clock(),
    by: context.by,
    ...(before && { before: JSON.stringify(before) }),
    ...(after && { after: JSON.stringify(after) }),
  };
  // The id is a hash of the content: two edits at one instant get two ids, and a repeat gets the same one.
  const id = createHash("sha256").update(JSON.stringify(change)).digest("hex").slice(0, ID_CHARACTERS);
  return insertScopeChange(context.insert, { id, ...change });
};
