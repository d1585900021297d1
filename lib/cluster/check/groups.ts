import { isObject } from "../../model/is-object.ts";
import { asObject, asText } from "../../model/read/json.ts";
import type { Asker } from "./ask.ts";

/** The API groups of the server with their versions; undefined where they are not told. Then nothing counts as "not installed". */
export const apiGroups = async ({ ask }: Asker): Promise<ReadonlyMap<string, readonly string[]> | undefined> => {
  const outcome = await ask({ path: "/apis", resource: "apigroups" });
  if (outcome.kind === "failed" || !Array.isArray(outcome.reply.body["groups"])) return undefined;
  return new Map(
    outcome.reply.body["groups"].filter(isObject).map(({ name, versions }) => [asText(name), Array.isArray(versions) ? versions.map(versionOf) : []]),
  );
};

const versionOf = (raw: unknown): string => asText(asObject(raw)["version"]);
