import { hash } from "node:crypto";
import * as z from "zod";
import type { QueryService } from "../service/service.ts";
import { type RowField, type RowQuery, withFields } from "../service/views/row-view.ts";
import type { ClusterRows } from "../views/row.ts";
import { Page, cursorIn, pageToken } from "./list-page.ts";
import { TAG_HEADER } from "./paths.ts";
import type { Reply } from "./request-and-answer.ts";
import type { RouteContext } from "./route.ts";

const CURSOR = z.strictObject({ cluster: z.string() });

/** Rows compress to an eighth, so that a page has more of them: a fleet of 10,000 autoscalers takes three pages. */
const PAGE_FACTOR = 2;

type RowsInput = RowQuery & { readonly page?: string };

/**
 * One page of rows, cluster by cluster. Its entity tag is weak, and stands for all that the rows show but their ages: with If-None-Match, an answer that shows the same is a 304 without a body.
 */
export const rowsPage = async (service: QueryService, { page: token, fields, known, ...query }: RowsInput, context: RouteContext): Promise<Reply> => {
  // The marks are no part of the question: a later page may have others.
  const question = { ...query, ...(fields && { fields }) };
  const after = token === undefined ? undefined : cursorIn(CURSOR, question, token).cluster;
  const limits = { ...context.limits, bytes: PAGE_FACTOR * context.limits.bytes };
  const page = new Page<z.infer<typeof CURSOR>>(limits, context.clock);
  const marks: (string | undefined)[] = [];
  const left = await page.fill(chosen(service.rows({ ...query, ...(known !== undefined && { known }) }, after), fields, marks), ({ cluster }) => ({
    cluster,
  }));
  const reply = page.reply(left && pageToken(question, left));
  return tagged(reply, question, marks);
};

async function* chosen(
  clusters: AsyncIterable<ClusterRows>,
  fields: readonly RowField[] | undefined,
  marks: (string | undefined)[],
): AsyncGenerator<{ readonly cluster: string }> {
  for await (const { rows, ...cluster } of clusters) {
    marks.push(...cluster.partitions.map(({ mark }) => mark), ...rows.flatMap(({ partition }) => (partition === undefined ? [undefined] : [])));
    yield { ...cluster, rows: fields ? rows.map((row) => withFields(row, fields)) : rows } as ClusterRows;
  }
}

/** Without a tag where a partition has no mark: what it shows may change unseen. */
const tagged = (reply: Reply, question: object, marks: readonly (string | undefined)[]): Reply => {
  if (marks.includes(undefined)) return reply;
  const tag = `W/"${hash("sha256", JSON.stringify([question, marks]), "base64url").slice(0, 22)}"`;
  return { ...reply, headers: { ...reply.headers, [TAG_HEADER]: tag } };
};
