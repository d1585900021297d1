import {
  type AccessRecord,
  ANY,
  arnFault,
  type Grant,
  namePatternFault,
  type Role,
  rightsOf,
} from "../../../rules/model/access.ts";
import { getAccess, putAccess } from "../../../stack/store/records/access.ts";
import type { AccessEdited, AccessView, CanIView, GrantView } from "../../views/change.ts";
import type { QueryContext, ServiceContext } from "../context.ts";
import { recordChange } from "../partitions/record-change.ts";
import type { CanIQuery, NewGrant } from "../service.ts";
import { rfc3339 } from "../times.ts";
import { conflict, invalid, unknown, untilStored } from "../refusals.ts";
import { present } from "../../../rules/model/json.ts";

/** Each takes some 300 bytes, and one item holds all. */
const GRANTS_MAX = 500;
const ID_CHARACTERS = 8;

const grantView = ({ atMs, ...grant }: Grant): GrantView => ({ ...grant, at: rfc3339(atMs) });

export const access = async (context: QueryContext): Promise<AccessView> => {
  const { required, grants } = await getAccess(context.tables);
  return { required, grants: grants.map(grantView) };
};

/**
 * Whether the caller may look at a place, or edit it. A data folder has no callers: its owner may
 * do everything.
 */
export const canI = async (
  { rights }: QueryContext,
  { verb, cluster, namespace }: CanIQuery,
): Promise<CanIView> => {
  if (namespace !== undefined && cluster === undefined)
    throw invalid("Cannot answer for a namespace only: give its cluster with --cluster");
  const allowed = rights ? rights.allows(verb, present({ cluster, namespace })) : {};
  return present({
    allowed: allowed !== undefined,
    caller: rights?.caller,
    grant: allowed?.grant,
    grants: (rights?.grants ?? []).map(grantView),
  });
};

type Change = (record: AccessRecord) => Pick<AccessRecord, "required" | "grants"> | undefined;
const ACCESS = { scope: "access", name: "access" } as const;

/**
 * Edits the grants under their version, again while other editors win. Nothing is written where
 * `change` returns undefined.
 */
const edit = (
  context: ServiceContext,
  verb: "grant" | "revoke" | "require",
  change: Change,
): Promise<boolean> =>
  untilStored(
    () => conflict("Cannot edit the grants: others are editing them"),
    async () => {
      const stored = await getAccess(context.tables);
      const after = change(stored);
      if (!after) return false;
      const { version, ...before } = stored;
      await recordChange(context, { ...ACCESS, version: version + 1, verb, before, after });
      return (await putAccess(context.tables, after, version)).kind === "stored" || undefined;
    },
  );

/**
 * Throws `service.invalid` for a pattern that no caller, cluster or namespace can match, and for
 * more grants than are kept.
 */
export const grantAccess = async (
  context: ServiceContext,
  { arn, role, cluster, namespace }: NewGrant,
): Promise<AccessEdited> => {
  const faults = [
    ...faultOf(`the ARN "${arn}"`, arnFault(arn)),
    ...faultOf(`the cluster "${cluster}"`, namePatternFault(cluster)),
    ...(namespace === undefined
      ? []
      : faultOf(`the namespace "${namespace}"`, namePatternFault(namespace))),
  ];
  if (faults.length > 0) throw invalid(`Cannot grant: ${faults.join("; ")}`);
  const wanted = present({
    arn,
    role,
    cluster,
    namespace: namespace === ANY ? undefined : namespace,
  });
  let id = "";
  const changed = await edit(context, "grant", ({ required, grants }) => {
    const same = grants.find((grant) => isSame(grant, wanted));
    id = same?.id ?? shortId(context.newUid(), grants);
    if (same) return undefined;
    if (grants.length >= GRANTS_MAX)
      throw invalid(
        `Cannot grant: there are ${grants.length} grants, and the limit is ${GRANTS_MAX}; revoke some`,
      );
    return {
      required,
      grants: [...grants, { id, ...wanted, by: context.by, atMs: context.clock() }],
    };
  });
  return { ...(await access(context)), id, changed };
};

/** As few characters as a person types; more where a grant has those already. */
const shortId = (uid: string, grants: readonly Grant[]): string => {
  let length = ID_CHARACTERS;
  while (length < uid.length && grants.some(({ id }) => id === uid.slice(0, length))) length++;
  return uid.slice(0, length);
};

const faultOf = (what: string, fault: string | undefined): readonly string[] =>
  fault === undefined ? [] : [`${what} ${fault}`];

const isSame = (grant: Grant, wanted: NewGrant): boolean =>
  grant.arn === wanted.arn &&
  grant.role === wanted.role &&
  grant.cluster === wanted.cluster &&
  grant.namespace === wanted.namespace;

/** Throws `service.unknown` for an id that no grant has. */
export const revokeAccess = async (context: ServiceContext, id: string): Promise<AccessEdited> => {
  const changed = await edit(context, "revoke", ({ required, grants }) => {
    const left = grants.filter((grant) => grant.id !== id);
    if (left.length === grants.length)
      throw unknown(`Cannot find the grant "${id}": run tidemark access list`, { id });
    return { required, grants: left };
  });
  return { ...(await access(context)), id, changed };
};

const FLEET_EDITOR: Role = "edit";

/**
 * Throws `service.invalid` where the caller would then have no right on the fleet: a person must be
 * left who can freeze it.
 */
export const requireAccess = async (
  context: ServiceContext,
  required: boolean,
): Promise<AccessEdited> => {
  const changed = await edit(context, "require", (record) => {
    if (record.required === required) return undefined;
    if (required && !rightsOf({ ...record, required }, context.by).allows(FLEET_EDITOR, {}))
      throw invalid(
        `Cannot require grants: "${context.by}" has none on the whole fleet, and could not freeze it; run tidemark access grant ARN --role edit --cluster '*' first`,
      );
    return { required, grants: record.grants };
  });
  return { ...(await access(context)), changed };
};
