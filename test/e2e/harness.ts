import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OwnerKeys, ownerKeys } from "../../adapters/files/owner-keys";
import { createTokenStore } from "../../adapters/files/token-store";
import { makeToken } from "../../core/access/tokens";
import { ensureBuild } from "../../scripts/build.js";
import { tokenTerms } from "../support/token-terms";
import { type CliResult, CommandPool } from "./command-pool";

export { toyCsv, toyJob, toySchema } from "../support/toy";
export type { CliResult };

interface Connection {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: OwnerKeys;
}

const commandLineUser = "operator";

export class TestStack {
  readonly directory = mkdtempSync(join(tmpdir(), "ringmaster-e2e-"));
  readonly data: string;
  private api = "";
  private endpoint = "";
  /** By name; empty while the stack requires no token. */
  private readonly tokens = new Map<string, string>();
  private readonly commands: CommandPool;

  /**
   * @param bundles the folder of the command line and the stack; by default the current build
   * @param environment variables of the commands, and so of the stack
   * @param team uses the stack that the test files of a run share, as that team; by default the stack is the file's own
   */
  constructor(
    private readonly bundles = ensureBuild(),
    private readonly environment: Readonly<Record<string, string>> = {},
    readonly team?: string,
  ) {
    this.commands = new CommandPool(bundles);
    this.data = team === undefined ? join(this.directory, "data") : process.env["RINGMASTER_SHARED_STACK"]!;
  }

  /**
   * A team's part of the stack that the test files of a run share (`jest.config.js`). A start of a
   * stack and of its functions takes as long as most files' tests. Files that stop a stack, kill its processes, or
   * move its clock have one of their own.
   */
  static of(team: string): TestStack {
    return new TestStack(undefined, {}, team);
  }

  /** Runs a command to its end, in a process that ran commands before. */
  run(...args: readonly string[]): Promise<CliResult> {
    return this.commands.run(["--data", this.data, ...args], this.commandEnvironment);
  }

  /** Starts a command in its own process. Its output can be read, and it can be sent a signal, while it runs. */
  start(...args: readonly string[]) {
    const child = spawn(
      process.execPath,
      ["--require", join(this.bundles, "preload.js"), join(this.bundles, "cli.js"), "--data", this.data, ...args],
      { env: this.commandEnvironment },
    );
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      output.stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output.stderr += chunk;
    });
    const ended = new Promise<CliResult>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ code: code ?? -1, ...output }));
    });
    return { child, output, ended };
  }

  async json<T>(args: readonly string[], expected: readonly number[] = [0]): Promise<T> {
    const result = await this.run(...args, "--json");
    if (!expected.includes(result.code)) {
      throw new Error(`ringmaster ${args.join(" ")} ended with ${result.code}: ${result.stderr}${result.stdout}`);
    }
    return JSON.parse(result.stdout) as T;
  }

  async up(...more: readonly string[]): Promise<void> {
    const options = ["up", "--detach", "--port", "0", "--api-port", "0", "--workers", "16", ...more, "--json"];
    const isStarting = ({ stderr }: CliResult) => this.team !== undefined && stderr.includes("is in use by the stack");
    let result = await this.run(...options);
    while (isStarting(result)) result = await this.run(...options);
    if (result.code !== 0) throw new Error(`ringmaster up ended with ${result.code}: ${result.stderr}`);
    const { api, endpoint } = JSON.parse(result.stdout) as { api: string; endpoint: string };
    Object.assign(this, { api, endpoint });
  }

  /** Makes the API require tokens: of the person who uses the command line, and of those whom `as` names. */
  async requireTokens(...people: readonly string[]): Promise<void> {
    const store = createTokenStore(this.data);
    for (const actor of [commandLineUser, ...people]) {
      const owner = { ...tokenTerms, team: "default", actor, createdAt: new Date().toISOString() };
      const { token, record } = makeToken(owner, randomBytes(38));
      await store.add(record);
      this.tokens.set(actor, token);
    }
  }

  private get commandEnvironment() {
    return {
      ...process.env,
      RINGMASTER_API_URL: undefined,
      NO_COLOR: "1",
      ...this.environment,
      ...(this.team === undefined ? {} : { RINGMASTER_TEAM: this.team }),
      ...(this.owner === undefined ? {} : { RINGMASTER_TOKEN: this.owner }),
    };
  }

  private get owner(): string | undefined {
    return this.tokens.get(commandLineUser);
  }

  /** A stock AWS client against the embedded cloud, with the owner's keys. */
  client<T>(of: new (connection: Connection) => T): T {
    return new of(this.connection);
  }

  /** Settings with which an AWS client reaches the embedded cloud as the owner. */
  get connection(): Connection {
    return { endpoint: this.endpoint, region: "us-east-1", credentials: ownerKeys(this.data) };
  }

  /** URL of the API, once the stack is up. */
  get url(): string {
    return this.api;
  }

  /** Reads from the API without the cost of a process. */
  async get<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.api}/api/v1${path}`, { headers: this.headers(this.owner) })).json()) as T;
  }

  private headers(token: string | undefined): Record<string, string> {
    return {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(this.team === undefined ? {} : { "x-ringmaster-team": this.team }),
    };
  }

  /** Sends a request to the API as a caller, without the cost of a process; returns any response. */
  async as<T>(actor: string, method: "POST" | "PUT" | "GET", path: string, body?: object) {
    const headers = {
      "content-type": "application/json",
      "x-ringmaster-actor": actor,
      ...this.headers(this.tokens.get(actor)),
    };
    const response = await fetch(`${this.api}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
    return {
      status: response.status,
      body: (await response.json()) as T & { readonly error?: { readonly code: string } },
    };
  }

  file(name: string, content: string): string {
    const path = join(this.directory, name);
    writeFileSync(path, content);
    return path;
  }

  async remove(): Promise<void> {
    if (this.team === undefined) await this.run("down");
    await this.commands.stop();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

export async function until<T>(what: string, look: () => Promise<T | undefined>, patienceMs = 180_000): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((wait) => setTimeout(wait, 100));
  }
}

/** Whether a process with this id lives, whatever it is. (`isAlive` of the command line asks for a stack.) */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
