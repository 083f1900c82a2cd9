import { groups } from "./cases";
import { checkOurs } from "./check";
import { type Answer, converse } from "./converse";
import { startOurs } from "./ours";
import { writeRecording } from "./recordings";
import { describeWithMlflow, type MlflowServer, mlflowVersion, startMlflow } from "./server";

/** Set: what MLflow answers is kept, for `recorded.test.ts`. */
const recording = process.env["RINGMASTER_RECORD_MLFLOW"] === "1";

describeWithMlflow(`MLflow ${mlflowVersion}'s own server and ours answer alike`, () => {
  let mlflow: MlflowServer;
  let ours: MlflowServer;
  beforeAll(async () => {
    [mlflow, ours] = await Promise.all([startMlflow(), startOurs()]);
  }, 180_000);
  afterAll(() => Promise.all([mlflow?.stop(), ours?.stop()]));

  describe.each(groups)("$group", (group) => {
    const answers = new Map<string, readonly Answer[]>();
    afterAll(() => {
      if (recording && answers.size === group.cases.length) writeRecording(group, mlflowVersion!, answers);
    });

    it.each(group.cases)("$name", async (each) => {
      const expected = await converse(mlflow.base, each);
      answers.set(each.name, expected);
      await checkOurs(ours.base, each, expected);
    });
  });
});
