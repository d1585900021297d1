import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";

/**
 * The programs of a real Prometheus: of the system, or unpacked by hand (`apt-get download
 * prometheus`, `dpkg -x`).
 */
const found = (program: string): string | undefined =>
  [join(homedir(), ".cache/tidemark/prometheus", program), join("/usr/bin", program)].find((path) =>
    existsSync(path),
  );

export const HAS_PROMETHEUS = found("prometheus") !== undefined && found("promtool") !== undefined;

export interface RealPrometheus {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

const READY_MS = 20_000;

/**
 * Starts a Prometheus with these series: OpenMetrics text with times in seconds, without `# EOF`.
 * It scrapes nothing.
 */
export const realPrometheus = async (openMetrics: string): Promise<RealPrometheus> => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-prometheus-"));
  writeFileSync(join(folder, "series.txt"), `${openMetrics}\n# EOF\n`);
  writeFileSync(join(folder, "prometheus.yml"), "scrape_configs: []\n");
  execFileSync(
    found("promtool") ?? "",
    ["tsdb", "create-blocks-from", "openmetrics", join(folder, "series.txt"), join(folder, "data")],
    {
      stdio: "pipe",
    },
  );
  return started(folder, "127.0.0.1");
};

interface Scraping {
  /** HOST:PORT of what it scrapes. */
  readonly target: string;
  /** `/metrics` by default. */
  readonly path?: string;
  readonly everyMs: number;
  /** Where it listens. The API server calls no service on loopback. */
  readonly host: string;
}

/** Starts a Prometheus that scrapes one target. */
export const scrapingPrometheus = async ({
  target,
  path = "/metrics",
  everyMs,
  host,
}: Scraping): Promise<RealPrometheus> => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-prometheus-"));
  const job = {
    job_name: "load",
    metrics_path: path,
    scrape_interval: `${everyMs}ms`,
    scrape_timeout: `${everyMs}ms`,
    static_configs: [{ targets: [target] }],
  };
  writeFileSync(join(folder, "prometheus.yml"), JSON.stringify({ scrape_configs: [job] }));
  return started(folder, host);
};

const started = async (folder: string, host: string): Promise<RealPrometheus> => {
  const port = await freePort();
  const url = `http://${host}:${port}`;
  const process_: ChildProcess = spawn(
    found("prometheus") ?? "",
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      "--storage.tsdb.retention.time=10d",
      `--web.listen-address=${host}:${port}`,
    ],
    { stdio: "ignore" },
  );
  const close = async (): Promise<void> => {
    const ended = new Promise((resolve) => process_.once("exit", resolve));
    process_.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const untilMs = performance.now() + READY_MS;
  for (;;) {
    const ready = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return { url, close };
    if (performance.now() > untilMs) {
      await close();
      throw new Error(`Prometheus was not ready within ${READY_MS} ms`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
