import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const found = spawnSync(python, ["-c", "import moto.server"]).status === 0;

/** As `describe`; skipped, with a line that says why, where moto's server is not installed (`pip install 'moto[server,all]'`). */
export function describeWithMoto(title: string, tests: () => void): void {
  if (found) describe(title, tests);
  else describe.skip(`${title} (skipped: ${python} cannot import moto.server)`, tests);
}

/** moto's emulation of AWS, by its HTTP server on a free port. */
export class MotoServer {
  private readonly process: ChildProcess;
  readonly endpoint: string;

  private constructor(process: ChildProcess, endpoint: string) {
    this.process = process;
    this.endpoint = endpoint;
  }

  static async start(): Promise<MotoServer> {
    const child = spawn(python, ["-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const endpoint = await new Promise<string>((resolve, reject) => {
      let text = "";
      child.stderr.on("data", (chunk) => {
        text += String(chunk);
        const [, url] = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(text) ?? [];
        if (url) resolve(url);
      });
      child.once("exit", () => reject(new Error(`moto's server ended at once: ${text}`)));
    });
    return new MotoServer(child, endpoint);
  }

  /** Settings for an SDK client. */
  get clientConfig() {
    return {
      endpoint: this.endpoint,
      region: "us-east-1",
      credentials: { accessKeyId: "moto", secretAccessKey: "moto" },
      forcePathStyle: true,
    };
  }

  /** An operation of CloudFormation's query protocol. @throws Error with what moto says */
  async cloudFormation(Action: string, parameters: Readonly<Record<string, string>>): Promise<string> {
    const response = await fetch(this.endpoint, {
      method: "POST",
      headers: {
        // By the scope moto knows the service; it checks no signature.
        authorization:
          "AWS4-HMAC-SHA256 Credential=moto/20260101/us-east-1/cloudformation/aws4_request, SignedHeaders=host, Signature=0",
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new URLSearchParams({ Action, Version: "2010-05-15", ...parameters }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${Action}: ${response.status} ${text}`);
    return text;
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null) return;
    this.process.kill();
    await once(this.process, "exit");
  }
}
