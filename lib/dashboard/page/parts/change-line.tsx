import type { ChangeView, FieldChange } from "../../../answers/views/change.ts";
import { changedObjectText, fieldLine } from "../../../answers/words/change-words.ts";
import { HOUR_MS } from "../../../rules/model/time-text.ts";
import { useNow } from "../data/facts.ts";
import { parametersOf } from "../autoscaler/range.ts";
import { autoscalerLink } from "../route.ts";
import { Ago, Sentence, Time } from "./time.tsx";

/** One edit: what and whose it was, by which grant, and the fields that differ. */
export const ChangeLine = ({ change }: { readonly change: ChangeView }) => {
  const { at, by, verb, grant, made, fields } = change;
  return (
    <li>
      <p>
        <b>{verb}</b> <Changed change={change} />
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

/** An autoscaler is one press away, with what came before and after its edit. */
const Changed = ({ change }: { readonly change: ChangeView }) => {
  const { scope, cluster, namespace, name, at } = change;
  const nowMs = useNow();
  const words = changedObjectText(change);
  if (scope !== "autoscaler" || cluster === undefined || namespace === undefined)
    return <>{words}</>;
  return (
    <a href={autoscalerLink({ cluster, namespace, name }, around(Date.parse(at), nowMs))}>
      {words}
    </a>
  );
};

/** The hour around an edit, or the last hour, where a part of the hour around is still ahead. */
const around = (atMs: number, nowMs: number) =>
  atMs + HOUR_MS / 2 > nowMs ? {} : parametersOf(atMs - HOUR_MS / 2, atMs + HOUR_MS / 2);

const kindOf = (field: FieldChange): string =>
  "before" in field ? ("after" in field ? "changed" : "removed") : "added";
