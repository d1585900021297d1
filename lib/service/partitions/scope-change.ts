import { createHash } from "node:crypto";
import type { ScopeChangeRecord } from "../../model/records.ts";
import { insertScopeChange } from "../../store/history/scope-changes.ts";
import type { ServiceContext } from "../context.ts";

type ScopeChange = Pick<ScopeChangeRecord, "scope" | "name" | "version" | "verb"> & { readonly before?: object; readonly after?: object };

const ID_CHARACTERS = 16;

/** Keeps an edit in the history before it is made (docs/architecture.md, "What is stored"); history unwritable → nothing is edited. */
export const recordChange = (context: ServiceContext, { before, after, ...told }: ScopeChange): Promise<void> => {
  const change = {
    ...told,
    atMs: context.clock(),
    by: context.by,
    ...(before && { before: JSON.stringify(before) }),
    ...(after && { after: JSON.stringify(after) }),
  };
  // By its content: two people's edits of one instant are two, and the same edit told twice is one.
  const id = createHash("sha256").update(JSON.stringify(change)).digest("hex").slice(0, ID_CHARACTERS);
  return insertScopeChange(context.insert, { id, ...change });
};
