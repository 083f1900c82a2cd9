import { BatchClient, type SubmitJobCommandInput } from "@aws-sdk/client-batch";
import { createTrainingJobs } from "../../../adapters/batch/training-jobs";
import type { JobRequest } from "../../../core/runs/ports";
import { localConfig } from "../../../local/settings";

/** Returns the input of SubmitJob. */
async function submitted(request: Partial<JobRequest>, teamShares = {}): Promise<SubmitJobCommandInput> {
  let input: SubmitJobCommandInput | undefined;
  const client = new BatchClient({ region: "us-east-1" });
  client.send = async (command: { readonly input: SubmitJobCommandInput }) => {
    input = command.input;
    return { jobId: "job-1" };
  };
  const jobs = createTrainingJobs(client, client, { ...localConfig(), teamShares }, { keyOf: async () => "key" });
  await jobs.submit({
    runId: "run-1",
    team: "default",
    attempt: 1,
    workers: 1,
    market: "spot",
    gpusPerWorker: 0,
    vcpusPerWorker: 4,
    memoryMbPerWorker: 8_192,
    ...request,
  });
  client.destroy();
  return input!;
}

it.each<[Partial<JobRequest>, string, string]>([
  [{ market: "spot" }, "ringmaster-spot", "ringmaster-trainer"],
  [{ market: "spot", gpusPerWorker: 1, workers: 4 }, "ringmaster-spot-gpu", "ringmaster-trainer"],
  [{ market: "on-demand" }, "ringmaster-on-demand", "ringmaster-trainer"],
  [{ market: "on-demand", gpusPerWorker: 1 }, "ringmaster-on-demand-gpu", "ringmaster-trainer"],
  [{ market: "on-demand", gpusPerWorker: 1, workers: 2 }, "ringmaster-on-demand-gpu", "ringmaster-trainer-gang"],
])("submits %j to %s as %s", async (request, jobQueue, jobDefinition) => {
  expect(await submitted(request)).toMatchObject({ jobName: "run-1-1", jobQueue, jobDefinition });
});

it("names the team's share, which a fair-share queue requires", async () => {
  expect(await submitted({ team: "ml-2" })).toMatchObject({ shareIdentifier: "mlX2", schedulingPriorityOverride: 0 });
  expect(await submitted({ team: "ml-2" }, { "ml-2": { share: "text", priority: 9 } })).toMatchObject({
    shareIdentifier: "text",
    schedulingPriorityOverride: 9,
  });
});
