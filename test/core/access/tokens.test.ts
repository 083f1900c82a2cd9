import { createHash } from "node:crypto";
import { makeToken, tokenIdOf, tokenMatches } from "../../../core/access/tokens";
import { tokenTerms } from "../../support/token-terms";

const owner = { ...tokenTerms, team: "vision", actor: "ann", createdAt: "2026-01-01T00:00:00.000Z" };
const random = (first: number) => Uint8Array.from({ length: 38 }, (_, i) => (first + i) % 256);

describe("tokens", () => {
  const { token, record } = makeToken(owner, random(0));

  it("keep the id and the digest of the secret, not the secret", () => {
    const secret = Buffer.from(random(0).subarray(6)).toString("base64url");
    expect(token).toBe(`rmt-000102030405-${secret}`);
    expect(record).toEqual({
      id: "000102030405",
      ...owner,
      sha256: createHash("sha256").update(secret).digest("hex"),
    });
  });

  it("are known again", () => {
    expect(tokenIdOf(token)).toBe(record.id);
    expect(tokenMatches(token, record)).toBe(true);
  });

  it.each([
    ["another secret under the same id", makeToken(owner, random(0).with(37, 0)).token],
    ["a secret cut short", token.slice(0, -1)],
    ["something after it", `${token}x`],
    ["a line end after it", `${token}\n`],
    ["nothing", ""],
  ])("are not taken: %s", (_name, presented) => {
    expect(tokenMatches(presented, record)).toBe(false);
  });

  it("name no file but a record's", () => {
    expect(tokenIdOf("rmt-../../etc/pw-x")).toBeUndefined();
  });

  it("never match a damaged record", () => {
    expect(tokenMatches(token, { ...record, sha256: "" })).toBe(false);
  });
});
