import { afterEach, describe, expect, it } from "vitest";
import { type SeriesServer, startSeriesServer } from "../../lib/embedded/run/series-server.ts";

let server: SeriesServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const started = async (
  read: Parameters<typeof startSeriesServer>[0],
  port = 0,
): Promise<string> => {
  server = await startSeriesServer(read, port);
  return server.url;
};

describe("startSeriesServer()", () => {
  it("answers GET /metrics on loopback with the text of that moment, as OpenMetrics", async () => {
    let scrapes = 0;
    const url = await started(async () => `# scrape ${++scrapes}\n# EOF\n`);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}\/metrics$/);
    const first = await fetch(url);
    expect([first.status, first.headers.get("content-type")]).toEqual([
      200,
      "application/openmetrics-text; version=1.0.0; charset=utf-8",
    ]);
    expect(await first.text()).toBe("# scrape 1\n# EOF\n");
    expect(await (await fetch(`${url}?name[]=x`)).text()).toBe("# scrape 2\n# EOF\n");
  });

  it("passes the labels on that the scrape names", async () => {
    const url = await started(async (labels) => `# ${JSON.stringify(labels)}\n# EOF\n`);
    const named = async (query: string) => (await fetch(`${url}${query}`)).text();
    expect(await named("?labels=team,tier")).toBe('# ["team","tier"]\n# EOF\n');
    expect(await named("?labels=team%20tier")).toBe('# ["team","tier"]\n# EOF\n');
    expect(await named("?labels=")).toBe("# []\n# EOF\n");
    expect(await named("")).toBe("# []\n# EOF\n");
  });

  it("answers HEAD without the text, but with its length", async () => {
    const url = await started(async () => "# é\n# EOF\n");
    const { status, headers, body } = await fetch(url, { method: "HEAD" });
    expect([status, headers.get("content-length"), body]).toEqual([200, "11", null]);
  });

  it.each(["/", "/metrics/", "/metricsx", "/metrics2?a=/metrics"])(
    "has nothing at %s",
    async (path) => {
      const url = await started(async () => "# EOF\n");
      const response = await fetch(url.replace(/\/metrics$/, path));
      expect([response.status, await response.text()]).toEqual([
        404,
        "Not found: the series are at /metrics\n",
      ]);
    },
  );

  it("refuses every method that writes", async () => {
    const response = await fetch(await started(async () => "# EOF\n"), {
      method: "POST",
      body: "x",
    });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("tells a failure in one line, and answers again when it is over", async () => {
    let broken = true;
    const url = await started(async () => {
      if (broken) throw new Error("the tables\nare closed");
      return "# EOF\n";
    });
    const failed = await fetch(url);
    expect([failed.status, await failed.text()]).toEqual([
      500,
      "Cannot read the series: the tables are closed\n",
    ]);
    broken = false;
    expect((await fetch(url)).status).toBe(200);
  });

  it("takes the port that is asked for, and says when another has it", async () => {
    const port = Number(new URL(await started(async () => "# EOF\n")).port);
    await expect(startSeriesServer(async () => "", port)).rejects.toMatchObject({
      code: "local.port-in-use",
      message: `Cannot listen on port ${port} of 127.0.0.1: another process has it`,
    });
    await server?.close();
    expect(new URL(await started(async () => "# EOF\n", port)).port).toBe(String(port));
  });
});
