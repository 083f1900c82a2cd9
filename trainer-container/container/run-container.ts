/** Trains by a user's command: the gang gives it ranks, and restarts it when its members change. */
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { RingmasterError } from "../../core/errors";
import { type TrainingTask, trainerExitCodes } from "../../core/runs/training-task";
import { GenerationLostError } from "../collective/errors";
import { type Gang, type Generation, gangSignals } from "../gang/gang";
import { createEntrance, InterruptedWhileWaitingError, type TrainerDependencies } from "../host/dependencies";
import { retry } from "../host/failure";
import { CheckpointFolder } from "./checkpoint-folder";
import { Command } from "./command";
import { type ContainerPlace, type ContainerSpec, openPlace } from "./place";
import { publishContainer } from "./result";

/** Interval of the ranks' exchange. */
const tickMs = 100;
/** Ticks between two looks at the checkpoint folder. */
const ticksPerSave = 2;
/** Ticks that a failure must last: a command also fails because another worker was lost, which the gang sees later. */
const ticksOfFailure = 20;
/** Time that a command has to end after SIGTERM; after a loss it waits for a peer that is gone. */
const graceMs = { stop: 20_000, loss: 1_000 } as const;
const maxGraceMs = 90_000;
/** Left of a notice's time for the last upload. */
const uploadMs = 30_000;

/** Values that the ranks add up in each exchange. */
const [port, ended, failed, published, admits] = [0, 1, 2, 3, 4];
/** Ticks after which a joiner is admitted without a new checkpoint: one minute. */
const patientTicks = 600;

type End = "re-form" | "completed" | "failed-elsewhere";

/** Runs one worker of a container's training. @returns the process's exit code */
export async function trainContainer(
  dependencies: TrainerDependencies,
  task: TrainingTask,
  createGang: () => Gang,
): Promise<number> {
  const { store, interruption, logger } = dependencies;
  const spec = task.model as ContainerSpec;
  const place = await openPlace(dependencies, task, spec);
  const folder = new CheckpointFolder(store, task.runId, place.checkpoints);
  const gang = createGang();
  const enter = createEntrance(gang, interruption);
  try {
    for (;;) {
      const generation = await enter(0);
      if (generation === undefined) return trainerExitCodes.completed;
      const member = new Member(dependencies, task, spec, place, folder, generation);
      let completed = false;
      try {
        const end = await member.run();
        completed = end === "completed";
        if (end === "failed-elsewhere") return trainerExitCodes.failed;
        if (completed) {
          await gang.leave("completed");
          return trainerExitCodes.completed;
        }
      } catch (error) {
        if (!(error instanceof GenerationLostError)) throw error;
        logger.log("warn", "generation lost", { generation: generation.number, error: error.message });
      } finally {
        if (!completed) {
          await member.close();
          generation.close();
        }
      }
    }
  } catch (error) {
    if (!(error instanceof InterruptedWhileWaitingError)) throw error;
    logger.log("info", "left: the host is about to go away", { reason: interruption.reason });
    return trainerExitCodes.retry;
  } finally {
    place.close();
  }
}

/** This worker in one generation. */
class Member {
  private command: Command | undefined;
  private stopping: Promise<void> | undefined;
  private settled: Promise<void> | undefined;
  private isSettled = false;
  private publishing: Promise<void> | undefined;
  private isPublished = false;
  private failure: unknown;

  constructor(
    private readonly dependencies: TrainerDependencies,
    private readonly task: TrainingTask,
    private readonly spec: ContainerSpec,
    private readonly place: ContainerPlace,
    private readonly folder: CheckpointFolder,
    private readonly generation: Generation,
  ) {}

  async run(): Promise<End> {
    const { interruption, logger } = this.dependencies;
    const { rank, worldSize, number } = this.generation;
    await this.folder.restore();
    this.place.clear();
    const { sums } = await this.exchange([rank === 0 ? await freePort() : 0, 0, 0, 0, 0]);
    logger.log("info", "starting the command", { generation: number, rank, worldSize });
    this.command = this.start(sums[port]!);
    const { saves } = this.folder;
    let failing = 0;
    for (let tick = 1; ; tick += 1) {
      await sleep(tickMs);
      if (rank === 0 && tick % ticksPerSave === 0 && !this.command.exit) this.saveInBackground();
      this.look();
      const values = [0, Number(this.isSettled), Number(this.failure !== undefined), Number(this.isPublished)];
      // A restart without a checkpoint since the last would lose what this generation has computed.
      values.push(Number(rank === 0 && (this.folder.saves > saves || tick > patientTicks)));
      const { sums, signals } = await this.exchange(values, interruption.raised ? gangSignals.leaving : 0);
      if (sums[published]! > 0) return "completed";
      failing = sums[failed]! > 0 ? failing + 1 : 0;
      if (failing >= ticksOfFailure) {
        await this.stop("another worker failed");
        if (this.failure === undefined) return "failed-elsewhere";
        throw this.failure;
      }
      const joins = (signals & gangSignals.joinerWaiting) !== 0 && sums[admits]! > 0;
      const moves = joins || (signals & gangSignals.leaving) !== 0;
      if (moves && sums[ended]! < worldSize) void this.stop(interruption.reason ?? "the gang changes");
      if (sums[ended] !== worldSize) continue;
      if (this.stopping) return "re-form";
      if (rank === 0) this.publish();
    }
  }

  /** Ends the command after a loss or a failure, and stores the folder as it left it. */
  async close(): Promise<void> {
    await this.stop("the gang changes", graceMs.loss);
    if (this.command === undefined || this.generation.rank !== 0) return;
    const save = () => this.folder.save(this.generation.number, true);
    if (this.command.exit?.killed !== true && !this.isSettled) await save().catch((error) => this.warn(error));
  }

  private start(masterPort: number): Command {
    const { code, notice, reaper } = this.place;
    const { rank, members } = this.generation;
    return new Command({
      ...{ command: this.spec.command, cwd: code, notice, reaper },
      env: this.place.environment(rank, members, masterPort),
      write: (line) => process.stdout.write(`${line}\n`),
    });
  }

  /** Follows the command's end: the last state of its folder, and its failure. */
  private look(): void {
    const { exit, tail } = this.command!;
    if (exit === undefined || this.settled) return;
    const { rank, number } = this.generation;
    const save = () => (rank === 0 && !exit.killed ? this.folder.save(number, true) : Promise.resolve());
    this.settled = retry(save, (error) => this.warn(error), this.dependencies.interruption).then(
      () => {
        if (exit.code !== 0 && !this.stopping) this.failure = commandFailed(this.spec, exit.code, rank, tail);
        else this.isSettled = true;
      },
      (error: unknown) => {
        this.failure = error;
      },
    );
  }

  private stop(reason: string, grace = this.grace()): Promise<void> {
    this.stopping ??= this.command?.stop(reason, grace) ?? Promise.resolve();
    return this.stopping;
  }

  /** A notice gives more time than a signal. */
  private grace(): number {
    const { hostEndsAt } = this.dependencies.interruption;
    const left = hostEndsAt === undefined ? 0 : hostEndsAt - this.dependencies.clock.now() - uploadMs;
    return Math.min(maxGraceMs, Math.max(graceMs.stop, left));
  }

  private publish(): void {
    const { dependencies, task, place, generation } = this;
    const store = () => publishContainer(dependencies, task, place, generation.number);
    this.publishing ??= retry(store, (error) => this.warn(error), dependencies.interruption).then(
      () => {
        this.isPublished = true;
      },
      (error: unknown) => {
        this.failure = error;
      },
    );
  }

  private saveInBackground(): void {
    void this.folder.save(this.generation.number, false).catch((error) => this.warn(error));
  }

  private warn(error: unknown): void {
    this.dependencies.logger.log("warn", "the command's files cannot be stored yet", { error });
  }

  /** Adds values over all ranks: each rank's are in the first of its leaves. */
  private async exchange(values: readonly number[], raised = 0) {
    const { first, end } = this.generation.leaves;
    const leaves = Array.from({ length: end - first }, (_, at) =>
      Float32Array.from(values, (value) => (at ? 0 : value)),
    );
    const sums = new Float32Array(values.length);
    const signals = await this.generation.allReduce(leaves, sums, raised, 0);
    return { sums, signals };
  }
}

function commandFailed({ command }: ContainerSpec, code: number, rank: number, tail: string): RingmasterError {
  const message = `the command ${command.join(" ")} ended with code ${code} on rank ${rank}; its last lines:\n${tail}`;
  return new RingmasterError(message, { code: "COMMAND_FAILED", httpStatus: 409, retryable: true });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
