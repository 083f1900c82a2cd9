import { runRepositoryContract } from "../../core/training/run-repository-contract";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";

describe("runs in DynamoDB", () => {
  let embedded: Embedded;
  beforeAll(async () => {
    embedded = await startEmbedded();
  });
  afterAll(() => embedded.stop());

  runRepositoryContract(() => createTestPlatform(embedded).platform.runs);
});
