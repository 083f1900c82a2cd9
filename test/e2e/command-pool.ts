import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export class CommandPool {
  private readonly idle: ChildProcess[] = [];
  private readonly all = new Set<ChildProcess>();

  /** @param bundles the folder of the command line */
  constructor(private readonly bundles: string) {}

  run(args: readonly string[], environment: Environment): Promise<CliResult> {
    const host = this.idle.pop() ?? this.start(environment);
    const output = { stdout: "", stderr: "" };
    const streams = ["stdout", "stderr"] as const;
    return new Promise((resolve) => {
      const finish = (code: number) => {
        for (const stream of streams) host[stream]!.removeAllListeners("data");
        host.removeListener("close", ended);
        resolve({ code, ...output });
      };
      // A command that exits, or fails outside of its promise, ends its process.
      const ended = (code: number | null) => finish(code ?? -1);
      host.on("close", ended);
      for (const stream of streams) {
        host[stream]!.on("data", (chunk: string) => {
          output[stream] += chunk;
          // A warning of Node may follow it.
          const ends = streams.map((name) => /\0(\d+)\0/.exec(output[name]));
          if (ends.some((end) => end === null)) return;
          for (const [i, name] of streams.entries()) output[name] = output[name].slice(0, ends[i]!.index);
          this.idle.push(host);
          finish(Number(ends[0]![1]));
        });
      }
      host.send({ args, environment });
    });
  }

  private start(environment: Environment): ChildProcess {
    const host = fork(join(__dirname, "command-host.js"), [join(this.bundles, "cli.js")], {
      execArgv: ["--require", join(this.bundles, "preload.js")],
      env: environment,
      silent: true,
    });
    for (const stream of [host.stdout!, host.stderr!]) stream.setEncoding("utf8");
    this.all.add(host);
    host.once("exit", () => this.all.delete(host));
    return host;
  }

  async stop(): Promise<void> {
    const ended = [...this.all].map((host) => new Promise((resolve) => host.once("exit", resolve)));
    for (const host of this.all) host.disconnect();
    await Promise.all(ended);
    this.idle.length = 0;
    this.all.clear();
  }
}
