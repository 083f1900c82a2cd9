import { S3 } from "@aws-sdk/client-s3";
import { createObjectStore } from "../../adapters/s3/object-store";
import { objectStoreContract } from "../adapters/s3/object-store-contract";
import { s3Contract } from "../local/s3/contract";

/**
 * Holds MinIO to the same contract as the embedded S3. Wants one running:
 *
 *     MINIO_ROOT_USER=oracle MINIO_ROOT_PASSWORD=oracle-secret minio server --address 127.0.0.1:9000 /tmp/minio
 *     RINGMASTER_ORACLES=1 npx jest test/peers/s3-oracle.test.ts      # RINGMASTER_ORACLE_S3=http://… for another address
 */
const endpoint = process.env["RINGMASTER_ORACLE_S3"] ?? "http://127.0.0.1:9000";
const isRequested = process.env["RINGMASTER_ORACLES"] !== undefined;

const client = new S3({
  endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "oracle", secretAccessKey: "oracle-secret" },
});
afterAll(() => client.destroy());

(isRequested ? describe : describe.skip)("MinIO (skipped unless RINGMASTER_ORACLES is set and MinIO runs)", () => {
  beforeAll(async () => {
    const probe = client.headBucket({ Bucket: "reachable" });
    await probe.catch((error: Error) => {
      if (error.name !== "NotFound")
        throw new Error(`RINGMASTER_ORACLES is set, but no MinIO answers at ${endpoint}: ${error.message}`);
    });
  });
  s3Contract(() => ({ name: "MinIO", endpoint, client }));
  objectStoreContract("on MinIO", async () => {
    const bucket = `objects-${Date.now()}`;
    await client.createBucket({ Bucket: bucket });
    return createObjectStore(client, bucket);
  });
});
