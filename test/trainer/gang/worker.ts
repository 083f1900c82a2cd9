/** One worker as a process of its own: started by processes.test.ts with its options as JSON in the first argument. SIGUSR2 ends the run for all. */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDocumentClient } from "../../../adapters/dynamodb/client";
import { createGang, type GangTiming } from "../../../trainer-container/gang";
import { createGangStore } from "../../../trainer-container/gang/dynamodb-store";
import { gangSignals } from "../../../trainer-container/gang/gang";
import { type ToyTask, trainToy } from "./toy-trainer";

export interface WorkerOptions {
  readonly endpoint: string;
  readonly table: string;
  readonly gangId: string;
  readonly memberId: string;
  readonly workerIndex: number;
  readonly workers: number;
  readonly minWorkers: number;
  readonly task: ToyTask;
  readonly timing: Partial<GangTiming>;
  /** Blocks the event loop for this long before the step. */
  readonly block?: { readonly beforeStep: number; readonly ms: number };
}

/** A line on stdout. */
export type WorkerReport =
  | {
      readonly kind: "step";
      readonly finishedSteps: number;
      readonly generation: number;
      readonly worldSize: number;
      readonly at: number;
    }
  | {
      readonly kind: "outcome";
      readonly finishedSteps: number;
      readonly sha256: string;
      readonly generations: number;
      readonly late: boolean;
    };

async function main(options: WorkerOptions): Promise<void> {
  const report = (line: WorkerReport) => process.stdout.write(`${JSON.stringify(line)}\n`);
  const client = new DynamoDBClient({
    endpoint: options.endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  const gang = createGang({
    gangId: options.gangId,
    memberId: options.memberId,
    workerIndex: options.workerIndex,
    expectedWorkers: options.workers,
    minWorkers: options.minWorkers,
    microshards: options.task.microshards,
    store: createGangStore(createDocumentClient(client), options.table),
    clock: { now: () => Date.now() },
    host: "127.0.0.1",
    timing: options.timing,
    logger: {
      info: (message, fields) => process.stderr.write(`${options.memberId} ${message} ${JSON.stringify(fields)}\n`),
      warn: (message, fields) => process.stderr.write(`${options.memberId} ${message} ${JSON.stringify(fields)}\n`),
    },
  });
  let raised = 0;
  process.on("SIGUSR2", () => {
    raised = gangSignals.stop;
  });
  const outcome = await trainToy(gang, options.task, {
    beforeStep: (finishedSteps, { number: generation, worldSize }) => {
      report({ kind: "step", finishedSteps, generation, worldSize, at: Date.now() });
      if (options.block?.beforeStep === finishedSteps) {
        const until = Date.now() + options.block.ms;
        while (Date.now() < until);
      }
      return raised;
    },
  });
  report({ kind: "outcome", ...outcome });
  client.destroy();
}

void main(JSON.parse(process.argv[2]!) as WorkerOptions);
