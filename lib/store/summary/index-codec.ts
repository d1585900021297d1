import { hash } from "node:crypto";
import * as z from "zod";
import type { IndexRow, PartitionIndex } from "../../model/partition-index.ts";
import { compress, decompress } from "../table/compressed.ts";

const VERSION = 1;

const target = z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() });
const paused = z.object({ by: z.string(), atMs: z.number(), untilMs: z.number().exactOptional() });
/** The parts of a row that few rows have. */
const rest = z.object({
  owner: z.string().exactOptional(),
  target: target.exactOptional(),
  minReplicas: z.number().exactOptional(),
  maxReplicas: z.number().exactOptional(),
  labels: z.record(z.string(), z.string()),
  paused: paused.exactOptional(),
  problem: z.string().exactOptional(),
});
const row = z.tuple([z.string(), z.string(), z.string(), z.number(), z.string(), z.number(), rest]);
const stored = z.tuple([z.number(), z.string(), z.array(row)]);

const rowValue = ({ namespace, name, uid, generation, kind, createdMs, ...parts }: IndexRow): z.infer<typeof row> => [
  namespace,
  name,
  uid,
  generation,
  kind,
  createdMs,
  parts,
];

const HASH_CHARACTERS = 8;

/** The body of an index, and a hash by which a sync knows that it is stored already. */
export const encodeIndex = ({ specVersion, clusterIncarnation, rows }: PartitionIndex): { readonly body: Uint8Array; readonly hash: string } => {
  const value = [specVersion, clusterIncarnation, rows.map(rowValue)];
  return { body: compress(VERSION, value), hash: hash("sha256", JSON.stringify(value), "base64url").slice(0, HASH_CHARACTERS) };
};

/** `undefined` for damage, or a later version: a reader then lists the autoscalers themselves. */
export const decodeIndex = (bytes: Uint8Array): PartitionIndex | undefined => {
  try {
    const { version, value } = decompress(bytes);
    if (version !== VERSION) return undefined;
    const [specVersion, clusterIncarnation, rows] = stored.parse(value);
    return {
      specVersion,
      clusterIncarnation,
      rows: rows.map(([namespace, name, uid, generation, kind, createdMs, parts]) => ({
        namespace,
        name,
        uid,
        generation,
        kind,
        createdMs,
        ...parts,
      })),
    };
  } catch {
    return undefined;
  }
};
