import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../infra/lambda/dynoxide.ts";

export const HAS_MOTO = ((): boolean => {
  try {
    execFileSync("moto_server", ["--help"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

export interface Moto {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** An emulated account of AWS on loopback. */
export const motoServer = async (): Promise<Moto> => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const emulator = spawn("moto_server", ["-H", "127.0.0.1", "-p", String(port)], {
    stdio: "ignore",
  });
  const answers = (): Promise<boolean> =>
    fetch(`${url}/moto-api/`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let attempt = 0; attempt < 100 && !(await answers()); attempt++) await wait(200);
  return {
    url,
    close: async () => {
      emulator.kill("SIGKILL");
      await once(emulator, "exit");
    },
  };
};
