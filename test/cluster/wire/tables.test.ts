import protobuf from "protobufjs";
import { describe, expect, it } from "vitest";
import { STATUS_KIND } from "../../../lib/stack/cluster/wire/answer.ts";
import type { WireField, FieldType, Message } from "../../../lib/stack/cluster/wire/message.ts";
import {
  API_GROUP,
  API_RESOURCES,
  UNKNOWN_MESSAGE,
  HPA_LIST,
  WORKLOAD_LISTS,
} from "../../../lib/stack/cluster/wire/objects.ts";
import { POD_LIST, POD_METRICS_LIST } from "../../../lib/stack/cluster/read/pods.ts";
import { WATCH_EVENT } from "../../../lib/stack/cluster/wire/watch.ts";
import { publishedSchema } from "./published.ts";

const ROOTS = [POD_LIST, POD_METRICS_LIST, HPA_LIST, STATUS_KIND, ...Object.values(WORKLOAD_LISTS)]
  .map(({ message }) => message)
  .concat(UNKNOWN_MESSAGE, API_GROUP, API_RESOURCES, WATCH_EVENT);

const isMessage = (type: FieldType): type is Message => typeof type === "object";

const messagesOf = (message: Message, seen = new Set<Message>()): ReadonlySet<Message> => {
  seen.add(message);
  for (const field of message.fields)
    if (field && isMessage(field.type) && !seen.has(field.type)) messagesOf(field.type, seen);
  return seen;
};

const SCALARS: Readonly<Record<string, string>> = {
  text: "string",
  bytes: "bytes",
  int32: "int32",
  int64: "int64",
  bigint64: "int64",
  bool: "bool",
};

const shapeOf = (field: protobuf.Field): WireField["shape"] =>
  field instanceof protobuf.MapField ? "map" : field.repeated ? "list" : "one";

const root = publishedSchema();

const ownField = (field: WireField, number: number) => ({
  name: field.name,
  number,
  shape: field.shape,
  type: isMessage(field.type) ? field.type.fullName : SCALARS[field.type],
});

const publishedField = (fullName: string, name: string) => {
  const field = root.lookupType(fullName).get(name) as protobuf.Field;
  return {
    name: field.name,
    number: field.id,
    shape: shapeOf(field),
    type: field.resolvedType?.fullName.slice(1) ?? field.type,
  };
};

describe("the tables of fields", () => {
  const messages = ROOTS.flatMap((message) => [...messagesOf(message)]);

  it("name messages, fields, numbers and types as the published .proto files do", () => {
    expect(messages.length).toBeGreaterThan(40);
    for (const { fullName, fields } of messages) {
      for (const [number, field] of fields.entries()) {
        if (field)
          expect(ownField(field, number), fullName).toEqual(publishedField(fullName, field.name));
      }
    }
  });
});
