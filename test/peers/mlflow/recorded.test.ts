import { groups } from "./cases";
import { checkOurs, stepsDigest } from "./check";
import { startOurs } from "./ours";
import { readRecording } from "./recordings";
import type { MlflowServer } from "./server";

describe("ours answers as MLflow's server did when it was recorded", () => {
  let ours: MlflowServer;
  beforeAll(async () => {
    ours = await startOurs();
  });
  afterAll(() => ours?.stop());

  describe.each(groups)("$group", (group) => {
    const { cases } = readRecording(group.group);

    it.each(group.cases)("$name", async (each) => {
      const recorded = cases[each.name];
      if (recorded?.steps !== stepsDigest(each)) {
        throw new Error(
          `the recording has no such conversation: RINGMASTER_RECORD_MLFLOW=1 npx jest test/peers/mlflow/mlflow.test.ts records it`,
        );
      }
      await checkOurs(ours.base, each, recorded.answers);
    });
  });
});
