export interface ServerEvent {
  readonly event: string;
  /** Of the latest event that had one, so far. */
  readonly id: string | undefined;
  readonly data: string;
}

/**
 * Server-sent events out of a stream of bytes (html.spec.whatwg.org, "Interpreting an event stream"). Comments, which only say that the line is
 * alive, are passed over; an event that the stream's end cuts off is none.
 */
export async function* parseEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  let event = "";
  let id: string | undefined;
  let data: string[] = [];
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    // A CR at the end may be half of a CRLF.
    const complete = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
    const lines = complete.split(/\r\n|\n|\r/);
    rest = lines.pop()! + rest.slice(complete.length);
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield { event: event || "message", id, data: data.join("\n") };
        event = "";
        data = [];
        continue;
      }
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
      if (field === "event") event = value;
      else if (field === "data") data.push(value);
      else if (field === "id" && !value.includes("\0")) id = value;
    }
  }
}
