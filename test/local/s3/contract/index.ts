import { conditionContract } from "./conditions";
import { listingContract } from "./listing";
import { multipartContract } from "./multipart";
import { objectContract } from "./objects";
import type { Target } from "./target";

/**
 * Defines the tests of the S3 features that the product uses. The embedded S3 and an original run the same tests: a
 * test that the original fails is wrong.
 */
export function s3Contract(target: () => Target): void {
  describe("objects", () => objectContract(target));
  describe("conditions", () => conditionContract(target));
  describe("listing", () => listingContract(target));
  describe("multipart", () => multipartContract(target));
}
