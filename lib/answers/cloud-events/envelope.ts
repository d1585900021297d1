import * as z from "zod";
import { text, time } from "../views/view-of.ts";

/**
 * The attributes that every event has, as CloudEvents 1.0 names them (sections 3.1 and 3.2 of its
 * specification). `kind`, `cluster`, `namespace` and `name` are extension attributes: rules of a
 * bus match on them.
 */
export const ENVELOPE = {
  specversion: z.literal("1.0"),
  id: text.describe("unique for ever; an event that is delivered twice has the same one"),
  source: text.describe("`/clusters/<cluster>`, or `/fleet` for what has no cluster"),
  subject: text.describe(
    "what it is about: `eu-1/shop/web`, `eu-1`, `fleet`, `source/main`; events of one subject are sent in their order",
  ),
  time: time.describe("when it happened, and not when it was sent"),
  datacontenttype: z.literal("application/json"),
} as const;

/** The sentence of an event for people, which a message to a chat or a pager prints. */
export const sentence = text.describe(
  "one line for people, with the command that says why; its texts of other origin are escaped",
);

/** For targets that take a time as a number, such as annotations of Grafana. */
export const atMs = z.int().min(0).describe("`time` in milliseconds since 1970");

/** The type of a kind, in the reverse name that CloudEvents recommends. */
export const typeOf = <Kind extends string>(kind: Kind): `dev.tidemark.${Kind}` =>
  `dev.tidemark.${kind}`;

interface About {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** The attributes that follow from the kind and from what the event is about. */
export const envelopeOf = <Kind extends string>(
  kind: Kind,
  { cluster, namespace, name }: About,
  { id, time: at }: { readonly id: string; readonly time: string },
) => ({
  specversion: "1.0" as const,
  id,
  source: cluster === undefined ? "/fleet" : `/clusters/${cluster}`,
  type: typeOf(kind),
  subject: [cluster ?? "fleet", namespace, name].filter((part) => part !== undefined).join("/"),
  time: at,
  datacontenttype: "application/json" as const,
  kind,
});
