import { App, Stack } from "aws-cdk-lib";
import { readConfig } from "../../infra/config";
import { TrainerNetwork } from "../../infra/constructs/trainer-network";
import { TrainerQueue } from "../../infra/constructs/trainer-queue";

it("refuses gangs on spot, where Batch would let them hang without an error", () => {
  const stack = new Stack(new App(), "Stack");
  const network = new TrainerNetwork(stack, "Network");
  const config = readConfig({}, stack.node);
  expect(
    () => new TrainerQueue(stack, "Queue", { queueName: "gangs", market: "spot", serves: "gangs", network, config }),
  ).toThrow(/"gangs" is to serve gangs \(multi-node-parallel jobs\) on spot/);
});
