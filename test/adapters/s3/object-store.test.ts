import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { createContentUrls } from "../../../adapters/s3/content-urls";
import { createObjectStore } from "../../../adapters/s3/object-store";
import { objectKeys, teamPrefix } from "../../../core/platform/object-keys";
import { type RunningS3, startS3 } from "../../local/s3/harness";
import { objectStoreContract } from "./object-store-contract";

describe("createObjectStore", () => {
  let s3: RunningS3;
  beforeAll(async () => {
    s3 = await startS3();
    await s3.client.send(new CreateBucketCommand({ Bucket: "contract" }));
  });
  afterAll(() => s3.close());

  objectStoreContract("on S3's wire protocol", async () => createObjectStore(s3.client, "contract"));
  objectStoreContract("under a prefix", async () => createObjectStore(s3.client, "contract", "teams/red/"));

  it("keeps what lies under one prefix from another, content included", async () => {
    const [red, blue] = ["red", "blue"].map((team) => createObjectStore(s3.client, "contract", teamPrefix(team)));
    const large = new Uint8Array(9 * 2 ** 20); // in parts
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

  it("makes URLs to a team's own content", async () => {
    const urls = createContentUrls(s3.client, "contract", "blue");
    for (const url of [(await urls.forUpload("a".repeat(64))).url, await urls.forDownload("a".repeat(64))])
      expect(new URL(url).pathname).toContain(`/teams/blue/cas/sha256/${"a".repeat(64)}`);
  });
});
