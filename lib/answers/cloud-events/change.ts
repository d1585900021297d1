import * as z from "zod";
import { scopeChangeOf } from "../../stack/store/history/scope-changes.ts";
import { CHANGE_SK_PREFIX } from "../../stack/store/table/keys.ts";
import { clusterName } from "../../rules/model/ids.ts";
import { present } from "../../rules/model/json.ts";
import { changeView, scopeChangeView } from "../service/changes.ts";
import { change, type ChangeView } from "../views/change.ts";
import { count, text, type ViewOf } from "../views/view-of.ts";
import { changeEventSentence } from "../words/event-words.ts";
import { atMs, ENVELOPE, envelopeOf, sentence, typeOf } from "./envelope.ts";
import type { EventKind } from "./event-kind.ts";

const KIND = "change";

/** Most paths of fields in an event: a whole manifest would be no news. */
const FIELDS_MAX = 20;

const { scope, verb, by, grant } = change.shape;

export const changeCloudEvent = z
  .object({
    ...ENVELOPE,
    type: z.literal(typeOf(KIND)),
    kind: z.literal(KIND),
    cluster: text.describe("absent where all clusters are meant").exactOptional(),
    namespace: text.describe("of an autoscaler").exactOptional(),
    name: change.shape.name,
    scope,
    verb,
    data: z.object({
      text: sentence,
      atMs,
      by,
      grant,
      generation: change.shape.generation,
      fields: z
        .array(text)
        .describe(
          `the paths that differ, at most ${FIELDS_MAX}; their values are in \`tidemark changes\``,
        ),
      fieldsLeftOut: count.exactOptional(),
    }),
  })
  .describe(
    "an edit that a person or a program asked for. It is sent when it is stored, right before it is made: an edit that another one overtook is sent too",
  );
export type ChangeEvent = ViewOf<typeof changeCloudEvent>;

/**
 * An edit without the documents before and after it: they can be large, and who may read events is
 * decided by the account, not by grants.
 */
export const changeEventOf = (view: ChangeView): ChangeEvent => {
  const { cluster, namespace, name } = view;
  const paths = view.fields.map(({ path }) => path);
  const leftOut = Math.max(0, paths.length - FIELDS_MAX);
  const about = view.scope === "autoscaler" ? { cluster, namespace, name } : { cluster };
  const subject = view.scope === name ? name : `${view.scope}/${name}`;
  return present({
    // An edit and a scale of one autoscaler can have the same id.
    ...envelopeOf(KIND, present(about), { id: `${KIND}:${view.id}`, time: view.at }),
    ...(cluster === undefined && { subject }),
    cluster,
    namespace,
    name,
    scope: view.scope,
    verb: view.verb,
    data: present({
      text: changeEventSentence(view),
      atMs: Date.parse(view.at),
      by: view.by,
      grant: view.grant,
      generation: view.generation,
      fields: paths.slice(0, FIELDS_MAX),
      fieldsLeftOut: leftOut > 0 ? leftOut : undefined,
    }),
  });
};

/** An edit of an autoscaler is stored twice: its copy of its cluster is not another event. */
export const changeKind: EventKind<ChangeEvent> = {
  kind: KIND,
  keys: [
    { pk: "autoscaler#", sk: CHANGE_SK_PREFIX },
    ...["access", "cluster", "fleet", "partition", "source"].map((name) => ({
      pk: `changes#${name}#`,
      sk: CHANGE_SK_PREFIX,
    })),
  ],
  read: async (item, { change: readChange }) => {
    if (!item.pk.startsWith("autoscaler#"))
      return changeEventOf(scopeChangeView(scopeChangeOf(item)));
    const [, cluster = ""] = item.pk.split("#");
    return changeEventOf(changeView(await readChange({ item, cluster: clusterName(cluster) })));
  },
};
