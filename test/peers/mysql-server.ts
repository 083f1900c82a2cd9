import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { createConnection } from "mysql2/promise";
import { freePort } from "./free-port";

const folders = [...(process.env["PATH"] ?? "").split(path.delimiter), "/usr/sbin"];
const server = folders.map((one) => path.join(one, "mariadbd")).find((file) => fs.existsSync(file));

/** As `describe`; skipped, with a line that says why, where MariaDB is not installed (`apt-get install mariadb-server`). */
export function describeWithMysql(title: string, tests: () => void): void {
  if (server) describe(title, tests);
  else describe.skip(`${title} (skipped: there is no mariadbd)`, tests);
}

/** A MariaDB server with an own data directory, on a free port, whose users have the password `open sesame`. */
export class MysqlServer {
  static readonly password = "open sesame";

  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    readonly port: number,
  ) {}

  static async start(): Promise<MysqlServer> {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mysql-"));
    const data = path.join(folder, "data");
    const user = process.getuid?.() === 0 ? ["--user=root"] : [];
    execFileSync("mariadb-install-db", ["--no-defaults", `--datadir=${data}`, ...user], { stdio: "pipe" });
    const setUp = path.join(folder, "set-up.sql");
    const users = ["ada", "limited"].map((name) => `CREATE USER ${name}@'%' IDENTIFIED BY '${MysqlServer.password}';`);
    fs.writeFileSync(setUp, `CREATE DATABASE shop;\n${users.join("\n")}\nGRANT ALL ON *.* TO ada@'%';\n`);
    const port = await freePort();
    const child = spawn(
      server!,
      [
        ...["--no-defaults", `--datadir=${data}`, `--port=${port}`, "--bind-address=127.0.0.1", ...user],
        ...[`--socket=${folder}/s`, `--pid-file=${folder}/pid`, `--init-file=${setUp}`, "--default-time-zone=+09:00"],
        ...["--skip-name-resolve", "--character-set-server=utf8mb4"],
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    let log = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr.on("data", (chunk) => {
        log += String(chunk);
        if (/ready for connections/.test(log)) resolve();
      });
      child.once("exit", () => reject(new Error(`MariaDB ended at once: ${log}`)));
    });
    return new MysqlServer(child, folder, port);
  }

  /** URL of a database, without a password. */
  url(user = "ada", database = "shop"): string {
    return `mysql://${user}@127.0.0.1:${this.port}/${database}`;
  }

  async run(sql: string): Promise<void> {
    const connection = await this.connect();
    await connection.query(sql);
    await connection.end();
  }

  /** Cuts the connections whose statement begins with a text. */
  async cut(text: string): Promise<void> {
    const connection = await this.connect();
    const [found] = await connection.query("SELECT id FROM information_schema.processlist WHERE info LIKE ?", [
      `${text}%`,
    ]);
    for (const { id } of found as { id: number }[]) await connection.query(`KILL ${id}`).catch(() => undefined);
    await connection.end();
  }

  private connect() {
    const options = { user: "ada", password: MysqlServer.password, database: "shop", multipleStatements: true };
    return createConnection({ host: "127.0.0.1", port: this.port, ...options });
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null) {
      this.process.kill("SIGTERM");
      await once(this.process, "exit");
    }
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
