import type { FieldDescription } from "../../lib/rules/fields/field-types.ts";
import { CLUSTER_SPEC } from "../../lib/rules/manifest/cluster/cluster-fields.ts";
import {
  boundsText,
  defaultText,
  memberPath,
  membersOf,
  typeText,
} from "../../lib/rules/manifest/native/explain-field.ts";

/** Every field of a cluster as a document, with its type, default and bounds. */
export const clusterFieldsMarkdown = (): string =>
  [
    "| field | is | type | default | bounds |",
    "|---|---|---|---|---|",
    ...rowsOf("spec", CLUSTER_SPEC.about),
  ].join("\n");

const rowsOf = (path: string, about: FieldDescription): readonly string[] =>
  Object.entries(membersOf(about)).flatMap(([name, member]) => {
    const inside = memberPath(path, name, member);
    const shown = defaultText(member);
    const cells = [
      `\`${inside}\``,
      member.meaning,
      typeText(member),
      shown === "{}" ? "those below" : shown,
      boundsText(member),
    ];
    return [`| ${cells.join(" | ")} |`, ...rowsOf(inside, member)];
  });
