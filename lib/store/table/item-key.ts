import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Key } from "./keys.ts";

/** A key in the form of DynamoDB requests. */
export const itemKey = (key: Key): { pk: AttributeValue; sk: AttributeValue } => ({ pk: { S: key.pk }, sk: { S: key.sk } });
