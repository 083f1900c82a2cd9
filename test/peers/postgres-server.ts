import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { Client } from "pg";
import { freePort } from "./free-port";

const installed = "/usr/lib/postgresql";
const folders = [
  ...(process.env["PATH"] ?? "").split(path.delimiter),
  ...(fs.existsSync(installed) ? fs.readdirSync(installed).map((version) => `${installed}/${version}/bin`) : []),
];
const binaries = folders.find((one) => fs.existsSync(`${one}/initdb`));
/** PostgreSQL refuses to run as root. */
const isRoot = process.getuid?.() === 0;
const account: { readonly uid?: number; readonly gid?: number } | undefined = isRoot ? accountOf("postgres") : {};

/** As `describe`; skipped, with a line that says why, where PostgreSQL is not installed (`apt-get install postgresql`). */
export function describeWithPostgres(title: string, tests: () => void): void {
  if (binaries && account) describe(title, tests);
  else describe.skip(`${title} (skipped: there is no initdb, or no user postgres)`, tests);
}

function accountOf(name: string): { readonly uid: number; readonly gid: number } | undefined {
  const lines = fs.readFileSync("/etc/passwd", "utf8").split("\n");
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** A PostgreSQL server with an own data directory, on a free port, whose users have the password `open sesame`. */
export class PostgresServer {
  static readonly password = "open sesame";

  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    readonly port: number,
  ) {}

  static async start(): Promise<PostgresServer> {
    // The folder of tests is not open to other users.
    const folder = fs.mkdtempSync(path.join(fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir(), "postgres-"));
    const passwords = path.join(folder, "password");
    fs.writeFileSync(passwords, PostgresServer.password);
    const { uid, gid } = account ?? {};
    if (uid !== undefined && gid !== undefined) for (const one of [folder, passwords]) fs.chownSync(one, uid, gid);
    const data = path.join(folder, "data");
    const options = { cwd: folder, ...account };
    const settings = ["--auth=scram-sha-256", "--username=ada", "--no-sync", "--encoding=UTF8", "--locale=C"];
    execFileSync(`${binaries}/initdb`, ["-D", data, `--pwfile=${passwords}`, ...settings], {
      ...options,
      stdio: "pipe",
    });
    const port = await freePort();
    const server = spawn(
      `${binaries}/postgres`,
      ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", folder, "-F", "-c", "timezone=Asia/Tokyo"],
      { ...options, stdio: ["ignore", "ignore", "pipe"] },
    );
    let log = "";
    await new Promise<void>((resolve, reject) => {
      server.stderr.on("data", (chunk) => {
        log += String(chunk);
        if (/ready to accept connections/.test(log)) resolve();
      });
      server.once("exit", () => reject(new Error(`PostgreSQL ended at once: ${log}`)));
    });
    return new PostgresServer(server, folder, port);
  }

  /** URL of a database, without a password. */
  url(user = "ada", database = "postgres"): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  async run(sql: string): Promise<void> {
    const client = new Client({ connectionString: this.url(), password: PostgresServer.password });
    await client.connect();
    await client.query(sql);
    await client.end();
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null) {
      this.process.kill("SIGINT");
      await once(this.process, "exit");
    }
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
