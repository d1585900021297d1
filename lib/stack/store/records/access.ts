import * as z from "zod";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { type AccessRecord, ROLES } from "../../../rules/model/access.ts";
import { accessKey } from "../table/keys.ts";
import type { Tables } from "../table/tables.ts";
import { attributesOf } from "./schemas.ts";
import { putRecord, type RecordWrite, readRecord } from "./write.ts";

const grant = z.strictObject({
  id: z.string(),
  arn: z.string(),
  role: z.enum(ROLES),
  cluster: z.string(),
  namespace: z.string().exactOptional(),
  by: z.string(),
  atMs: z.number(),
});
/** Strict: a grant of a later version may have a limit that this one does not know. */
const accessSchema = z.strictObject({
  required: z.boolean(),
  grants: z.array(grant),
  version: z.number().int().positive(),
});

const NOTHING: AccessRecord = { required: false, grants: [], version: 0 };

/**
 * Reads all grants strongly. On doubt, refuse: while they are unreadable this throws
 * `store.unreadable`, and no request is answered.
 */
export const getAccess = async (tables: Tables): Promise<AccessRecord> => {
  const item = await readRecord(tables, "read the grants", accessKey);
  if (!item) return NOTHING;
  const parsed = accessSchema.safeParse(attributesOf(item));
  if (parsed.success) return parsed.data;
  throw new TidemarkError(
    "store.unreadable",
    `Cannot read the grants: ${parsed.error.message}`,
    {},
  );
};

/** Stores all grants if their version is still `expected` (0: none are stored). */
export const putAccess = (
  tables: Tables,
  record: Omit<AccessRecord, "version">,
  expected: number,
): Promise<RecordWrite> =>
  putRecord(tables, "store the grants", {
    key: accessKey,
    record: { ...record, version: expected + 1 },
    expected: { counter: "version", ...(expected > 0 && { value: expected }) },
  });
