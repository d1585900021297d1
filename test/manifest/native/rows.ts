import {
  boundsText,
  defaultText,
  membersOf,
  typeText,
} from "../../../lib/rules/manifest/native/explain-field.ts";
import type { FieldDescription } from "../../../lib/rules/fields/field-types.ts";
import { SPEC } from "../../../lib/rules/manifest/native/spec-fields.ts";

/** Blocks of other forms have pages of their own; the selector is told once. */
const ELSEWHERE = /^(hpa|watermark)\.|^metrics\[\]\.(object|external|namespace)\.selector\./;

const below = (
  path: string,
  about: FieldDescription,
): readonly { readonly path: string; readonly about: FieldDescription }[] =>
  Object.entries(membersOf(about)).flatMap(([name, member]) => {
    const own = path === "" ? name : `${path}.${name}`;
    return [
      { path: own, about: member },
      ...below(member.type === "list" ? `${own}[]` : own, member),
    ];
  });

const rowOf = ({
  path,
  about,
}: {
  readonly path: string;
  readonly about: FieldDescription;
}): string => {
  const plain = defaultText(about);
  const shown = plain === "required" || plain === "none" ? plain : `\`${plain}\``;
  return `| \`${path}\` | ${typeText(about)} | ${shown} | ${boundsText(about)} | ${about.meaning} |`.replaceAll(
    "|  |",
    "| |",
  );
};

/** The reference of the page, a row a field. */
export const referenceRows: readonly string[] = below("", SPEC.about)
  .filter(({ path }) => !ELSEWHERE.test(path))
  .map(rowOf);
