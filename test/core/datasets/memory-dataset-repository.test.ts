import type { DatasetRepository } from "../../../core/datasets/repository";
import { createMemoryDatasetRepository } from "./memory-dataset-repository";
import { describeDatasetRepository } from "./repository-contract";

describe("dataset repository in memory", () => {
  describeDatasetRepository(async () => {
    const teams = new Map<string, DatasetRepository>();
    return (team) => {
      const repository = teams.get(team) ?? createMemoryDatasetRepository(team);
      teams.set(team, repository);
      return repository;
    };
  });
});
