import * as z from "zod";
import { SPEC_KIND_NAMES } from "../../../model/spec-kinds.ts";
import { readJsonIfThere, writeDurably } from "../../folder/whole-file.ts";
import type { CustomObjects, KeptObjects } from "./custom-objects.ts";

const Metadata = z.looseObject({ name: z.string(), namespace: z.string(), uid: z.string(), resourceVersion: z.string() });
const Kept = z.object({
  format: z.literal(1),
  version: z.int(),
  objects: z.array(z.looseObject({ kind: z.enum(SPEC_KIND_NAMES), metadata: Metadata })),
});

/** The objects of an earlier start; undefined where people have put none into the cluster. Throws `local.unreadable`. */
export const readObjectFile = (path: string): KeptObjects | undefined => readJsonIfThere(path, Kept);

/** Writes all objects durably. There are few, and people edit them seldom. */
export const writeObjectFile = (path: string, objects: CustomObjects): void => {
  if (objects.version > 0) writeDurably(path, `${JSON.stringify({ format: 1, ...objects.kept() })}\n`);
};
