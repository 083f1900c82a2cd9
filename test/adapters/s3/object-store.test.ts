import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { createObjectStore } from "../../../adapters/s3/object-store";
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
});
