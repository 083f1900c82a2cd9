import { startCloud, type TrainerCloud } from "./cloud";
import { storeFeatures } from "./task";
import { TrainerProcess } from "./trainer-process";

export class TrainerFleet {
  private readonly running = new Set<TrainerProcess>();

  private constructor(
    readonly cloud: TrainerCloud,
    private readonly nodeArguments: readonly string[],
  ) {}

  static async start(nodeArguments: readonly string[]): Promise<TrainerFleet> {
    const cloud = await startCloud();
    await storeFeatures(cloud.store);
    return new TrainerFleet(cloud, nodeArguments);
  }

  start(
    runId: string,
    segment: number,
    index: number,
    attempt = 1,
    environment: Readonly<Record<string, string>> = {},
  ): TrainerProcess {
    const trainer = new TrainerProcess(this.nodeArguments, this.cloud, runId, index, attempt, segment, environment);
    this.running.add(trainer);
    void trainer.ended.then(() => this.running.delete(trainer));
    return trainer;
  }

  async stop(): Promise<void> {
    for (const trainer of this.running) trainer.signal("SIGKILL");
    await Promise.all([...this.running].map((trainer) => trainer.ended));
    await this.cloud.close();
  }
}

/** @throws Error with what all trainers wrote, if one of them fails */
export async function expectEnd(...trainers: readonly TrainerProcess[]): Promise<void> {
  const codes = await Promise.all(trainers.map((trainer) => trainer.ended));
  if (codes.some((code) => code !== 0)) throw new Error(trainers.map((trainer) => trainer.transcript()).join("\n\n"));
}
