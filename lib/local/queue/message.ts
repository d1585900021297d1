import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";

/** A message attribute as the JSON protocol of SQS carries it; bytes are base64. */
export const attributeSchema = z.object({
  DataType: z.string(),
  StringValue: z.string().optional(),
  BinaryValue: z.string().optional(),
});

export const messageSchema = z.object({
  id: z.string(),
  /** Order of arrival; decides between messages that become visible at the same instant. */
  sequence: z.int(),
  body: z.string(),
  groupId: z.string().optional(),
  attributes: z.record(z.string(), attributeSchema),
  sentMs: z.number(),
  /** Not received before: its delay, or its visibility timeout, ends here. */
  visibleAtMs: z.number(),
  receiveCount: z.int(),
  firstReceivedMs: z.number().optional(),
  /** Set once somebody had it: the last receipt, and where `visibleAtMs` was before. */
  inFlight: z.object({ receipt: z.string(), waitedMs: z.number() }).optional(),
});

export type Message = z.infer<typeof messageSchema>;
export type MessageAttributes = Message["attributes"];

export const newMessageId = (): string => randomUUID();

/** A receipt names its message, so that an old one is told from one that never was. */
export const newReceipt = (id: string): string => Buffer.from(`${id} ${randomUUID()}`).toString("base64url");
export const idOfReceipt = (receipt: string): string | undefined => {
  const [id, serial] = Buffer.from(receipt, "base64url").toString().split(" ");
  return serial === undefined ? undefined : id;
};

export const md5OfBody = (body: string): string => createHash("md5").update(body).digest("hex");

/** The digest that SQS gives for attributes: names in order, each with name, type and value behind their lengths. Absent when there are none. */
export const md5OfAttributes = (attributes: MessageAttributes): string | undefined => {
  const names = Object.keys(attributes).sort();
  if (names.length === 0) return undefined;
  const hash = createHash("md5");
  const sized = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  for (const name of names) {
    const attribute = attributes[name];
    sized(Buffer.from(name));
    sized(Buffer.from(attribute?.DataType ?? ""));
    const binary = attribute?.BinaryValue !== undefined;
    hash.update(Buffer.of(binary ? 2 : 1));
    sized(binary ? Buffer.from(attribute.BinaryValue ?? "", "base64") : Buffer.from(attribute?.StringValue ?? ""));
  }
  return hash.digest("hex");
};

/** Bytes that count against the size limit: body, and of each attribute name, type and value. */
export const sizeOf = (body: string, attributes: MessageAttributes): number =>
  Object.entries(attributes).reduce(
    (sum, [name, { DataType, StringValue = "", BinaryValue = "" }]) =>
      sum + Buffer.byteLength(name + DataType + StringValue) + Buffer.byteLength(BinaryValue, "base64"),
    Buffer.byteLength(body),
  );
