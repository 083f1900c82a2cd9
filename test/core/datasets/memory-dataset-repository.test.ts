import { createMemoryDatasetRepository } from "./memory-dataset-repository";
import { describeDatasetRepository } from "./repository-contract";

describe("dataset repository in memory", () => {
  describeDatasetRepository(async () => createMemoryDatasetRepository());
});
