import type { ChangeView, FieldChange } from "../../../answers/views/change.ts";
import { changedObjectText, fieldLine } from "../../../answers/words/change-words.ts";
import { Ago, Sentence, Time } from "./time.tsx";

/** One edit: what and whose it was, by which grant, and the fields that differ. */
export const ChangeLine = ({ change }: { readonly change: ChangeView }) => {
  const { at, by, verb, grant, made, fields } = change;
  return (
    <li>
      <p>
        <b>{verb}</b> {changedObjectText(change)}
        {made === false && <b class="bad"> was not made</b>}
      </p>
      <p class="quiet">
        <Time at={at} /> (<Ago at={at} />) by {by}
        {grant === undefined ? "" : `, by the grant ${grant}`}
      </p>
      {fields.length > 0 && (
        <ul class="fields">
          {fields.map((field) => (
            <li key={field.path} class={kindOf(field)}>
              <Sentence>{fieldLine(field)}</Sentence>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
};

const kindOf = (field: FieldChange): string =>
  "before" in field ? ("after" in field ? "changed" : "removed") : "added";
