import { type MetricSourceRecord, slowAnswer } from "../../rules/model/metric-source.ts";
import type { Answer } from "../../rules/model/observation.ts";
import type { SendToSource } from "./direct.ts";

/**
 * A way to a source that measures its requests, without the wait for their turn. An answer is
 * marked where the slowest of its requests was slow.
 */
export const watched = (source: MetricSourceRecord, send: SendToSource) => {
  let slowestMs = 0;
  return {
    send: async (...asked: Parameters<SendToSource>): ReturnType<SendToSource> => {
      const sinceMs = performance.now();
      const answer = await send(...asked);
      slowestMs = Math.max(slowestMs, performance.now() - sinceMs);
      return answer;
    },
    marked: <Item>(answer: Answer<Item>): Answer<Item> => {
      const slow = slowAnswer(source, slowestMs);
      return answer.kind === "answered" && slow ? { ...answer, slow } : answer;
    },
  };
};
