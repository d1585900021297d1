import { describe, expect, it } from "vitest";
import { sourceFaults } from "../../lib/answers/service/sources/source-faults.ts";
import { sourceRecord } from "../source-client/scene.ts";

const faults = (more: Parameters<typeof sourceRecord>[0], ownAddresses = false) =>
  sourceFaults("main", sourceRecord(more), { ownAddresses }).join("; ");

describe("a source that is registered in a deployed stack", () => {
  it.each([
    "https://127.0.0.1",
    "https://localhost:9090",
    "https://0x7f000001",
    "https://[::ffff:169.254.169.254]",
    "https://169.254.169.254",
    "https://[64:ff9b::a9fe:a9fe]",
  ])("may not lead to %s, private or not", (url) => {
    for (const isPrivate of [true, false])
      expect(faults({ url, private: isPrivate })).toContain(
        "an address of this machine, of its network link or of a metadata service",
      );
  });

  it.each(["https://10.1.2.3", "https://192.168.0.1", "https://100.64.1.1", "https://[fd00::1]"])(
    "may lead to %s only where it says private",
    (url) => {
      expect(faults({ url })).toContain("in a private network; set private to true");
      expect(faults({ url, private: true })).toBe("");
    },
  );

  it("is asked without TLS only where it says private", () => {
    expect(faults({ url: "http://p.example.com" })).toContain("url must begin with https://");
    expect(faults({ url: "http://p.example.com", private: true })).toBe("");
  });

  it.each(["http://p.monitoring.svc:9090", "https://p.monitoring.svc.cluster.local"])(
    "may not lead to %s, which only the cluster resolves",
    (url) => {
      for (const own of [true, false])
        expect(faults({ url, private: true }, own)).toContain(
          "a name that only pods of the cluster resolve; give service in place of it: --service NAMESPACE/NAME:PORT",
        );
    },
  );

  it("has an authority of its own only in PEM, and only with an address that has TLS", () => {
    expect(faults({ url: "https://p.example.com", caData: "bm8=" })).toBe(
      "caData must be certificates in PEM, in base64: base64 -w0 ca.crt",
    );
    const service = { namespace: "a", name: "b", port: "1", scheme: "https", path: "" } as const;
    for (const place of [{ service }, { url: "http://p.example.com", private: true }])
      expect(faults({ ...place, caData: "bm8=" })).toContain(
        "caData is for a url that begins with https://",
      );
  });

  it("of a service cannot send Authorization, and says which way there is", () => {
    const service = { namespace: "a", name: "b", port: "1", scheme: "https", path: "" } as const;
    expect(faults({ service, auth: { kind: "basic", secretId: "t/source.main" } })).toBe(
      "auth of a service must be of kind header or headers: the API server takes the header Authorization for itself. For basic, register the server by --url, with --private where it is in a private network",
    );
  });

  it("takes partial answers only of a Prometheus", () => {
    expect(faults({ url: "https://p.example.com", partialAnswers: true })).toBe("");
    expect(faults({ kind: "http", url: "https://p.example.com", partialAnswers: true })).toBe(
      "partialAnswers is for prometheus, and this is http",
    );
  });

  it("may be on this machine in the embedded run", () => {
    expect(faults({ url: "http://127.0.0.1:9090" }, true)).toBe("");
  });

  it("names each fault at once", () => {
    expect(faults({ url: "x", clusters: [], namespaces: ["Shop"], timeoutSeconds: 0 })).toBe(
      'url is no URL; clusters is empty, so that nobody may ask it; give names, patterns such as prod-*, or *; namespaces: "Shop" must be small letters, digits, - and *, at most 63; timeoutSeconds must be a whole number from 1 to 10, and is 0',
    );
  });
});
