import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

/** The browser's program: `RINGMASTER_CHROMIUM`, or what is installed under a usual name. */
export const chromium = [process.env["RINGMASTER_CHROMIUM"], "chromium", "chromium-browser", "google-chrome"].find(
  (name) => name !== undefined && spawnSync(name, ["--version"]).status === 0,
);

type Fields = Readonly<Record<string, unknown>>;

export class Browser {
  private readonly profile = mkdtempSync(join(tmpdir(), "chromium-"));
  readonly downloads = join(this.profile, "downloads");
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, (answer: Fields) => void>();
  private sent = 0;

  /** @param hosts names that resolve to this machine */
  constructor(hosts: readonly string[] = []) {
    const rules = hosts.map((host) => `MAP ${host} 127.0.0.1`).join(",");
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"];
    this.child = spawn(chromium!, [...flags, `--user-data-dir=${this.profile}`, `--host-resolver-rules=${rules}`], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    let rest = "";
    (this.child.stdio[4] as Readable).setEncoding("utf8").on("data", (text: string) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop() ?? "";
      for (const message of messages) {
        const { id, ...answer } = JSON.parse(message) as Fields & { readonly id?: number };
        if (id !== undefined) this.waiting.get(id)?.(answer);
      }
    });
  }

  async page(): Promise<Page> {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    await this.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: this.downloads });
    const send = (method: string, params: Fields) => this.send(method, params, String(sessionId));
    await send("Page.enable", {});
    return new Page(send);
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    void this.send("Browser.close", {});
    await ended;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  private async send(method: string, params: Fields, sessionId?: string): Promise<Fields> {
    this.sent += 1;
    const id = this.sent;
    const answered = new Promise<Fields>((resolve) => this.waiting.set(id, resolve));
    (this.child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { error, result } = await within(answered, `${method} ${JSON.stringify(params)}`);
    this.waiting.delete(id);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as Fields;
  }
}

/** Time limit of one command of the browser. */
const commandMs = 20_000;

/** @throws Error that names the command which was not answered in time */
async function within<T>(answered: Promise<T>, command: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Chromium did not answer in ${commandMs} ms: ${command}`)), commandMs);
  });
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}

export class Page {
  constructor(private readonly send: (method: string, params: Fields) => Promise<Fields>) {}

  /** Opens an address, like a person who types it. @returns whether the browser shows it; false for a download */
  async open(url: string): Promise<boolean> {
    const { errorText } = await this.send("Page.navigate", { url });
    if (errorText === "net::ERR_ABORTED") return false;
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
    // Asks again and again: a promise in the page may belong to the document that the navigation replaces, and never settle.
    while ((await this.evaluate("document.readyState")) !== "complete") {
      await new Promise((wait) => setTimeout(wait, 20));
    }
    return true;
  }

  async evaluate<T>(expression: string): Promise<T> {
    const parameters = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", parameters);
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { readonly value: T }).value;
  }
}
