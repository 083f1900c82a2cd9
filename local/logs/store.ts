import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { BoundedMap } from "../bounded-map";
import { ServiceError } from "../wire";
import { LogFile } from "./log-file";

export interface LogGroup {
  readonly name: string;
  readonly created: number;
}

/**
 * The log store. Groups are directories, and streams are files in them. No file stays open. The state of a stream's end
 * is cached.
 */
export class LogStore {
  private readonly root: string;
  private readonly open = new BoundedMap<string, LogFile>(1_000);

  private readonly limits: GroupLimits;

  constructor(dataDirectory: string, limits = defaultLimits) {
    this.limits = limits;
    this.root = path.join(dataDirectory, "groups");
    fs.mkdirSync(this.root, { recursive: true });
  }

  createGroup(name: string, created: number): void {
    const directory = path.join(this.root, fileName(name));
    fs.mkdirSync(directory, { recursive: true });
    LogFile.create(path.join(directory, groupFile), { name, created });
  }

  findGroup(name: string): LogGroup | undefined {
    return LogFile.open(path.join(this.root, fileName(name), groupFile))?.header;
  }

  requireGroup(name: string): LogGroup {
    const group = this.findGroup(name);
    if (group) return group;
    throw new ServiceError("ResourceNotFoundException", 400, `The specified log group does not exist: ${name}`);
  }

  listGroups(): readonly LogGroup[] {
    return fs
      .readdirSync(this.root)
      .map((directory) => LogFile.open(path.join(this.root, directory, groupFile))?.header)
      .filter((group) => group !== undefined)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  createStream(group: string, name: string, created: number): LogFile {
    const stream = this.remember(LogFile.create(this.streamFile(group, name), { name, created }));
    this.dropOldest(path.dirname(stream.file));
    return stream;
  }

  findStream(group: string, name: string): LogFile | undefined {
    const file = this.streamFile(group, name);
    const opened = this.open.get(file);
    if (opened) return opened;
    const logFile = LogFile.open(file);
    return logFile && this.remember(logFile);
  }

  requireStream(group: string, name: string): LogFile {
    this.requireGroup(group);
    const stream = this.findStream(group, name);
    if (stream) return stream;
    throw new ServiceError("ResourceNotFoundException", 400, `The specified log stream does not exist: ${name}`);
  }

  listStreams(group: string, prefix = ""): readonly LogFile[] {
    this.requireGroup(group);
    const directory = path.join(this.root, fileName(group));
    return fs
      .readdirSync(directory)
      .filter((name) => name.endsWith(streamEnding))
      .map((name) => path.join(directory, name))
      .map((file) => this.open.get(file) ?? LogFile.open(file))
      .filter((stream) => stream !== undefined)
      .filter((stream) => stream.header.name.startsWith(prefix))
      .sort((a, b) => (a.header.name < b.header.name ? -1 : 1));
  }

  private streamFile(group: string, name: string): string {
    return path.join(this.root, fileName(group), `${fileName(name)}${streamEnding}`);
  }

  /** Removes the streams of a group with the oldest writes, while there are too many or they are too large together. */
  private dropOldest(directory: string): void {
    const streams = fs
      .readdirSync(directory)
      .filter((name) => name.endsWith(streamEnding))
      .map((name) => {
        const file = path.join(directory, name);
        const { mtimeMs, size } = fs.statSync(file);
        return { file, mtimeMs, size };
      })
      .sort((a, b) => b.mtimeMs - a.mtimeMs);
    let bytes = 0;
    for (const [newer, { file, size }] of streams.entries()) {
      bytes += size;
      if (newer < this.limits.streams && bytes <= this.limits.bytes) continue;
      fs.rmSync(file, { force: true });
      this.open.delete(file);
    }
  }

  private remember(stream: LogFile): LogFile {
    this.open.set(stream.file, stream);
    return stream;
  }
}

const groupFile = "group.json";
const streamEnding = ".jsonl";

export interface GroupLimits {
  readonly streams: number;
  readonly bytes: number;
}

const defaultLimits: GroupLimits = { streams: 2_000, bytes: 512 * 1024 * 1024 };

/**
 * Converts a name to a file name. File names are readable if possible, always safe, and distinct on case-insensitive
 * file systems.
 */
function fileName(name: string): string {
  const encoded = Buffer.from(name)
    .toString("latin1")
    .replace(/[^a-z0-9\-_]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return encoded.length <= 200 ? encoded : `~${createHash("sha256").update(name).digest("hex")}`;
}
