import { type Decoded, decodeAnswer, PROTOBUF, STATUS_KIND } from "../wire/answer.ts";
import { decodeJson } from "../wire/decode-json.ts";
import type { Receiver } from "../wire/kept-parts.ts";
import type { Answered, Exchange } from "./exchange.ts";
import type { ApiRequest } from "./send.ts";

/** The API groups of a cluster that do not answer with protobuf. The first JSON answer to a request for protobuf adds its group, for the life of the client. */
export interface Formats {
  readonly asksProtobuf: (request: ApiRequest) => boolean;
  /** Checks an answer to a request for protobuf. "again" means that the server refused the format, so that the request must be repeated for JSON. */
  readonly see: (request: ApiRequest, outcome: Exchange) => "again" | "done";
}

const NOT_ACCEPTABLE = 406;

export const formats = (): Formats => {
  const jsonOnly = new Set<string>();
  return {
    asksProtobuf: (request) => request.protobuf !== undefined && !jsonOnly.has(groupVersionOf(request)),
    see: (request, outcome) => {
      if (outcome.kind === "broken") return "done";
      const refused = outcome.status === NOT_ACCEPTABLE;
      if (refused || (outcome.status === 200 && !isProtobuf(outcome))) jsonOnly.add(groupVersionOf(request));
      return refused ? "again" : "done";
    },
  };
};

/** "/api/v1", "/apis/metrics.k8s.io/v1beta1": the group and version, which one server behind the API answers. */
const groupVersionOf = ({ path }: ApiRequest): string => /^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)/.exec(path)?.[0] ?? path;

const isProtobuf = ({ headers }: Answered): boolean => (headers["content-type"] ?? "").split(";")[0]?.trim() === PROTOBUF;

/** The content of an answer, in the format of its content type. */
export const bodyOf = async (answer: Answered, { protobuf, fields, ...receiver }: ApiRequest & Receiver): Promise<Decoded> => {
  if (isProtobuf(answer)) {
    if (answer.status >= 300 || protobuf === undefined) return decodeAnswer(answer.bytes, STATUS_KIND);
    const decoded = await decodeAnswer(answer.bytes, protobuf, receiver);
    return decoded.kind === "object" && receiver.onItem ? { ...decoded, streamed: true } : decoded;
  }
  const decoded = await decodeJson(answer.bytes, answer.status < 300 ? { ...receiver, message: receiver.onItem ? protobuf?.message : fields } : {});
  return decoded.kind === "object"
    ? decoded
    : { ...decoded, state: `the server answered ${answer.status} without a JSON object that can be read: ${decoded.state}` };
};
