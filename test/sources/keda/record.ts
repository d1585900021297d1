import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { readShippedTrace } from "../../../lib/embedded/traces/read-trace.ts";
import { demandAt } from "../../../lib/embedded/traces/trace.ts";

/**
 * `node test/sources/keda/record.ts PROGRAM`: what the scalers of KEDA 2.21 make of an hour of
 * recorded load and of answers that are no measurement, written into recorded.json. PROGRAM is
 * main.go of this folder, built inside KEDA's own module (docs/proofs-report.md, "Beside KEDA").
 */
const [program = ""] = process.argv.slice(2);
const SYNC_MS = 15_000;
const SYNCS = 240;

interface Asked {
  readonly prometheus: readonly [status: number, body: unknown];
  readonly sqs: readonly [status: number, body: unknown];
}

const success = (result: unknown, resultType = "vector"): readonly [number, unknown] => [
  200,
  { status: "success", data: { resultType, result } },
];
const vector = (...values: readonly unknown[]) =>
  success(values.map((value) => ({ metric: {}, value: [1, value] })));
const attributes = (visible: string, inFlight: string): readonly [number, unknown] => [
  200,
  {
    Attributes: {
      ApproximateNumberOfMessages: visible,
      ApproximateNumberOfMessagesNotVisible: inFlight,
    },
  },
];
const REFUSED: readonly [number, unknown] = [
  400,
  { __type: "com.amazonaws.sqs#QueueDoesNotExist", message: "no such queue" },
];

/** The busiest hour of the recorded week, as a rate with decimals and as whole messages. */
const hour = async (): Promise<readonly Asked[]> => {
  const trace = await readShippedTrace("nasa-http-launch-week-1m");
  const fromMs = 4_820 * 60_000;
  return Array.from({ length: SYNCS }, (_, at) => {
    const { value } = demandAt(trace, fromMs + at * SYNC_MS);
    return {
      prometheus: vector(String(value * 1.37 + (at % 4) / 3)),
      sqs: attributes(String(value), String(at % 7)),
    };
  });
};

const OTHERS: readonly Asked[] = [
  { prometheus: vector("0"), sqs: attributes("0", "0") },
  { prometheus: vector("0.0004"), sqs: attributes("1", "0") },
  { prometheus: vector("20"), sqs: attributes("0", "21") },
  { prometheus: vector(), sqs: REFUSED },
  { prometheus: vector("NaN"), sqs: [200, { Attributes: { ApproximateNumberOfMessages: "12" } }] },
  { prometheus: vector("+Inf"), sqs: [200, {}] },
  { prometheus: vector("1", "2"), sqs: [403, { __type: "com.amazonaws.sqs#AccessDenied" }] },
  { prometheus: success([1, "40"], "scalar"), sqs: attributes("-1", "0") },
  { prometheus: vector("-5"), sqs: attributes("many", "0") },
  { prometheus: [503, "no healthy upstream"], sqs: [500, {}] },
];

const cases = [...(await hour()), ...OTHERS];
let at = 0;
const server = createServer((request, response) => {
  const [status, body] = (request.method === "GET" ? cases[at]?.prometheus : cases[at]?.sqs) ?? [
    500,
    {},
  ];
  request.resume();
  const type = request.method === "GET" ? "application/json" : "application/x-amz-json-1.0";
  response
    .writeHead(status, { "content-type": type })
    .end(typeof body === "string" ? body : JSON.stringify(body));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const child = spawn(program, [`http://127.0.0.1:${(server.address() as AddressInfo).port}`], {
  stdio: ["pipe", "pipe", "ignore"],
  env: { ...process.env, AWS_MAX_ATTEMPTS: "1" },
});
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const recorded: object[] = [];
for (const asked of cases) {
  child.stdin.write("\n");
  const { value } = await lines.next();
  recorded.push({ ...asked, keda: JSON.parse(String(value)) });
  at += 1;
}
child.stdin.end();
server.close();
const text = recorded.map((one) => JSON.stringify(one)).join(",\n");
writeFileSync(join(import.meta.dirname, "recorded.json"), `[\n${text}\n]\n`);
