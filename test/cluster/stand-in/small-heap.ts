import { clientTo, deployment, QUEUE, WHOLE, watch } from "./watched.ts";
import { partsOf } from "../../answers.ts";

/**
 * A process that observes one cluster and says what it saw: `fork("small-heap.ts", [url], {
 * execArgv: ["--max-old-space-size=…"] })`, with the CA as its first message.
 */
const [url = ""] = process.argv.slice(2);
process.once("disconnect", () => process.exit(0));
const observe = async (ca: string): Promise<void> => {
  const client = clientTo({ url, ca });
  const rollout = watch("shop", "roll", {
    target: { ...deployment("roll"), apiVersion: "example.com/v1", kind: "Rollout" },
  });
  const watched = [
    watch("shop", "web"),
    watch("shop", "worker", { metrics: [QUEUE], selector: "app=worker" }),
    rollout,
  ];
  const { observations } = await client.observe(watched, { ...WHOLE, budgetMs: 20_000 });
  const of = (uid: string) => [...observations].find(([key]) => key === uid)?.[1].observation;
  const seen = {
    pods: partsOf(of("shop/web")?.answers).resource,
    queue: partsOf(of("shop/worker")?.answers).external.values().next().value,
    rollout: of("shop/roll")?.scale,
  };
  process.send?.(
    JSON.parse(
      JSON.stringify(seen, (_key, value) => (typeof value === "bigint" ? String(value) : value)),
    ),
  );
  client.close();
};
process.once("message", (ca: string) => void observe(ca));
process.send?.("ready");
