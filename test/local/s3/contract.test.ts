import { s3Contract } from "./contract";
import { type RunningS3, startS3 } from "./harness";

let s3: RunningS3;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3.close());

describe("the embedded S3 passes S3's contract", () => s3Contract(() => s3));
