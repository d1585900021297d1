/**
 * What a field of a protobuf message holds. Names follow the published `.proto` files, as the JSON does. A `bigint64` stays a BigInt, which JSON never has: so
 * seconds and nanoseconds differ from the numbers that a JSON answer has in the same field.
 */
export type FieldType = "text" | "bytes" | "int32" | "int64" | "bigint64" | "bool" | Message | Single;

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly shape: "one" | "list" | "map";
  /** Wire type that an encoder uses for this field: 0 for numbers, 2 for everything with a length. */
  readonly wireType: 0 | 2;
}

/** The fields that are read, each at the index of its number. All others are skipped without parsing. */
export interface Message {
  readonly fullName: string;
  readonly fields: readonly (Field | undefined)[];
}

/** A message that JSON shows as one value: a Time, a Duration, a Quantity. */
export interface Single extends Message {
  readonly only: Field;
}

type FieldOf = Omit<Field, "name"> & { readonly number: number };

const wireTypeOf = (type: FieldType): Field["wireType"] => (type === "int32" || type === "int64" || type === "bigint64" || type === "bool" ? 0 : 2);

export const one = (number: number, type: FieldType): FieldOf => ({ number, type, shape: "one", wireType: wireTypeOf(type) });
export const list = (number: number, type: Exclude<FieldType, "int32" | "int64" | "bigint64" | "bool">): FieldOf => ({
  number,
  type,
  shape: "list",
  wireType: 2,
});
/** A map with text keys. */
export const map = (number: number, type: "text" | Single): FieldOf => ({ number, type, shape: "map", wireType: 2 });

export const message = (fullName: string, fields: Readonly<Record<string, FieldOf>>): Message => {
  const byNumber: (Field | undefined)[] = [];
  for (const [name, { number, ...field }] of Object.entries(fields)) byNumber[number] = { name, ...field };
  // A list without holes: looking at an absent index is then as fast as at any other.
  return { fullName, fields: Array.from(byNumber) };
};

export const single = (fullName: string, fieldName: string, field: FieldOf): Single => {
  const { fields } = message(fullName, { [fieldName]: field });
  return { fullName, fields, only: { name: fieldName, ...field } };
};

/** A kind that is requested as protobuf. */
export interface WireKind {
  /** The kind in the answer. */
  readonly kind: string;
  readonly message: Message;
}
