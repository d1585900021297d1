import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AccessRecord,
  arnFault,
  type Grant,
  matchesArn,
  matchesName,
  namePatternFault,
  rightsOf,
} from "../../lib/rules/model/access.ts";

const GRACE = "arn:aws:sts::123456789012:assumed-role/Operators/grace";
const ADA = "arn:aws:iam::123456789012:user/eng/ada";

describe("matchesArn()", () => {
  it.each([
    ["arn:aws:sts::123456789012:assumed-role/Operators/*", GRACE],
    ["arn:aws:sts::123456789012:assumed-role/Oper*/gr*e", GRACE],
    ["arn:aws:sts::123456789012:assumed-role/*/*", GRACE],
    [GRACE, GRACE],
    ["arn:aws:iam::123456789012:user/eng/*", ADA],
    ["arn:aws:iam::123456789012:root", "arn:aws:iam::123456789012:root"],
  ])("matches %s", (pattern, caller) => {
    expect(arnFault(pattern)).toBeUndefined();
    expect(matchesArn(pattern, caller)).toBe(true);
  });

  it.each([
    [
      "another role whose session has the name",
      "arn:aws:sts::123456789012:assumed-role/Operators/grace",
      "arn:aws:sts::123456789012:assumed-role/Guests/grace",
    ],
    [
      "a session that is named as role and session",
      "arn:aws:sts::123456789012:assumed-role/*/Operators",
      GRACE,
    ],
    [
      "a role whose name begins as another",
      "arn:aws:sts::123456789012:assumed-role/Operators/*",
      "arn:aws:sts::123456789012:assumed-role/OperatorsOfGuests/x",
    ],
    ["another spelling", "arn:aws:sts::123456789012:assumed-role/operators/*", GRACE],
    [
      "another account",
      "arn:aws:sts::123456789012:assumed-role/Operators/*",
      "arn:aws:sts::210987654321:assumed-role/Operators/grace",
    ],
    ["another partition", "arn:aws-cn:sts::123456789012:assumed-role/Operators/*", GRACE],
    [
      "a user under a path, by a star that would cross a slash",
      "arn:aws:iam::123456789012:user/*",
      ADA,
    ],
    [
      "a user outside of the path",
      "arn:aws:iam::123456789012:user/eng/*",
      "arn:aws:iam::123456789012:user/ada",
    ],
    [
      "a user whose name has a slash less",
      "arn:aws:iam::123456789012:user/eng/*",
      "arn:aws:iam::123456789012:user/eng/more/ada",
    ],
    [
      "a text that is no ARN",
      "arn:aws:sts::123456789012:assumed-role/Operators/*",
      "Operators/grace",
    ],
    [
      "a user with a colon in the path",
      "arn:aws:iam::123456789012:user/eng/*",
      "arn:aws:iam::123456789012:user/x:user/eng/ada",
    ],
  ])("does not match %s", (_what, pattern, caller) => {
    expect(matchesArn(pattern, caller)).toBe(false);
  });

  it.each([
    ["*"],
    ["arn:aws:sts::*:assumed-role/Operators/*"],
    ["arn:aws:sts::123456789012:assumed-role/Operators"],
    ["arn:aws:sts::123456789012:*/Operators/x"],
    ["arn:aws:sts::123456789012:assumed-role/a/b/c"],
    ["arn:aws:iam::123456789012:group/x"],
    ["arn:aws:iam::123456789012:user/"],
    [`arn:aws:iam::123456789012:user/${"x".repeat(600)}`],
  ])("takes no pattern that no caller has: %s", (pattern) => {
    expect(arnFault(pattern)).toContain("must be the ARN of a caller");
  });

  it("says how the sessions of a role are named, because a role itself never calls", () => {
    expect(arnFault("arn:aws:iam::123456789012:role/path/Operators")).toContain(
      "arn:aws:sts::123456789012:assumed-role/Operators/*",
    );
  });
});

describe("matchesName()", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 12 });
  it("always agrees with the expression that a pattern stands for", () => {
    fc.assert(
      fc.property(
        letters,
        fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 16 }),
        (pattern, text) => {
          expect(matchesName(pattern, text)).toBe(
            new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(text),
          );
        },
      ),
    );
  });

  it("takes no long time for a hostile pattern", () => {
    expect(matchesName(`${"*a".repeat(250)}*b`, "a".repeat(100_000))).toBe(false);
  });

  it("is for names of clusters and namespaces", () => {
    expect([namePatternFault("prod-*"), namePatternFault("*")]).toEqual([undefined, undefined]);
    for (const wrong of ["", "A", "a/b", "-a", "x".repeat(64)])
      expect(namePatternFault(wrong), wrong).toBeDefined();
  });
});

describe("rightsOf()", () => {
  const grant = (more: Partial<Grant>): Grant => ({
    id: "g",
    arn: GRACE,
    role: "edit",
    cluster: "prod-*",
    by: "ada",
    atMs: 0,
    ...more,
  });
  const access = (grants: readonly Grant[], required = false): AccessRecord => ({
    grants,
    required,
    version: 1,
  });
  const [shop, infra, whole] = [
    { cluster: "prod-1", namespace: "shop" },
    { cluster: "prod-1", namespace: "infra" },
    { cluster: "prod-1" },
  ];

  it("gives a caller without a grant everything, until grants are required", () => {
    expect(rightsOf(access([]), GRACE).allows("edit", {})).toEqual({});
    expect(rightsOf(access([grant({})]), ADA).allows("edit", {})).toEqual({});
    for (const grants of [[], [grant({})]]) {
      const rights = rightsOf(access(grants, true), ADA);
      expect([rights.allows("view", shop), rights.touches("prod-1")]).toEqual([undefined, false]);
    }
  });

  it("limits a caller to its grants", () => {
    const rights = rightsOf(
      access([grant({ namespace: "shop" }), grant({ id: "v", role: "view", namespace: "infra" })]),
      GRACE,
    );
    expect([rights.allows("edit", shop), rights.allows("view", shop)]).toEqual([
      { grant: "g" },
      { grant: "g" },
    ]);
    expect([rights.allows("edit", infra), rights.allows("view", infra)]).toEqual([
      undefined,
      { grant: "v" },
    ]);
    expect([
      rights.allows("view", whole),
      rights.allows("view", {}),
      rights.allows("view", { cluster: "dev", namespace: "shop" }),
    ]).toEqual([undefined, undefined, undefined]);
    expect([rights.touches("prod-1"), rights.touches("dev")]).toEqual([true, false]);
  });

  it("takes one grant on all of a cluster, or on all of the fleet, for what is about all of it", () => {
    expect(rightsOf(access([grant({})]), GRACE).allows("edit", whole)).toEqual({ grant: "g" });
    expect(rightsOf(access([grant({})]), GRACE).allows("edit", {})).toBeUndefined();
    expect(rightsOf(access([grant({ cluster: "*" })]), GRACE).allows("edit", {})).toEqual({
      grant: "g",
    });
    expect(
      rightsOf(access([grant({ cluster: "*", namespace: "shop" })]), GRACE).allows("view", {}),
    ).toBeUndefined();
  });
});
