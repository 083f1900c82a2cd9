import { createHash } from "node:crypto";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { createContentUrls, presign } from "../../../adapters/s3/content-urls";
import { createIncomingContent } from "../../../adapters/s3/incoming-content";
import { createObjectStore } from "../../../adapters/s3/object-store";
import { objectKeys, teamIncomingPrefix, teamPrefix } from "../../../core/object-keys";
import { type RunningS3, startS3 } from "../../local/s3/harness";
import { objectStoreContract } from "./object-store-contract";

describe("createObjectStore", () => {
  let s3: RunningS3;
  beforeAll(async () => {
    s3 = await startS3();
    await s3.client.createBucket({ Bucket: "contract" });
  });
  afterAll(() => s3.close());

  objectStoreContract("on S3's wire protocol, under a prefix", async () =>
    createObjectStore(s3.client, "contract", "teams/red/"),
  );

  it("separates the objects of two prefixes, content included", async () => {
    const storeOf = (team: string) => createObjectStore(s3.client, "contract", teamPrefix(team));
    const [red, blue] = [storeOf("red"), storeOf("blue")];
    const large = new Uint8Array(9 * 2 ** 20); // In parts.
    async function* chunks() {
      yield large;
    }
    await red.put("runs/1/x", "red's");
    const { sha256 } = await red.putContentStream(chunks);
    expect(await blue.find("runs/1/x")).toBeUndefined();
    expect(await blue.size(objectKeys.content(sha256))).toBeUndefined();
    expect(await blue.list("")).toEqual([]);
    expect(await blue.putNew("runs/1/x", "blue's")).toBe(true);
    await blue.delete("runs/1/x");
    expect(Buffer.from(await red.get("runs/1/x")).toString()).toBe("red's");
    const bucket = createObjectStore(s3.client, "contract");
    expect(await bucket.list("teams/red/runs/1/")).toEqual(["teams/red/runs/1/x"]);
    expect(await red.list("runs/1/")).toEqual(["runs/1/x"]);
    expect(await bucket.size(`teams/red/cas/sha256/${sha256}`)).toBe(large.byteLength);
  });

  describe("presigned URLs", () => {
    const sha256 = createHash("sha256").update("five5").digest("hex");
    const content = { sha256, bytes: 5 };

    it("are for a team's own keys, one digest, one length and fifteen minutes", async () => {
      const urls = createContentUrls(s3.client, "contract", "blue");
      const upload = new URL((await urls.forUpload(content)).url);
      expect(upload.searchParams.get("X-Amz-SignedHeaders")).toBe("content-length;host;x-amz-checksum-sha256");
      const download = { contentType: "text/plain", disposition: "attachment" };
      const given = [
        upload,
        new URL(await urls.forDownload(sha256)),
        new URL(await urls.forDownload(sha256, { ...download, seconds: 86_400 })),
      ];
      for (const { pathname, searchParams } of given) {
        expect(pathname).toContain(`/teams/blue/cas/sha256/${sha256}`);
        expect(searchParams.get("X-Amz-Expires")).toBe("900");
      }
      const short = await urls.forDownload(sha256, { ...download, seconds: 300 });
      expect(new URL(short).searchParams.get("X-Amz-Expires")).toBe("300");
    });

    it("of an upload in parts are for the team's own keys and fifteen minutes", async () => {
      const blue = createObjectStore(s3.client, "contract", "teams/blue/");
      const { urls } = await createIncomingContent(s3.client, "contract", "blue", blue).begin(2);
      for (const [i, { pathname, searchParams }] of urls.map((url) => new URL(url)).entries()) {
        expect(pathname).toContain(`/contract/${teamIncomingPrefix("blue")}`);
        expect([searchParams.get("partNumber"), searchParams.get("X-Amz-Expires")]).toEqual([String(i + 1), "900"]);
        // The digest of the body is unknown.
        expect([...searchParams.keys()].filter((name) => name.includes("checksum"))).toEqual([]);
      }
    });

    it("are not made for keys outside the team's prefix", async () => {
      const command = new GetObjectCommand({ Bucket: "contract", Key: "teams/red/runs/1/x" });
      await expect(presign(s3.client, "blue", command)).rejects.toThrow("not a key of team blue");
    });
  });
});
