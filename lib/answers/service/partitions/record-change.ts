import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { mustAllow } from "../../../rules/model/access.ts";
import type { ScopeChangeRecord } from "../../../rules/model/changes.ts";
import { insertScopeChange, scopeChangesOf } from "../../../stack/store/history/scope-changes.ts";
import type { ServiceContext } from "../context.ts";
import type { LeasedPartition } from "./leases.ts";
import { present } from "../../../rules/model/json.ts";

type ScopeChange = Pick<ScopeChangeRecord, "scope" | "name" | "version" | "verb"> & {
  readonly before?: object;
  readonly after?: object;
  /**
   * Of an edit that changes a part of a cluster and leaves the others as they are: a right on it is
   * enough.
   */
  readonly namespace?: string | undefined;
};

/** Records what a person resets in a partition, under its lease. */
export const recordReset = (
  context: ServiceContext,
  { head, lease: { partition } }: LeasedPartition,
  { verb, ...sides }: Pick<ScopeChange, "verb" | "before" | "after">,
): Promise<void> =>
  recordChange(context, {
    scope: "partition",
    name: `${partition.cluster}/${partition.partition}`,
    version: head.epoch,
    verb,
    ...sides,
  });

const ID_CHARACTERS = 16;

/**
 * Inserts the change item of an edit before the edit (docs/architecture.md, "What is stored"). If
 * the history cannot be written, nothing is edited.
 */
export const recordChange = (
  context: ServiceContext,
  { before, after, namespace, ...scope }: ScopeChange,
): Promise<void> => {
  const sides = present({
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  });
  const change = {
    ...scope,
    atMs: context.clock(),
    by: context.by,
    ...grantOf(context, scope, namespace),
    ...sides,
  };
  // The id is a hash of the content: two edits at one instant get two ids, and a repeat gets the
  // same one.
  const id = createHash("sha256")
    .update(JSON.stringify(change))
    .digest("hex")
    .slice(0, ID_CHARACTERS);
  return insertScopeChange(context.insert, { id, ...change });
};

/** The grant behind an edit. Who may grant, and who may register sources, is decided by the URL. */
const grantOf = (
  { rights }: ServiceContext,
  { scope, name }: Pick<ScopeChange, "scope" | "name">,
  namespace: string | undefined,
): { readonly grant?: string } => {
  if (!rights || scope === "access" || scope === "source") return {};
  const [cluster = name] = name.split("/");
  return mustAllow(rights, "edit", scope === "fleet" ? {} : present({ cluster, namespace }));
};

/*
 *  A  put 8 ✓ (answer lost) ─ ─ ─ ─ ─ ─ put 8 ✗
 *         the token is the one of B, and the change of B has read the record as A left it: A has
 *         stored it, and does not edit again
 *  B            reads 8 ── change ── put 9 ✓
 */

/**
 * True when another edit has read the record as `after`: then `after` was stored, and must not be
 * stored again. Without this look an edit whose answer was lost undoes the edit of another person.
 * `mayFollow` picks the changes that come into question by their version.
 */
export const isBaseOfEdit = async (
  context: ServiceContext,
  scope: Pick<ScopeChangeRecord, "scope" | "name">,
  after: object,
  mayFollow: (version: number) => boolean,
): Promise<boolean> => {
  const wanted = recordIn(JSON.stringify(after));
  for await (const change of scopeChangesOf(context.tables, scope)) {
    if (mayFollow(change.version) && isDeepStrictEqual(recordIn(change.before ?? "{}"), wanted))
      return true;
  }
  return false;
};

/**
 * The record without its version. A connection is recorded with its cluster, and is written by
 * itself.
 */
const recordIn = (text: string): object => {
  const {
    version: _any,
    connection: _beside,
    ...rest
  } = JSON.parse(text) as { readonly version?: number; readonly connection?: object };
  return rest;
};
