import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { HostMessage, Machine, StackMessage, StartMessage } from "./host-messages";
import { instanceId } from "./names";

/**
 * The host of one container (`batch-host.js`). It starts the command in its own process group, forwards its output,
 * reports its end, and describes itself to it by files. When the stack ends for any reason, the host kills the whole
 * group and exits.
 */
let files: HostFiles | undefined;
let container: ChildProcess | undefined;
/** A signal that arrived before the process existed. */
let early: "SIGTERM" | "SIGKILL" | undefined;

function send(message: HostMessage, then?: () => void): void {
  if (process.connected) process.send!(message, undefined, undefined, () => then?.());
  else then?.();
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {}
}

function deliver(signal: "SIGTERM" | "SIGKILL"): void {
  const pid = container?.pid;
  if (pid === undefined) early = signal;
  else if (signal === "SIGKILL") signalGroup(pid, signal);
  else if (container?.exitCode === null && container.signalCode === null) process.kill(pid, signal);
}

function forward(stream: Readable): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const emit = (messages: readonly string[]) => {
    if (messages.length === 0) return;
    const timestamp = Date.now();
    send({ type: "lines", lines: messages.map((message) => ({ timestamp, message })) });
  };
  stream.on("data", (chunk: Buffer) => {
    const parts = (rest + decoder.write(chunk)).split("\n");
    rest = parts.pop() ?? "";
    emit(parts);
  });
  stream.on("close", () => emit(rest === "" ? [] : [rest]));
}

function start(message: StartMessage): void {
  const { command, environment, workingDirectory, machine, hostDirectory, interruption } = message;
  files = new HostFiles(hostDirectory);
  if (interruption !== undefined) files.announce(interruption);
  const [file = "", ...args] = command;
  // An empty file name throws, but a missing file emits an error.
  if (file === "") {
    send({ type: "start-error", message: "No command specified" }, () => process.exit(0));
    return;
  }
  const child = spawn(file, args, {
    cwd: workingDirectory,
    env: { ...environment, RINGMASTER_HOST_DIRECTORY: hostDirectory },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  container = child;
  child.once("error", (error) => send({ type: "start-error", message: error.message }, () => process.exit(0)));
  if (child.pid === undefined) return;
  files.describe(machine, child.pid);
  forward(child.stdout);
  forward(child.stderr);
  send({ type: "started", pid: child.pid });
  if (early) deliver(early);
  // A container ends with its main process. The processes that it left are killed, which closes the pipes.
  child.once("exit", () => signalGroup(child.pid!, "SIGKILL"));
  child.once("close", (code, signal) => {
    const exitCode = code ?? 128 + (constants.signals[signal!] ?? 0);
    send({ type: "exit", exitCode }, () => process.exit(0));
  });
}

process.on("disconnect", () => {
  const child = container;
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) process.exit(0);
  // The group is dead when the host exits, and callers that wait for the host rely on it.
  child.once("exit", () => process.exit(0));
  setTimeout(() => process.exit(0), 2_000);
  signalGroup(child.pid, "SIGKILL");
});
// Ctrl-C reaches every process of the terminal. Only the stack decides when the host stops.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
process.on("message", (message: StackMessage) => {
  if (message.type === "start") start(message);
  else if (message.type === "signal") deliver(message.signal);
  else files?.announce(message.time);
});

/** Writes the files with which the host of a container describes itself, as instances do on AWS (docs/adr/070-host-facts.md). */
class HostFiles {
  constructor(private readonly directory: string) {
    mkdirSync(directory, { recursive: true });
  }

  describe(machine: Machine, pid: number): void {
    this.publish("machine.json", { instanceId: instanceId(pid), ...machine });
  }

  announce(time: string): void {
    this.publish("spot-notice.json", { action: "terminate", time });
  }

  private publish(file: string, content: object): void {
    const temporary = join(this.directory, `.${file}`);
    writeFileSync(temporary, JSON.stringify(content));
    renameSync(temporary, join(this.directory, file));
  }
}
