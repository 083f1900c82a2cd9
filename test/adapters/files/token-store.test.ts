import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTokenStore, requireTokens } from "../../../adapters/files/token-store";
import { makeToken } from "../../../core/access/tokens";
import { temporaryFolder } from "../../support/temporary-folder";
import { tokenTerms } from "../../support/token-terms";

describe("tokens on disk", () => {
  const folder = temporaryFolder("tokens");
  let data: string;
  beforeEach(() => {
    data = mkdtempSync(join(folder, "tokens-"));
  });

  const make = (first: number, at = "2026-01-01T00:00:00.000Z") =>
    makeToken(
      { ...tokenTerms, team: "vision", actor: "ann", createdAt: at },
      Uint8Array.from({ length: 38 }, (_, i) => first + i),
    );

  it("are not required until one exists, or until they are required explicitly", async () => {
    const store = createTokenStore(data);
    expect(await store.required()).toBe(false);
    expect(await store.list()).toEqual([]);
    await requireTokens(data);
    expect(await store.required()).toBe(true);
  });

  it("stay required when their directory is lost", async () => {
    const store = createTokenStore(data);
    const { token, record } = make(5);
    await store.add(record);
    rmSync(join(data, "tokens"), { recursive: true });
    expect(await store.required()).toBe(true);
    expect(await store.verify(token)).toBeUndefined();
    await store.add(record);
    expect(await store.verify(token)).toEqual(record);
  });

  it("are known and listed until they are revoked", async () => {
    const store = createTokenStore(data);
    const [late, early] = [make(1, "2026-01-02T00:00:00.000Z"), make(2)];
    await store.add(late.record);
    await store.add(early.record);
    expect(await store.verify(late.token)).toEqual(late.record);
    expect(await store.verify(late.token.replace(/.$/, "A"))).toBeUndefined();
    expect(await store.list()).toEqual([early.record, late.record]);
    expect(await store.revoke(late.record.id)).toBe(true);
    expect(await store.revoke(late.record.id)).toBe(false);
    expect(await store.verify(late.token)).toBeUndefined();
    expect(await store.verify(early.token)).toEqual(early.record);
    await store.revoke(early.record.id);
    expect(await store.required()).toBe(true);
  });

  it("are stored for their owner only, without the secret", async () => {
    const { token, record } = make(3);
    await createTokenStore(data).add(record);
    const directory = join(data, "tokens");
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const [name = ""] = readdirSync(directory);
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(directory, name), "utf8")).not.toContain(token.split("-")[2]!);
  });

  it.each(["", "{", "{}", "null"])("are reported as damaged if the file contains %j", async (content) => {
    const { token, record } = make(4);
    const store = createTokenStore(data);
    await store.add(record);
    const file = join(data, "tokens", `${record.id}.json`);
    writeFileSync(file, content);
    await expect(store.verify(token)).rejects.toThrow(`${file} is damaged`);
    await expect(store.list()).rejects.toThrow(`${file} is damaged`);
    expect(await store.revoke(record.id)).toBe(true);
    expect(await store.list()).toEqual([]);
  });

  it("do not change team by a changed byte, and do not sign with a changed secret", async () => {
    const { token, record } = make(5);
    const store = createTokenStore(data);
    await store.add(record);
    const keys = await store.signer(`rmt-${record.id}`);
    const [file, secret] = [`${record.id}.json`, "signing-secret"].map((name) => join(data, "tokens", name));
    writeFileSync(
      secret!,
      readFileSync(secret!, "utf8").replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
    );
    await expect(store.signer(keys!.accessKeyId)).rejects.toThrow(`${secret} is damaged`);
    writeFileSync(file!, readFileSync(file!, "utf8").replace("vision", "visiom"));
    await expect(store.verify(token)).rejects.toThrow(`${file} is damaged`);
  });

  it("are revoked only by their id", async () => {
    writeFileSync(join(data, "keep.json"), "{}");
    await requireTokens(data);
    expect(await createTokenStore(data).revoke("../keep")).toBe(false);
    expect(readdirSync(data)).toContain("keep.json");
  });
});
