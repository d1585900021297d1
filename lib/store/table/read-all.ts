import { type AttributeValue, QueryCommand, type QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { repeat } from "./repeat.ts";
import type { Tables } from "./tables.ts";

/** Every item of a query, page by page. Only one page is in memory. */
export async function* readAll(tables: Tables, action: string, params: QueryCommandInput): AsyncGenerator<Record<string, AttributeValue>> {
  let from: Record<string, AttributeValue> | undefined;
  do {
    const page = await repeat(tables, action, () => tables.client.send(new QueryCommand({ ...params, ...(from && { ExclusiveStartKey: from }) })));
    yield* page.Items ?? [];
    from = page.LastEvaluatedKey;
  } while (from);
}
