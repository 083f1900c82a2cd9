import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { endOfOutput } from "./types";

/** Splits a process's output into lines. The runtime's marker is not a line: it ends the output of an invocation. */
export function readLines(stream: Readable, onLine: (line: string) => void, onMarker: () => void): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  stream.on("data", (chunk: Buffer) => {
    const parts = (rest + decoder.write(chunk)).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      if (!part.endsWith(endOfOutput)) onLine(part);
      else {
        // The handler's last line may have no line feed.
        const unfinished = part.slice(0, -endOfOutput.length);
        if (unfinished !== "") onLine(unfinished);
        onMarker();
      }
    }
  });
  stream.on("close", () => {
    if (rest !== "") onLine(rest);
    rest = "";
  });
}
