import { runRepositoryContract } from "../../runs/run-repository-contract";
import { createMemoryRuns } from "./memory-runs";

describe("runs in memory, which the model of a run's life is made with", () => {
  runRepositoryContract(createMemoryRuns);
});
